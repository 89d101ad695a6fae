/* Misuses each function: passes NULL, freed handles, handles of another type and invalid numbers, and calls it on wrong
 * threads. Each misuse must return an error and not crash. */

#include <frisbee.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static frisbee_error error;

#define REFUSED(call)                                                                                 \
    do {                                                                                              \
        error = (frisbee_error){FRISBEE_OK, ""};                                                      \
        CHECK((call) == FRISBEE_INVALID_ARGUMENT && error.code == FRISBEE_INVALID_ARGUMENT);          \
        CHECK(error.message[0] != '\0');                                                              \
    } while (0)

static void function(frisbee_call *call, void *user) {
    (void)user;
    frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, NULL);
}

static void packets(frisbee_connection *connection, const frisbee_packet *packet, void *user) {
    (void)connection, (void)packet, (void)user;
}

static void hand_off(int32_t descriptor, frisbee_bytes early, void *user) {
    (void)descriptor, (void)early, (void)user;
    CHECK(!"there is no hand-off");
}

static void completion(void *user, frisbee_reply *reply) {
    (void)user;
    frisbee_reply_free(reply);
}

static void expect_reply(frisbee_reply *reply, frisbee_code code) {
    CHECK_CODE(reply, code);
    CHECK(frisbee_reply_message(reply)[0] != '\0' && !frisbee_reply_may_have_run(reply));
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
}

