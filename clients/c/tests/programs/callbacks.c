/* Tests completions that start further calls without end, fail calls of a server, and outlive their client. */

#include <frisbee.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

#define CHAINS 16

static frisbee_error error;
static frisbee_client *client;
static atomic_bool is_over, is_failed;
static atomic_int chains;

static void echo(frisbee_call *call, void *user) {
    (void)user;
    int64_t a;
    frisbee_call_i64(call, "a", &a);
    frisbee_call_reply_i64(call, a, NULL);
}

/* Starts a call that fails before it is sent, because its request is not JSON. */
static void begin(frisbee_completion completion) {
    CHECK(frisbee_client_start(client, "echo", FRISBEE_JSON, "{", 1, NULL, completion, NULL, NULL) == FRISBEE_OK);
}

static void again(void *user, frisbee_reply *reply) {
    (void)user;
    CHECK_CODE(reply, FRISBEE_INVALID_ARGUMENT);
    frisbee_reply_free(reply);
    if (atomic_load(&is_over))
        atomic_fetch_sub(&chains, 1);
    else
        begin(again);
}

/* Regression test: completions that kept starting calls that failed at once starved the connections, so the call below
 * never ended. */
static void calls_of_completions_leave_time_to_others(void) {
    atomic_store(&chains, CHAINS);
    for (int at = 0; at < CHAINS; at++)
        begin(again);
    frisbee_reply *reply = frisbee_client_call(client, "echo", FRISBEE_JSON, "{\"a\":7}", 7, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
    atomic_store(&is_over, true);
    while (atomic_load(&chains) > 0)
        usleep(1000);
}

static atomic_int sent;
static int seen, quiet_rounds;

/* Fails the call once the sending function is blocked. */
static void fail_when_full(void *user, frisbee_reply *reply) {
    frisbee_reply_free(reply);
    int now = atomic_load(&sent);
    quiet_rounds = now == seen ? quiet_rounds + 1 : 0;
    seen = now;
    if (quiet_rounds < 1000) {
        CHECK(frisbee_client_start(client, "echo", FRISBEE_JSON, "{", 1, NULL, fail_when_full, user, NULL) == FRISBEE_OK);
        return;
    }
    CHECK_OK(frisbee_call_fail(user, FRISBEE_ABORTED, "no more", &error), error);
    CHECK(frisbee_call_fail(user, FRISBEE_ABORTED, "no more", &error) == FRISBEE_INVALID_ARGUMENT);
    atomic_store(&is_failed, true);
}

/* Sends messages until the buffer is full. A completion then fails the call. */
static void watch(frisbee_call *call, void *user) {
    (void)user;
    static char text[65536];
    memset(text, 'a', sizeof text);
    memcpy(text, "{\"text\":\"", 9);
    memcpy(text + sizeof text - 2, "\"}", 2);
    seen = -1;
    quiet_rounds = 0;
    int64_t count = 0;
    frisbee_call_i64(call, "count", &count);
    CHECK(frisbee_client_start(client, "echo", FRISBEE_JSON, "{", 1, NULL, fail_when_full, call, NULL) == FRISBEE_OK);
    for (int64_t at = 0; at < count; at++) {
        if (frisbee_call_send(call, FRISBEE_JSON, text, sizeof text, NULL) != FRISBEE_OK)
            return;
        atomic_fetch_add(&sent, 1);
    }
}

/* Regression test: the stream ended as if all messages had been sent. */
static void failure_in_a_completion_ends_the_stream(const char *request) {
    frisbee_stream *stream = NULL;
    CHECK_OK(frisbee_client_open(client, "t.Watcher/Watch", FRISBEE_JSON, request, strlen(request), NULL, &stream, &error),
             error);
    while (!atomic_load(&is_failed))
        usleep(1000);
    atomic_store(&is_failed, false);
    frisbee_reply *reply;
    while (reply = frisbee_stream_next(stream), frisbee_reply_code(reply) == FRISBEE_OK)
        frisbee_reply_free(reply);
    CHECK_CODE(reply, FRISBEE_ABORTED);
    frisbee_reply_free(reply);
    frisbee_stream_free(stream);
}

static frisbee_call *_Atomic held;
static atomic_int held_code = -1;

static void hold(frisbee_call *call, void *user) {
    (void)user;
    atomic_store(&held, call);
}

static void store_code(void *user, frisbee_reply *reply) {
    (void)user;
    atomic_store(&held_code, (int)frisbee_reply_code(reply));
    frisbee_reply_free(reply);
}

/* Calls in progress continue after their client is freed, as frisbee.h documents. */
static void call_that_was_sent_outlives_its_client(frisbee_server *server) {
    frisbee_client *freed = NULL;
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &freed, &error), error);
    CHECK_OK(frisbee_client_start(freed, "hold", FRISBEE_JSON, "{}", 2, NULL, store_code, NULL, &error), error);
    while (atomic_load(&held) == NULL)
        usleep(1000);
    CHECK(frisbee_client_free(freed) == FRISBEE_OK);
    CHECK_OK(frisbee_call_reply(atomic_load(&held), FRISBEE_JSON, "{}", 2, &error), error);
    while (atomic_load(&held_code) == -1)
        usleep(1000);
    CHECK(atomic_load(&held_code) == FRISBEE_OK);
}

static frisbee_server *late;
static atomic_int late_code = -1;

static void start_server(void *user, frisbee_reply *reply) {
    (void)user;
    frisbee_reply_free(reply);
    atomic_store(&late_code, (int)frisbee_server_start(late, "127.0.0.1:0", NULL));
}

/* Regression test: a server that was started in a callback was refused, and could not be started afterwards. */
static void server_refused_in_a_callback_can_be_started(void) {
    CHECK_OK(frisbee_server_new("t.Late", NULL, &late, &error), error);
    CHECK_OK(frisbee_client_start(client, "echo", FRISBEE_JSON, "{}", 2, NULL, start_server, NULL, &error), error);
    while (atomic_load(&late_code) == -1)
        usleep(1000);
    CHECK(atomic_load(&late_code) == FRISBEE_FAILED_PRECONDITION);
    CHECK_OK(frisbee_server_start(late, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_server_stop(late, &error), error);
    CHECK(frisbee_server_free(late) == FRISBEE_OK);
}

int main(void) {
    frisbee_server *server = NULL;
    alarm(100); /* A thread of the library that never returns ends the program. */
    CHECK_OK(frisbee_server_new("t.Functions", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "echo(int64 a) -> int64", echo, NULL, &error), error);
    CHECK_OK(frisbee_server_add(server, "hold()", hold, NULL, &error), error);
    CHECK_OK(frisbee_server_proto(server,
                                  "syntax = \"proto3\"; package t; service Watcher { rpc Watch(Q) returns (stream T); } "
                                  "message Q { int64 count = 1; } message T { string text = 1; }",
                                  FRISBEE_CODEC_POLYGLOT, &error),
             error);
    CHECK_OK(frisbee_server_handle(server, "t.Watcher/Watch", watch, NULL, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &client, &error), error);
    /* After this call, the client has the schema. */
    frisbee_reply *reply = frisbee_client_call(client, "echo", FRISBEE_JSON, "{\"a\":7}", 7, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
    failure_in_a_completion_ends_the_stream("{}");
    failure_in_a_completion_ends_the_stream("{\"count\":1000}");
    calls_of_completions_leave_time_to_others();
    call_that_was_sent_outlives_its_client(server);
    server_refused_in_a_callback_can_be_started();
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    puts("done");
    return 0;
}
