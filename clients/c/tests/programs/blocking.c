/* Runs more blocking functions at once than the server has threads for. */

#include <frisbee.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "check.h"

#define CALLERS 6
/* The number of streaming functions that run concurrently. */
#define THREADS 512
/* Each client has fewer open streams than the server permits per connection. */
#define CLIENTS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int met, watching;
/* The end of the call whose caller has disconnected. */
static frisbee_code finished = FRISBEE_UNKNOWN;
static bool may_end;
static frisbee_server *server;

static frisbee_client *connected(void) {
    frisbee_error error;
    frisbee_client *client = NULL;
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &client, &error), error);
    return client;
}

/* Waits until all callers have arrived. */
static void meet(frisbee_call *call, void *user) {
    (void)user;
    pthread_mutex_lock(&lock);
    met++;
    pthread_cond_broadcast(&changed);
    while (met < CALLERS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    frisbee_call_reply_i64(call, met, NULL);
}

static void call_meet(frisbee_client *client) {
    frisbee_reply *reply = frisbee_client_call(client, "meet", FRISBEE_JSON, "{}", 2, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
}

static void *meet_others(void *unused) {
    frisbee_client *client = connected();
    call_meet(client);
    frisbee_client_free(client);
    return unused;
}

/* Regression test: blocked functions occupied all threads of the library, of which there were at most four. All clients
 * of the library stalled. */
static void blocked_functions_leave_threads_to_others(void) {
    pthread_t threads[CALLERS];
    for (int at = 0; at < CALLERS; at++)
        CHECK(pthread_create(&threads[at], NULL, meet_others, NULL) == 0);
    for (int at = 0; at < CALLERS; at++)
        CHECK(pthread_join(threads[at], NULL) == 0);
}

/* Blocks the thread that runs it. */
static void watch(frisbee_call *call, void *user) {
    (void)user;
    pthread_mutex_lock(&lock);
    watching++;
    pthread_cond_broadcast(&changed);
    while (!may_end)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    frisbee_call_finish(call, NULL);
}

/* Finishes its call after the caller has cancelled it. */
static void linger(frisbee_call *call, void *user) {
    (void)user;
    CHECK(frisbee_call_send(call, FRISBEE_JSON, "{}", 2, NULL) == FRISBEE_OK);
    while (!frisbee_call_is_cancelled(call))
        sched_yield();
    pthread_mutex_lock(&lock);
    finished = frisbee_call_finish(call, NULL);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static frisbee_stream *open_stream(frisbee_client *client, const char *method, const frisbee_call_options *options) {
    frisbee_error error;
    frisbee_stream *stream = NULL;
    CHECK_OK(frisbee_client_open(client, method, FRISBEE_JSON, "{}", 2, options, &stream, &error), error);
    return stream;
}

static frisbee_stream *open_watch(frisbee_client *client, const frisbee_call_options *options) {
    return open_stream(client, "t.S/Watch", options);
}

/* Regression test: the end of a cancelled stream of replies was reported as a success. */
static void finish_of_cancelled_call_is_cancelled(void) {
    frisbee_client *client = connected();
    frisbee_stream *stream = open_stream(client, "t.S/Linger", NULL);
    frisbee_reply *reply = frisbee_stream_next(stream);
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
    frisbee_stream_free(stream);
    pthread_mutex_lock(&lock);
    while (finished == FRISBEE_UNKNOWN)
        pthread_cond_wait(&changed, &lock);
    CHECK(finished == FRISBEE_CANCELLED);
    pthread_mutex_unlock(&lock);
    frisbee_client_free(client);
}

/* Regression test: a call that had ended while it waited for a thread still ran later, and its request was kept
 * until then. */
static void call_that_ends_before_it_has_a_thread_never_runs(void) {
    static frisbee_stream *streams[THREADS + 1];
    frisbee_client *clients[CLIENTS];
    for (int at = 0; at < CLIENTS; at++)
        clients[at] = connected();
    for (int at = 0; at < THREADS; at++)
        streams[at] = open_watch(clients[at % CLIENTS], NULL);
    pthread_mutex_lock(&lock);
    while (watching < THREADS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);

    frisbee_call_options options = {.timeout_ms = 200};
    frisbee_stream *hasty = open_watch(clients[0], &options);
    frisbee_reply *reply = frisbee_stream_next(hasty);
    CHECK_CODE(reply, FRISBEE_DEADLINE_EXCEEDED);
    frisbee_reply_free(reply);
    frisbee_stream_free(hasty);
    /* Replies only after the cancellation. By then, the server has processed it. */
    call_meet(clients[0]);
    call_meet(clients[0]);

    streams[THREADS] = open_watch(clients[0], NULL);
    pthread_mutex_lock(&lock);
    may_end = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int at = 0; at <= THREADS; at++) {
        CHECK(frisbee_stream_next(streams[at]) == NULL);
        frisbee_stream_free(streams[at]);
    }
    CHECK(watching == THREADS + 1);
    for (int at = 0; at < CLIENTS; at++)
        frisbee_client_free(clients[at]);
}

/* The client whose connection runs `reenter`, another one, and the call of a stream on the connection of the first. */
static frisbee_client *own, *other;
static frisbee_call *talking;

static void talk(frisbee_call *call, void *user) {
    (void)user;
    pthread_mutex_lock(&lock);
    talking = call;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Waits for the connection whose driver it blocks, and for another one. */
static void reenter(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    static char text[4096];
    frisbee_call_options options = {.timeout_ms = 200};
    frisbee_reply *reply = frisbee_client_call(own, "meet", FRISBEE_JSON, "{}", 2, &options);
    CHECK_CODE(reply, FRISBEE_FAILED_PRECONDITION);
    CHECK(!frisbee_reply_may_have_run(reply) && strstr(frisbee_reply_message(reply), "use another thread") != NULL);
    frisbee_reply_free(reply);
    frisbee_stream *stream = NULL;
    CHECK_OK(frisbee_client_open(own, "meet", FRISBEE_JSON, "{}", 2, NULL, &stream, &error), error);
    reply = frisbee_stream_next(stream);
    CHECK_CODE(reply, FRISBEE_FAILED_PRECONDITION);
    frisbee_reply_free(reply);
    frisbee_stream_free(stream);
    frisbee_queue *queue = NULL;
    frisbee_event event;
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    CHECK_OK(frisbee_client_submit(own, "meet", FRISBEE_JSON, "{}", 2, NULL, queue, NULL, &error), error);
    CHECK(frisbee_queue_next(queue, 0, &event, &error) == FRISBEE_DEADLINE_EXCEEDED);
    CHECK(frisbee_queue_next(queue, -1, &event, &error) == FRISBEE_FAILED_PRECONDITION);
    CHECK_OK(frisbee_client_submit(other, "meet", FRISBEE_JSON, "{}", 2, NULL, queue, NULL, &error), error);
    CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
    CHECK_CODE(event.reply, FRISBEE_OK);
    frisbee_reply_free(event.reply);
    frisbee_queue_free(queue);
    CHECK(frisbee_call_next(talking, &error) == FRISBEE_FAILED_PRECONDITION);
    memset(text, 'a', sizeof text);
    memcpy(text, "{\"text\":\"", 9);
    memcpy(text + sizeof text - 2, "\"}", 2);
    while (frisbee_call_send(talking, FRISBEE_JSON, text, sizeof text, &error) == FRISBEE_OK) {
    }
    CHECK(error.code == FRISBEE_FAILED_PRECONDITION);
    CHECK_OK(frisbee_call_finish(talking, &error), error);
    call_meet(other);
    frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, NULL);
}

/* Regression test: the function and its connection waited for each other until the timeout, or forever. */
static void function_does_not_wait_for_its_connection(void) {
    frisbee_error error;
    frisbee_stream *stream = NULL;
    own = connected();
    other = connected();
    CHECK_OK(frisbee_client_open(own, "t.S/Talk", FRISBEE_JSON, NULL, 0, NULL, &stream, &error), error);
    pthread_mutex_lock(&lock);
    while (talking == NULL)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    frisbee_reply *reply = frisbee_client_call(own, "reenter", FRISBEE_JSON, "{}", 2, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
    while ((reply = frisbee_stream_next(stream)) != NULL) {
        CHECK_CODE(reply, FRISBEE_OK);
        frisbee_reply_free(reply);
    }
    frisbee_stream_free(stream);
    frisbee_client_free(own);
    frisbee_client_free(other);
}

/* The number of requests of an upload, and how they have ended. */
static int uploaded;
static frisbee_code uploaded_until;

static void upload(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    frisbee_code code;
    do {
        code = frisbee_call_next(call, &error);
        pthread_mutex_lock(&lock);
        uploaded++;
        uploaded_until = code;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    } while (code == FRISBEE_OK);
    frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, NULL);
}

/* Regression test: freeing an open stream often ended its requests, and the server processed them as complete. */
static void freed_stream_is_cancelled(void) {
    frisbee_error error;
    frisbee_client *client = connected();
    for (int at = 0; at < 100; at++) {
        frisbee_stream *stream = NULL;
        uploaded = 0;
        CHECK_OK(frisbee_client_open(client, "t.S/Upload", FRISBEE_JSON, NULL, 0, NULL, &stream, &error), error);
        CHECK_OK(frisbee_stream_send(stream, "{}", 2, &error), error);
        pthread_mutex_lock(&lock);
        while (uploaded < 1)
            pthread_cond_wait(&changed, &lock);
        CHECK(frisbee_stream_free(stream) == FRISBEE_OK);
        while (uploaded < 2)
            pthread_cond_wait(&changed, &lock);
        CHECK(uploaded_until == FRISBEE_CANCELLED);
        pthread_mutex_unlock(&lock);
    }
    frisbee_client_free(client);
}

int main(void) {
    frisbee_error error;
    const char *proto = "syntax = \"proto3\"; package t; service S { rpc Watch(Q) returns (stream Q); "
                        "rpc Linger(Q) returns (stream Q); rpc Talk(stream Q) returns (stream Q); "
                        "rpc Upload(stream Q) returns (Q); } "
                        "message Q { string text = 1; }";
    alarm(100);
    CHECK_OK(frisbee_server_new("t.Functions", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "meet() -> int64", meet, NULL, &error), error);
    CHECK_OK(frisbee_server_add(server, "reenter()", reenter, NULL, &error), error);
    CHECK_OK(frisbee_server_proto(server, proto, FRISBEE_CODEC_POLYGLOT, &error), error);
    CHECK_OK(frisbee_server_handle(server, "t.S/Watch", watch, NULL, &error), error);
    CHECK_OK(frisbee_server_handle(server, "t.S/Linger", linger, NULL, &error), error);
    CHECK_OK(frisbee_server_handle(server, "t.S/Talk", talk, NULL, &error), error);
    CHECK_OK(frisbee_server_handle(server, "t.S/Upload", upload, NULL, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    blocked_functions_leave_threads_to_others();
    function_does_not_wait_for_its_connection();
    finish_of_cancelled_call_is_cancelled();
    freed_stream_is_cancelled();
    call_that_ends_before_it_has_a_thread_never_runs();
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    puts("done");
    return 0;
}
