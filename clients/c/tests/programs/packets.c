/* A server and a client exchange packets of their own operations. */

#include <ctype.h>
#include <frisbee.h>
#include <pthread.h>

#include "check.h"

enum { SHOUT = 1000, FLOOD = 1001, NEWS = 1002 };

static frisbee_error error;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* What the client has received, and how many connections of each end have ended. */
static struct {
    char shouted[16], news[16];
    int id, floods, ended_at_server, ended_at_client;
} seen;
static frisbee_connection *player;
static frisbee_server *server;

#define WAIT_UNTIL(condition)                     \
    do {                                          \
        pthread_mutex_lock(&lock);                \
        while (!(condition))                      \
            pthread_cond_wait(&changed, &lock);   \
        pthread_mutex_unlock(&lock);              \
    } while (0)

static void serve(frisbee_connection *connection, const frisbee_packet *packet, void *user) {
    frisbee_error inner;
    char text[16] = "";
    CHECK(user == &seen);
    CHECK(frisbee_server_stop(server, &inner) == FRISBEE_FAILED_PRECONDITION);
    if (packet == NULL) {
        CHECK(frisbee_connection_send(connection, 0, NEWS, NULL, 0, &inner) == FRISBEE_UNAVAILABLE);
        pthread_mutex_lock(&lock);
        seen.ended_at_server++;
    } else if (packet->operation == FLOOD) {
        static const char body[4096];
        /* The output is not written while the function runs, so its limit is reached. */
        int sent = 0;
        while (frisbee_connection_send(connection, packet->id, FLOOD, body, sizeof body, &inner) == FRISBEE_OK)
            sent++;
        CHECK(inner.code == FRISBEE_RESOURCE_EXHAUSTED && sent > 100);
        pthread_mutex_lock(&lock);
        seen.floods -= sent;
    } else {
        CHECK(packet->operation == SHOUT && packet->data.len < sizeof text);
        for (size_t i = 0; i < packet->data.len; i++)
            text[i] = (char)toupper(((const char *)packet->data.data)[i]);
        CHECK_OK(frisbee_connection_send(connection, packet->id, SHOUT, text, packet->data.len, &inner), inner);
        pthread_mutex_lock(&lock);
        player = connection;
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void receive(frisbee_connection *connection, const frisbee_packet *packet, void *user) {
    (void)connection;
    CHECK(user == &seen);
    pthread_mutex_lock(&lock);
    if (packet == NULL)
        seen.ended_at_client++;
    else if (packet->operation == FLOOD)
        seen.floods++;
    else
        memcpy(packet->operation == SHOUT ? seen.shouted : seen.news, packet->data.data, packet->data.len);
    if (packet != NULL)
        seen.id = packet->id;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void ping(frisbee_call *call, void *user) {
    (void)user;
    frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, NULL);
}

static void shout(frisbee_client *client, int id, const char *text, const char *expected) {
    CHECK_OK(frisbee_client_send(client, (uint16_t)id, SHOUT, text, strlen(text), &error), error);
    WAIT_UNTIL(seen.id == id && strcmp(seen.shouted, expected) == 0);
}

int main(void) {
    frisbee_client *client = NULL;
    CHECK_OK(frisbee_server_new("t.Game", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "ping()", ping, NULL, &error), error);
    CHECK_OK(frisbee_server_packets(server, SHOUT, NEWS, serve, &seen, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK(frisbee_server_packets(server, 2000, 2000, serve, &seen, &error) == FRISBEE_FAILED_PRECONDITION);
    frisbee_client_options options = {.packets = receive, .packets_user = &seen, .packets_operations = {SHOUT, NEWS}};
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), &options, &client, &error), error);

    shout(client, 7, "hello", "HELLO");
    CHECK(frisbee_client_send(client, 1, 9, NULL, 0, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK_OK(frisbee_client_send(client, 8, FLOOD, NULL, 0, &error), error);
    WAIT_UNTIL(seen.id == 8 && seen.floods == 0);
    /* A game loop sends to the connections that it knows. */
    frisbee_connection *known = player;
    CHECK_OK(frisbee_connection_send(known, 9, NEWS, "news", 4, &error), error);
    WAIT_UNTIL(seen.id == 9 && strcmp(seen.news, "news") == 0);

    CHECK_OK(frisbee_connection_close(known, &error), error);
    WAIT_UNTIL(seen.ended_at_server == 1 && seen.ended_at_client == 1);
    while (frisbee_connection_send(known, 1, NEWS, NULL, 0, &error) != FRISBEE_INVALID_ARGUMENT)
        CHECK(error.code == FRISBEE_UNAVAILABLE);
    CHECK(frisbee_client_send(client, 1, SHOUT, NULL, 0, &error) == FRISBEE_UNAVAILABLE);
    frisbee_reply *reply = frisbee_client_call(client, "ping", FRISBEE_JSON, "{}", 2, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
    shout(client, 10, "again", "AGAIN");
    CHECK(player != known);

    /* The function of a freed client is not called. */
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    WAIT_UNTIL(seen.ended_at_server == 2);
    CHECK(seen.ended_at_client == 1);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);

    /* Operations of two functions, or of a function and a service, must not overlap. */
    CHECK_OK(frisbee_server_new("t.Game", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_packets(server, 1000, 2000, serve, &seen, &error), error);
    CHECK_OK(frisbee_server_packets(server, 2000, 3000, serve, &seen, &error), error);
    CHECK(frisbee_server_start(server, "127.0.0.1:0", &error) != FRISBEE_OK && error.message[0] != '\0');
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    puts("done");
    return 0;
}