static void clients(frisbee_client *client) {
    frisbee_stream *stream = NULL;
    frisbee_queue *queue = NULL;
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    REFUSED(frisbee_client_proto(client, "", 0, &error));
    expect_reply(frisbee_client_call(client, "a.B/C", FRISBEE_JSON, "{}", 2, NULL), FRISBEE_INVALID_ARGUMENT);
    REFUSED(frisbee_client_start(client, "a.B/C", FRISBEE_JSON, "{}", 2, NULL, completion, NULL, &error));
    REFUSED(frisbee_client_submit(client, "a.B/C", FRISBEE_JSON, "{}", 2, NULL, queue, NULL, &error));
    REFUSED(frisbee_client_open(client, "a.B/C", FRISBEE_JSON, "{}", 2, NULL, &stream, &error));
    expect_reply(frisbee_client_hand_off(client, "a.B/C", FRISBEE_JSON, "{}", 2, NULL, hand_off, NULL), FRISBEE_INVALID_ARGUMENT);
    REFUSED(frisbee_client_send(client, 1, 1000, "", 0, &error));
    REFUSED(frisbee_client_publish(client, "a", "", 0, &error));
    REFUSED(frisbee_client_subscribe(client, "a", &stream, &error));
    REFUSED(frisbee_client_sync(client, &error));
    CHECK(stream == NULL);
    CHECK(frisbee_queue_free(queue) == FRISBEE_OK);
    CHECK(frisbee_client_free(client) == (client == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
}

static void replies(frisbee_reply *reply) {
    frisbee_metadata entry;
    frisbee_outcome outcome = {.code = FRISBEE_OK};
    CHECK(frisbee_reply_read(reply, &outcome) == FRISBEE_INVALID_ARGUMENT && outcome.code == FRISBEE_INVALID_ARGUMENT);
    CHECK(outcome.message[0] != '\0' && outcome.data.data == NULL && !outcome.may_have_run);
    CHECK(frisbee_reply_read(reply, NULL) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_reply_code(reply) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_reply_message(reply)[0] != '\0');
    CHECK(frisbee_reply_data(reply).data == NULL && frisbee_reply_details(reply).data == NULL);
    CHECK(!frisbee_reply_may_have_run(reply));
    CHECK(!frisbee_reply_metadata_at(reply, 0, &entry));
    CHECK(frisbee_reply_metadata(reply, "key").data == NULL);
    CHECK(frisbee_reply_free(reply) == (reply == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
}

static void cancels(frisbee_cancel *cancel) {
    REFUSED(frisbee_cancel_fire(cancel, &error));
    CHECK(frisbee_cancel_free(cancel) == (cancel == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
}

static void queues(frisbee_queue *queue) {
    frisbee_event event;
    REFUSED(frisbee_queue_next(queue, 0, &event, &error));
    CHECK(frisbee_queue_descriptor(queue) == -1);
    CHECK(frisbee_queue_free(queue) == (queue == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
}

static void streams(frisbee_stream *stream) {
    frisbee_queue *queue = NULL;
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    REFUSED(frisbee_stream_send(stream, "{}", 2, &error));
    REFUSED(frisbee_stream_end(stream, &error));
    REFUSED(frisbee_stream_submit_next(stream, queue, NULL, &error));
    expect_reply(frisbee_stream_next(stream), FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_stream_free(stream) == (stream == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
    CHECK(frisbee_queue_free(queue) == FRISBEE_OK);
}

static void connections(frisbee_connection *connection) {
    REFUSED(frisbee_connection_send(connection, 1, 1000, "", 0, &error));
    REFUSED(frisbee_connection_close(connection, &error));
}

static void servers(frisbee_server *server) {
    REFUSED(frisbee_server_packets(server, 1000, 1000, packets, NULL, &error));
    REFUSED(frisbee_server_hand_off(server, "a.B/C", &error));
    REFUSED(frisbee_server_topics(server, &error));
    REFUSED(frisbee_server_add(server, "f()", function, NULL, &error));
    REFUSED(frisbee_server_proto(server, "", 0, &error));
    REFUSED(frisbee_server_handle(server, "a.B/C", function, NULL, &error));
    REFUSED(frisbee_server_start(server, "127.0.0.1:0", &error));
    REFUSED(frisbee_server_run(server, "127.0.0.1:0", &error));
    REFUSED(frisbee_server_stop(server, &error));
    CHECK_TEXT(frisbee_server_address(server), "");
    CHECK(frisbee_server_free(server) == (server == NULL ? FRISBEE_OK : FRISBEE_INVALID_ARGUMENT));
}

static void calls(frisbee_call *call) {
    frisbee_bytes data;
    int64_t integer = 1;
    double number = 1;
    bool truth = true;
    REFUSED(frisbee_call_data(call, FRISBEE_JSON, &data, &error));
    CHECK(frisbee_call_i64(call, "a", &integer) == FRISBEE_INVALID_ARGUMENT && integer == 0);
    CHECK(frisbee_call_u64(call, "a", &(uint64_t){1}) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_f64(call, "a", &number) == FRISBEE_INVALID_ARGUMENT && number == 0);
    CHECK(frisbee_call_bool(call, "a", &truth) == FRISBEE_INVALID_ARGUMENT && !truth);
    CHECK(frisbee_call_text(call, "a", &data) == FRISBEE_INVALID_ARGUMENT && data.data == NULL);
    CHECK(frisbee_call_metadata(call, "key").data == NULL);
    CHECK_TEXT(frisbee_call_remote(call), "");
    CHECK(frisbee_call_timeout_ms(call) == 0 && frisbee_call_is_cancelled(call));
    REFUSED(frisbee_call_reply_metadata(call, "key", "value", 5, &error));
    REFUSED(frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, &error));
    REFUSED(frisbee_call_reply_i64(call, 1, &error));
    REFUSED(frisbee_call_reply_u64(call, 1, &error));
    REFUSED(frisbee_call_reply_f64(call, 1, &error));
    REFUSED(frisbee_call_reply_bool(call, true, &error));
    REFUSED(frisbee_call_reply_text(call, "a", 1, &error));
    REFUSED(frisbee_call_fail(call, FRISBEE_INTERNAL, "text", &error));
    REFUSED(frisbee_call_hand_off(call, hand_off, NULL, &error));
    REFUSED(frisbee_call_next(call, &error));
    REFUSED(frisbee_call_send(call, FRISBEE_JSON, "{}", 2, &error));
    REFUSED(frisbee_call_finish(call, &error));
}

/* Passes NULL for results, texts and functions. */
static void arguments(frisbee_server *server, frisbee_client *client) {
    frisbee_client *made = NULL;
    frisbee_queue *queue = NULL;
    frisbee_stream *stream = NULL;
    REFUSED(frisbee_client_connect(NULL, NULL, &made, &error));
    REFUSED(frisbee_client_connect("127.0.0.1:1", NULL, NULL, &error));
    REFUSED(frisbee_client_connect("\xff", NULL, &made, &error));
    frisbee_client_options options = {.key = "no key"};
    REFUSED(frisbee_client_connect("127.0.0.1:1", &options, &made, &error));
    frisbee_client_options garbage = {.reserved = {7}};
    REFUSED(frisbee_client_connect("127.0.0.1:1", &garbage, &made, &error));
    CHECK(frisbee_client_connect("127.0.0.1:1", NULL, &made, NULL) == FRISBEE_UNAVAILABLE && made == NULL);
    frisbee_client_options reserved = {.packets = packets, .packets_operations = {9, 1000}};
    REFUSED(frisbee_client_connect("127.0.0.1:1", &reserved, &made, &error));
    expect_reply(frisbee_client_hand_off(client, "f", FRISBEE_JSON, "{}", 2, NULL, NULL, NULL), FRISBEE_INVALID_ARGUMENT);
    REFUSED(frisbee_client_send(client, 1, 1000, NULL, 1, &error));
    REFUSED(frisbee_client_publish(client, NULL, "", 0, &error));
    REFUSED(frisbee_client_publish(client, "a", NULL, 1, &error));
    REFUSED(frisbee_client_subscribe(client, NULL, &stream, &error));
    REFUSED(frisbee_client_subscribe(client, "a", NULL, &error));
    REFUSED(frisbee_client_proto(client, NULL, 0, &error));
    REFUSED(frisbee_client_proto(client, "no schema", 0, &error));
    REFUSED(frisbee_client_proto(client, "syntax = \"proto3\";", 2, &error));
    expect_reply(frisbee_client_call(client, NULL, FRISBEE_JSON, "{}", 2, NULL), FRISBEE_INVALID_ARGUMENT);
    expect_reply(frisbee_client_call(client, "f", 3, "{}", 2, NULL), FRISBEE_INVALID_ARGUMENT);
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, NULL, 2, NULL), FRISBEE_INVALID_ARGUMENT);
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, "{}", SIZE_MAX, NULL), FRISBEE_INVALID_ARGUMENT);
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, "{", 1, NULL), FRISBEE_INVALID_ARGUMENT);
    frisbee_call_options lost = {.metadata_count = 1};
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, "{}", 2, &lost), FRISBEE_INVALID_ARGUMENT);
    frisbee_metadata entry = {"NO KEY", "", 0};
    frisbee_call_options named = {.metadata = &entry, .metadata_count = 1};
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, "{}", 2, &named), FRISBEE_INVALID_ARGUMENT);
    frisbee_call_options other_handle = {.cancel = (frisbee_cancel *)client};
    expect_reply(frisbee_client_call(client, "f", FRISBEE_JSON, "{}", 2, &other_handle), FRISBEE_INVALID_ARGUMENT);
    REFUSED(frisbee_client_start(client, "f", FRISBEE_JSON, "{}", 2, NULL, NULL, NULL, &error));
    REFUSED(frisbee_client_submit(client, "f", FRISBEE_JSON, "{}", 2, NULL, NULL, NULL, &error));
    REFUSED(frisbee_client_open(client, "f", FRISBEE_JSON, "{}", 2, NULL, NULL, &error));
    /* A call that streams requests takes no initial request. */
    CHECK_OK(frisbee_client_open(client, "f", FRISBEE_JSON, "[]", 2, NULL, &stream, &error), error);
    expect_reply(frisbee_stream_next(stream), FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_stream_free(stream) == FRISBEE_OK);
    REFUSED(frisbee_cancel_new(NULL, &error));
    REFUSED(frisbee_queue_new(NULL, &error));
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    REFUSED(frisbee_queue_next(queue, 0, NULL, &error));
    CHECK(frisbee_queue_free(queue) == FRISBEE_OK);
    REFUSED(frisbee_server_new(NULL, NULL, &server, &error));
    REFUSED(frisbee_server_new("a.B", NULL, NULL, &error));
    frisbee_server_options half = {.certificate = "no certificate"};
    REFUSED(frisbee_server_new("a.B", &half, &server, &error));
    frisbee_server *other = NULL;
    CHECK_OK(frisbee_server_new("a.B", NULL, &other, &error), error);
    REFUSED(frisbee_server_add(other, NULL, function, NULL, &error));
    REFUSED(frisbee_server_add(other, "f()", NULL, NULL, &error));
    REFUSED(frisbee_server_add(other, "f", function, NULL, &error));
    REFUSED(frisbee_server_add(other, "f(int65 a)", function, NULL, &error));
    /* Regression test: a long name was accepted, and clients then rejected the schema of the server. */
    char signature[600];
    memset(signature, 'f', sizeof signature);
    memcpy(signature + sizeof signature - 3, "()", 3);
    REFUSED(frisbee_server_add(other, signature, function, NULL, &error));
    CHECK(strstr(error.message, "exceeds the limit of 512") != NULL);
    REFUSED(frisbee_server_packets(other, 1000, 1000, NULL, NULL, &error));
    REFUSED(frisbee_server_packets(other, 1000, 999, packets, NULL, &error));
    REFUSED(frisbee_server_hand_off(other, NULL, &error));
    REFUSED(frisbee_server_handle(other, NULL, function, NULL, &error));
    REFUSED(frisbee_server_handle(other, "a.B/C", NULL, NULL, &error));
    REFUSED(frisbee_server_proto(other, "no schema", 0, &error));
    REFUSED(frisbee_server_start(other, NULL, &error));
    CHECK(frisbee_server_stop(other, &error) == FRISBEE_OK);
    CHECK(frisbee_server_start(other, "127.0.0.1:0", &error) == FRISBEE_FAILED_PRECONDITION);
    CHECK(strstr(error.message, "stopped") != NULL && strstr(error.message, "create a new one") != NULL);
    CHECK(frisbee_server_free(other) == FRISBEE_OK);
}

