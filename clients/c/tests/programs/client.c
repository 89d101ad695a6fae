/* Unary calls to a greeter with reflection: bytes, JSON, failures, deadlines, metadata, cancellation. */

#include <frisbee.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static const char *METHOD = "greet.Greeter/Greet";

static frisbee_reply *greet(frisbee_client *client, const char *json, const frisbee_call_options *options) {
    return frisbee_client_call(client, METHOD, FRISBEE_JSON, json, strlen(json), options);
}

struct Done {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
    frisbee_client *client;
};

static void completed(void *user, frisbee_reply *reply) {
    struct Done *done = user;
    CHECK_TEXT(frisbee_reply_data(reply).data, "{\"text\":\"Hello, Eve!\"}");
    frisbee_reply_free(reply);
    /* A completion may not make a blocking call. */
    frisbee_reply *inner = greet(done->client, "{}", NULL);
    CHECK_CODE(inner, FRISBEE_FAILED_PRECONDITION);
    frisbee_reply_free(inner);
    pthread_mutex_lock(&done->lock);
    done->count++;
    pthread_cond_signal(&done->changed);
    pthread_mutex_unlock(&done->lock);
}

/* Starts two calls in each completion, up to 15 in total. One of them reuses the task of the call that has ended. */
static void doubled(void *user, frisbee_reply *reply) {
    struct Done *done = user;
    CHECK_TEXT(frisbee_reply_data(reply).data, "{\"text\":\"Hello, Eve!\"}");
    frisbee_reply_free(reply);
    const char *json = "{\"name\":\"Eve\"}";
    pthread_mutex_lock(&done->lock);
    int number = ++done->count;
    pthread_cond_signal(&done->changed);
    pthread_mutex_unlock(&done->lock);
    for (int i = 0; i < 2 && number < 8; i++)
        CHECK(frisbee_client_start(done->client, METHOD, FRISBEE_JSON, json, strlen(json), NULL, doubled, done, NULL) ==
              FRISBEE_OK);
}

