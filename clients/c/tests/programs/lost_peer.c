/* Tests peers that disconnect while data is being sent to them. The process keeps the default action of SIGPIPE, which
 * would end it.
 *
 * `lost_peer serve ADDRESS [CERTIFICATE KEY]` serves until the end of standard input. Its function prints a line, waits
 * for a byte of standard input, and replies with 4 MB.
 *
 * `lost_peer call ADDRESS COUNT [AUTHORITY]` makes calls with 4 MB, each on its own connection. */

#include <frisbee.h>
#include <semaphore.h>
#include <signal.h>

#include "check.h"

enum { LONG = 4000000 };

static char text[LONG + 32];
static sem_t may_reply;

static void reply_long(frisbee_call *call, void *user) {
    (void)user;
    puts("called");
    fflush(stdout);
    CHECK(sem_wait(&may_reply) == 0);
    frisbee_call_reply_text(call, text, LONG, NULL);
}

static void serve(const char *address, const char *certificate, const char *key) {
    frisbee_error error;
    frisbee_server *server = NULL;
    frisbee_server_options options = {.certificate = certificate, .key = key};
    CHECK_OK(frisbee_server_new("t.Peers", &options, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "long(string text) -> string", reply_long, NULL, &error), error);
    CHECK_OK(frisbee_server_start(server, address, &error), error);
    puts(frisbee_server_address(server));
    fflush(stdout);
    while (fgetc(stdin) != EOF) sem_post(&may_reply);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK_OK(frisbee_server_free(server), error);
}

static void call(const char *address, int count, const char *authority) {
    frisbee_error error;
    frisbee_client_options options = {.authorities = authority, .server_name = authority ? "localhost" : NULL};
    for (; count > 0; count--) {
        frisbee_client *client = NULL;
        CHECK_OK(frisbee_client_connect(address, &options, &client, &error), error);
        frisbee_reply_free(frisbee_client_call(client, "long", FRISBEE_JSON, text, strlen(text), NULL));
        frisbee_client_free(client);
    }
}

int main(int argc, char **argv) {
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR && argc > 3);
    CHECK(sem_init(&may_reply, 0, 0) == 0);
    memset(text, 'x', LONG);
    if (strcmp(argv[1], "serve") == 0) {
        serve(argv[2], argv[3][0] != '\0' ? argv[3] : NULL, argc > 4 ? argv[4] : NULL);
    } else {
        memcpy(text, "{\"text\":\"", 9);
        strcpy(text + LONG, "\"}");
        call(argv[2], atoi(argv[3]), argc > 4 ? argv[4] : NULL);
    }
    puts("done");
}