/* Regression test: a function with a signature served the method of the schema with its name. */
static void schemas(void) {
    const char *proto = "syntax = \"proto3\"; package t; service S { rpc f(E) returns (E); } message E {}";
    const char *other_proto = "syntax = \"proto3\"; package u; service S { rpc f(E) returns (E); } message E {}";
    frisbee_server *server = NULL;
    CHECK_OK(frisbee_server_new("t.S", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_proto(server, proto, 0, &error), error);
    CHECK(frisbee_server_add(server, "f(int64 a) -> int64", function, NULL, &error) == FRISBEE_ALREADY_EXISTS);
    CHECK(strstr(error.message, "t.S") != NULL && strstr(error.message, "use ") != NULL);
    CHECK(frisbee_server_proto(server, proto, 0, &error) == FRISBEE_ALREADY_EXISTS);
    CHECK_OK(frisbee_server_handle(server, "f", function, NULL, &error), error);
    CHECK(frisbee_server_handle(server, "t.S/f", function, NULL, &error) == FRISBEE_ALREADY_EXISTS);
    CHECK_OK(frisbee_server_proto(server, other_proto, 0, &error), error);
    CHECK(frisbee_server_handle(server, "f", function, NULL, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    CHECK_OK(frisbee_server_new("t.S", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "f(int64 a) -> int64", function, NULL, &error), error);
    CHECK(frisbee_server_proto(server, proto, 0, &error) == FRISBEE_ALREADY_EXISTS);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
}

/* Tries to stop and run servers within a function of a server, and replies twice. */
static void stops(frisbee_call *call, void *user) {
    frisbee_error inner;
    frisbee_server *other = NULL;
    CHECK_OK(frisbee_server_new("a.B", NULL, &other, &inner), inner);
    /* Regression test: the server was started, and could not be stopped. Without the check, the address is an error. */
    CHECK(frisbee_server_run(other, "no address", &inner) == FRISBEE_FAILED_PRECONDITION);
    CHECK(strstr(inner.message, "use another thread") != NULL);
    CHECK_OK(frisbee_server_start(other, "127.0.0.1:0", &inner), inner);
    CHECK(frisbee_server_free(other) == FRISBEE_OK);
    CHECK(frisbee_server_stop(*(frisbee_server **)user, &inner) == FRISBEE_FAILED_PRECONDITION);
    CHECK(frisbee_call_reply(call, FRISBEE_JSON, NULL, 2, &inner) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_reply(call, 9, "{}", 2, &inner) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_data(call, FRISBEE_JSON, NULL, &inner) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_i64(call, "a", NULL) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_i64(call, NULL, &(int64_t){0}) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_metadata(call, NULL).data == NULL);
    CHECK(frisbee_call_next(call, &inner) == FRISBEE_FAILED_PRECONDITION);
    CHECK(frisbee_call_send(call, FRISBEE_JSON, "{}", 2, &inner) == FRISBEE_FAILED_PRECONDITION);
    CHECK(frisbee_call_finish(call, &inner) == FRISBEE_FAILED_PRECONDITION);
    CHECK(frisbee_call_fail(call, FRISBEE_OK, "success", &inner) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, &inner) == FRISBEE_OK);
    calls(call);
}

/* Two threads free the same handle. One of them must receive an error. */
static void *frees(void *handle) {
    return frisbee_cancel_free(handle) == FRISBEE_OK ? handle : NULL;
}

static frisbee_client *client_of_ended;
static frisbee_queue *queue_of_ended;

/* Runs as a destructor of an exiting thread. Regression test: the library panicked internally, and a rejected call
 * still produced an event. */
static void after_end(void *user) {
    (void)user;
    frisbee_event event;
    frisbee_reply *reply = frisbee_client_call(client_of_ended, "stops", FRISBEE_JSON, "{", 1, NULL);
    CHECK(frisbee_reply_code(reply) != FRISBEE_OK && frisbee_reply_code(reply) != FRISBEE_INTERNAL);
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
    CHECK(frisbee_queue_next(queue_of_ended, 0, &event, NULL) != FRISBEE_INTERNAL);
    frisbee_code code = frisbee_client_submit(client_of_ended, "stops", FRISBEE_JSON, "{", 1, NULL, queue_of_ended, NULL, NULL);
    CHECK(code != FRISBEE_INTERNAL);
    CHECK((code == FRISBEE_OK) == (frisbee_queue_next(queue_of_ended, 0, &event, NULL) == FRISBEE_OK));
}

static void *ends(void *key) {
    frisbee_event event;
    CHECK(pthread_setspecific(*(pthread_key_t *)key, key) == 0);
    CHECK(frisbee_queue_next(queue_of_ended, 0, &event, NULL) == FRISBEE_DEADLINE_EXCEEDED);
    /* This call creates the library's thread data before the destructors run. glibc leaks thread data that a
     * destructor creates. */
    expect_reply(frisbee_client_call(client_of_ended, "stops", FRISBEE_JSON, "{", 1, NULL), FRISBEE_INVALID_ARGUMENT);
    return NULL;
}

static void ended_thread(frisbee_client *client) {
    pthread_key_t key;
    pthread_t thread;
    frisbee_event event;
    client_of_ended = client;
    CHECK_OK(frisbee_queue_new(&queue_of_ended, &error), error);
    CHECK(pthread_key_create(&key, after_end) == 0 && pthread_create(&thread, NULL, ends, &key) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(frisbee_queue_next(queue_of_ended, 0, &event, NULL) == FRISBEE_DEADLINE_EXCEEDED);
    CHECK(frisbee_queue_free(queue_of_ended) == FRISBEE_OK);
}

int main(void) {
    frisbee_server *server = NULL;
    frisbee_client *client = NULL;
    frisbee_cancel *cancel = NULL;
    frisbee_queue *queue = NULL;
    frisbee_stream *stream = NULL;
    CHECK_OK(frisbee_server_new("a.B", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "stops()", stops, &server, &error), error);
    CHECK_OK(frisbee_server_proto(server, "syntax = \"proto3\"; message E {} service S { rpc f(stream E) returns (E); }", 0,
                                  &error),
             error);
    CHECK_OK(frisbee_server_handle(server, "S/f", function, NULL, &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), NULL, &client, &error), error);

    frisbee_reply *reply = frisbee_client_call(client, "stops", FRISBEE_JSON, "{}", 2, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK(frisbee_reply_metadata(reply, NULL).data == NULL && !frisbee_reply_metadata_at(reply, 0, NULL));
    arguments(server, client);
    schemas();
    ended_thread(client);

    /* Passes handles of another type. */
    calls((frisbee_call *)client);
    replies((frisbee_reply *)client);
    cancels((frisbee_cancel *)client);
    queues((frisbee_queue *)client);
    streams((frisbee_stream *)client);
    connections((frisbee_connection *)client);
    servers((frisbee_server *)client);
    clients((frisbee_client *)server);

    CHECK_OK(frisbee_cancel_new(&cancel, &error), error);
    pthread_t threads[2];
    void *freed[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, frees, cancel) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], &freed[i]) == 0);
    CHECK((freed[0] == NULL) != (freed[1] == NULL));

    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    CHECK_OK(frisbee_client_open(client, "f", FRISBEE_JSON, NULL, 0, NULL, &stream, &error), error);
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK && frisbee_queue_free(queue) == FRISBEE_OK);
    CHECK(frisbee_stream_free(stream) == FRISBEE_OK && frisbee_client_free(client) == FRISBEE_OK);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);

    /* Passes freed handles and NULL. */
    replies(reply);
    cancels(cancel);
    queues(queue);
    streams(stream);
    servers(server);
    clients(client);
    replies(NULL);
    cancels(NULL);
    queues(NULL);
    streams(NULL);
    connections(NULL);
    servers(NULL);
    clients(NULL);
    calls(NULL);
    puts("done");
    return 0;
}
