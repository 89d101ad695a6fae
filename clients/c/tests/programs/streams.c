/* Calls a calculator with all kinds of streams, with blocking functions and with a queue. The arguments are an address
 * and, optionally, the schema. */

#include <frisbee.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

static frisbee_error error;

static frisbee_stream *open(frisbee_client *client, const char *method, const char *json,
                            const frisbee_call_options *options) {
    frisbee_stream *stream = NULL;
    CHECK_OK(frisbee_client_open(client, method, FRISBEE_JSON, json, strlen(json), options, &stream, &error), error);
    return stream;
}

static void expect(frisbee_stream *stream, const char *json) {
    frisbee_reply *reply = frisbee_stream_next(stream);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK_TEXT(frisbee_reply_data(reply).data, json);
    frisbee_reply_free(reply);
}

/* Waits for an event with poll, as an event loop does, and takes it. */
static frisbee_event take(frisbee_queue *queue) {
    frisbee_event event;
    struct pollfd watched = {.fd = frisbee_queue_descriptor(queue), .events = POLLIN};
    while (frisbee_queue_next(queue, 0, &event, &error) != FRISBEE_OK) {
        CHECK(error.code == FRISBEE_DEADLINE_EXCEEDED);
        CHECK(poll(&watched, 1, 10000) == 1);
    }
    return event;
}

int main(int argc, char **argv) {
    frisbee_client *client = NULL;
    CHECK(argc >= 2);
    alarm(100);
    CHECK_OK(frisbee_client_connect(argv[1], NULL, &client, &error), error);
    if (argc > 2)
        CHECK_OK(frisbee_client_proto(client, argv[2], FRISBEE_CODEC_POLYGLOT, &error), error);

    frisbee_stream *stream = open(client, "quickstart.Calculator/CountUp", "{\"from\":5,\"count\":3}", NULL);
    expect(stream, "{\"value\":\"5\"}");
    expect(stream, "{\"value\":\"6\"}");
    expect(stream, "{\"value\":\"7\"}");
    CHECK(frisbee_stream_next(stream) == NULL && frisbee_stream_next(stream) == NULL);
    CHECK(frisbee_stream_free(stream) == FRISBEE_OK);

    stream = open(client, "SumUp", "", NULL);
    for (int i = 0; i < 100; i++)
        CHECK_OK(frisbee_stream_send(stream, "{\"value\":2}", 11, &error), error);
    CHECK(frisbee_stream_send(stream, "{\"values\":2}", 12, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK_OK(frisbee_stream_end(stream, &error), error);
    CHECK(frisbee_stream_send(stream, "{\"value\":2}", 11, &error) == FRISBEE_FAILED_PRECONDITION);
    expect(stream, "{\"total\":\"200\",\"count\":100}");
    CHECK(frisbee_stream_next(stream) == NULL);
    frisbee_stream_free(stream);

    stream = open(client, "RunningSum", "", NULL);
    CHECK_OK(frisbee_stream_send(stream, "{\"value\":2}", 11, &error), error);
    expect(stream, "{\"value\":\"2\"}");
    CHECK_OK(frisbee_stream_send(stream, "{\"value\":3}", 11, &error), error);
    expect(stream, "{\"value\":\"5\"}");
    CHECK_OK(frisbee_stream_end(stream, &error), error);
    CHECK(frisbee_stream_next(stream) == NULL);
    frisbee_stream_free(stream);

    /* One stream is cancelled by its token, and another by freeing it while it is open. */
    frisbee_cancel *cancel = NULL;
    CHECK_OK(frisbee_cancel_new(&cancel, &error), error);
    frisbee_call_options options = {.cancel = cancel};
    stream = open(client, "RunningSum", "", &options);
    CHECK_OK(frisbee_stream_send(stream, "{\"value\":2}", 11, &error), error);
    expect(stream, "{\"value\":\"2\"}");
    CHECK_OK(frisbee_cancel_fire(cancel, &error), error);
    frisbee_reply *reply = frisbee_stream_next(stream);
    CHECK_CODE(reply, FRISBEE_CANCELLED);
    CHECK(frisbee_reply_may_have_run(reply));
    frisbee_reply_free(reply);
    CHECK(frisbee_stream_next(stream) == NULL);
    frisbee_stream_free(stream);
    /* A call with a token that was already fired is not sent. Regression test: it was reported as possibly run. */
    stream = open(client, "RunningSum", "", &options);
    reply = frisbee_stream_next(stream);
    CHECK_CODE(reply, FRISBEE_CANCELLED);
    CHECK(!frisbee_reply_may_have_run(reply));
    frisbee_reply_free(reply);
    CHECK(frisbee_stream_next(stream) == NULL);
    frisbee_stream_free(stream);
    frisbee_cancel_free(cancel);
    stream = open(client, "RunningSum", "", NULL);
    frisbee_stream_free(stream);

    /* If the schema is known, errors are returned immediately. Regression test: the error text listed only the methods
     * of reflection and health. */
    CHECK(frisbee_client_open(client, "Nothing", FRISBEE_JSON, NULL, 0, NULL, &stream, &error) == FRISBEE_UNIMPLEMENTED);
    CHECK(strstr(error.message, "quickstart.Calculator/RunningSum") != NULL);

    /* An event loop with unary calls and a stream in flight. */
    frisbee_queue *queue = NULL;
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    int is_there[64] = {0};
    for (intptr_t i = 0; i < 64; i++)
        CHECK_OK(frisbee_client_submit(client, "Add", FRISBEE_JSON, "{\"a\":1,\"b\":2}", 13, NULL, queue, (void *)i,
                                       &error),
                 error);
    for (int i = 0; i < 64; i++) {
        frisbee_event event = take(queue);
        CHECK_CODE(event.reply, FRISBEE_OK);
        CHECK_TEXT(frisbee_reply_data(event.reply).data, "{\"value\":\"3\"}");
        frisbee_reply_free(event.reply);
        CHECK(is_there[(intptr_t)event.user]++ == 0);
    }
    CHECK(frisbee_queue_next(queue, 1, &(frisbee_event){0}, &error) == FRISBEE_DEADLINE_EXCEEDED);
    stream = open(client, "CountUp", "{\"count\":2}", NULL);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(frisbee_stream_submit_next(stream, queue, stream, &error), error);
        frisbee_event event;
        CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
        CHECK(event.user == stream && (event.reply == NULL) == (i == 2));
        frisbee_reply_free(event.reply);
    }
    frisbee_stream_free(stream);
    /* Regression test: until the event of a queue was taken, other callers waited for its reply and all later ones. */
    frisbee_event event;
    stream = open(client, "RunningSum", "", NULL);
    CHECK_OK(frisbee_stream_submit_next(stream, queue, stream, &error), error);
    CHECK_OK(frisbee_stream_send(stream, "{\"value\":2}", 11, &error), error);
    expect(stream, "{\"value\":\"2\"}");
    CHECK(frisbee_queue_next(queue, 0, &event, &error) == FRISBEE_DEADLINE_EXCEEDED);
    CHECK_OK(frisbee_stream_send(stream, "{\"value\":3}", 11, &error), error);
    CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
    CHECK_TEXT(frisbee_reply_data(event.reply).data, "{\"value\":\"5\"}");
    frisbee_reply_free(event.reply);
    CHECK_OK(frisbee_stream_submit_next(stream, queue, stream, &error), error);
    frisbee_stream_free(stream);
    CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
    CHECK_CODE(event.reply, FRISBEE_CANCELLED);
    frisbee_reply_free(event.reply);
    CHECK(frisbee_queue_free(queue) == FRISBEE_OK);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    puts("done");
    return 0;
}
