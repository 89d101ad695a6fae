/* A server with topics, and a client that publishes and subscribes. */

#include <frisbee.h>

#include "check.h"

static frisbee_error error;

static void publish(frisbee_client *client, const char *topic, const char *message) {
    CHECK_OK(frisbee_client_publish(client, topic, message, strlen(message), &error), error);
}

static void expect(frisbee_reply *reply, const char *topic, const char *message) {
    CHECK_CODE(reply, FRISBEE_OK);
    const frisbee_bytes data = frisbee_reply_data(reply), of = frisbee_reply_metadata(reply, "topic");
    CHECK(data.len == strlen(message) && memcmp(data.data, message, data.len) == 0);
    CHECK(of.len == strlen(topic) && memcmp(of.data, topic, of.len) == 0);
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
}

/* Regression test: each refusal was FRISBEE_PERMISSION_DENIED. */
static void server_without_topics_refuses(void) {
    frisbee_server *server = NULL;
    frisbee_client *client = NULL;
    frisbee_stream *none = NULL;
    CHECK_OK(frisbee_server_new("t.Game", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &client, &error), error);
    CHECK(frisbee_client_subscribe(client, "game.>", &none, &error) == FRISBEE_FAILED_PRECONDITION && none == NULL);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
}

int main(void) {
    frisbee_server *server = NULL;
    frisbee_client *client = NULL;
    frisbee_stream *moves = NULL, *none = NULL;
    frisbee_queue *queue = NULL;
    frisbee_event event;
    CHECK_OK(frisbee_server_new("t.Game", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_topics(server, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &client, &error), error);
    CHECK_OK(frisbee_queue_new(&queue, &error), error);

    CHECK_OK(frisbee_client_subscribe(client, "game.*.moves", &moves, &error), error);
    publish(client, "game.7.moves", "e2e4");
    publish(client, "game.7.chat", "hello");
    publish(client, "game.8.moves", "d2d4");
    CHECK_OK(frisbee_client_sync(client, &error), error);
    expect(frisbee_stream_next(moves), "game.7.moves", "e2e4");
    CHECK_OK(frisbee_stream_submit_next(moves, queue, &event, &error), error);
    CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
    CHECK(event.user == &event);
    expect(event.reply, "game.8.moves", "d2d4");

    CHECK(frisbee_client_publish(client, "game.*", "", 0, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_client_subscribe(client, "game..moves", &none, &error) == FRISBEE_INVALID_ARGUMENT && none == NULL);
    CHECK(frisbee_stream_send(moves, "e7e5", 4, &error) == FRISBEE_FAILED_PRECONDITION);
    CHECK(frisbee_stream_free(moves) == FRISBEE_OK);
    publish(client, "game.7.moves", "to nobody");
    CHECK_OK(frisbee_client_sync(client, &error), error);

    /* A stream outlives its client. */
    CHECK_OK(frisbee_client_subscribe(client, ">", &moves, &error), error);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    CHECK(frisbee_stream_free(moves) == FRISBEE_OK && frisbee_queue_free(queue) == FRISBEE_OK);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    server_without_topics_refuses();
    puts("done");
    return 0;
}