int main(int argc, char **argv) {
    frisbee_error error;
    frisbee_client *client = NULL;
    frisbee_client_options settings = {.authorities = argc > 2 ? argv[2] : NULL, .server_name = argc > 2 ? "localhost" : NULL};
    CHECK_OK(frisbee_client_connect(argv[1], &settings, &client, &error), error);

    frisbee_reply *reply = greet(client, "{\"name\":\"Ada\"}", NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK_TEXT(frisbee_reply_data(reply).data, "{\"text\":\"Hello, Ada!\"}");
    CHECK(frisbee_reply_data(reply).len == strlen("{\"text\":\"Hello, Ada!\"}"));
    frisbee_outcome outcome;
    CHECK(frisbee_reply_read(reply, &outcome) == FRISBEE_OK && outcome.code == FRISBEE_OK);
    CHECK(outcome.data.data == frisbee_reply_data(reply).data && outcome.data.len == frisbee_reply_data(reply).len);
    CHECK_TEXT(outcome.message, "");
    CHECK_TEXT(frisbee_reply_message(reply), "");
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);

    /* The request in the native encoding, which is a message with one string, and then in the protobuf encoding. */
    reply = frisbee_client_call(client, METHOD, FRISBEE_NATIVE, "\x08\x00\x05\x0a\x03""Ada", 8, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK(memmem(frisbee_reply_data(reply).data, frisbee_reply_data(reply).len, "Hello, Ada!", 11) != NULL);
    frisbee_reply_free(reply);
    reply = frisbee_client_call(client, METHOD, FRISBEE_PROTOBUF, "\x0a\x03""Ada", 5, NULL);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK(frisbee_reply_data(reply).len == 13 && memcmp(frisbee_reply_data(reply).data, "\x0a\x0bHello, Ada!", 13) == 0);
    frisbee_reply_free(reply);

    reply = greet(client, "{\"name\":\"\"}", NULL);
    CHECK_CODE(reply, FRISBEE_INVALID_ARGUMENT);
    CHECK_TEXT(frisbee_reply_message(reply), "the name is empty");
    CHECK(frisbee_reply_data(reply).data == NULL);
    frisbee_reply_free(reply);

    reply = greet(client, "{\"nobody\":1}", NULL);
    CHECK_CODE(reply, FRISBEE_INVALID_ARGUMENT);
    CHECK(strstr(frisbee_reply_message(reply), "nobody") != NULL);
    CHECK(!frisbee_reply_may_have_run(reply));
    CHECK(frisbee_reply_read(reply, &outcome) == FRISBEE_INVALID_ARGUMENT && !outcome.may_have_run);
    CHECK(strstr(outcome.message, "nobody") != NULL && outcome.data.data == NULL);
    frisbee_reply_free(reply);

    reply = frisbee_client_call(client, "greet.Greeter/Meet", FRISBEE_JSON, "{}", 2, NULL);
    CHECK_CODE(reply, FRISBEE_UNIMPLEMENTED);
    CHECK(strstr(frisbee_reply_message(reply), "greet.Greeter/Greet") != NULL);
    frisbee_reply_free(reply);

    /* If the name is "sleep", the handler waits until the call is cancelled. */
    frisbee_call_options late = {.timeout_ms = 50};
    reply = greet(client, "{\"name\":\"sleep\"}", &late);
    CHECK_CODE(reply, FRISBEE_DEADLINE_EXCEEDED);
    frisbee_reply_free(reply);

    frisbee_metadata entries[] = {{"shout", "yes", 3}, {"raw-bin", "\0\1", 2}};
    frisbee_call_options loud = {.metadata = entries, .metadata_count = 2};
    reply = greet(client, "{\"name\":\"Ada\"}", &loud);
    CHECK_TEXT(frisbee_reply_data(reply).data, "{\"text\":\"Hello, Ada!\"}");
    frisbee_bytes value = frisbee_reply_metadata(reply, "shout");
    CHECK(value.len == 3 && memcmp(value.data, "yes", 3) == 0);
    value = frisbee_reply_metadata(reply, "raw-bin");
    CHECK(value.len == 2 && memcmp(value.data, "\0\1", 2) == 0);
    frisbee_metadata entry;
    CHECK(frisbee_reply_metadata_at(reply, 0, &entry) && frisbee_reply_metadata_at(reply, 1, &entry));
    CHECK(!frisbee_reply_metadata_at(reply, 2, &entry));
    frisbee_reply_free(reply);

    frisbee_cancel *cancel = NULL;
    CHECK_OK(frisbee_cancel_new(&cancel, &error), error);
    CHECK_OK(frisbee_cancel_fire(cancel, &error), error);
    frisbee_call_options cancelled = {.cancel = cancel};
    reply = greet(client, "{\"name\":\"sleep\"}", &cancelled);
    CHECK_CODE(reply, FRISBEE_CANCELLED);
    frisbee_reply_free(reply);
    CHECK(frisbee_cancel_free(cancel) == FRISBEE_OK);

    struct Done done = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, client};
    const char *json = "{\"name\":\"Eve\"}";
    for (int i = 0; i < 32; i++)
        CHECK_OK(frisbee_client_start(client, METHOD, FRISBEE_JSON, json, strlen(json), NULL, completed, &done, &error),
                 error);
    pthread_mutex_lock(&done.lock);
    while (done.count < 32)
        pthread_cond_wait(&done.changed, &done.lock);
    pthread_mutex_unlock(&done.lock);

    struct Done all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, client};
    CHECK_OK(frisbee_client_start(client, METHOD, FRISBEE_JSON, json, strlen(json), NULL, doubled, &all, &error), error);
    pthread_mutex_lock(&all.lock);
    while (all.count < 15)
        pthread_cond_wait(&all.changed, &all.lock);
    pthread_mutex_unlock(&all.lock);

    /* The client already has a schema, because it fetched one. */
    const char *proto = "syntax = \"proto3\"; message E {} service S { rpc F(E) returns (E); }";
    CHECK(frisbee_client_proto(client, proto, FRISBEE_CODEC_POLYGLOT, &error) == FRISBEE_FAILED_PRECONDITION);

    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    CHECK(frisbee_client_free(client) == FRISBEE_INVALID_ARGUMENT);
    puts("done");
    return 0;
}
