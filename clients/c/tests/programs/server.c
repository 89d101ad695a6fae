/* Serves functions with signatures, and a schema with calls of all kinds, until the end of standard input. The argument
 * is the schema. */

#include <frisbee.h>
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void sum(frisbee_call *call, void *user) {
    int64_t a, b;
    CHECK(user == NULL);
    CHECK(frisbee_call_i64(call, "a", &a) == FRISBEE_OK && frisbee_call_i64(call, "1", &b) == FRISBEE_OK);
    frisbee_call_reply_i64(call, a + b, NULL);
}

/* Reads one parameter of each type, and an optional one. */
static void describe(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    frisbee_bytes name;
    double size;
    bool is_red;
    int64_t age = -1;
    CHECK(frisbee_call_text(call, "name", &name) == FRISBEE_OK);
    CHECK(frisbee_call_f64(call, "size", &size) == FRISBEE_OK);
    CHECK(frisbee_call_bool(call, "is_red", &is_red) == FRISBEE_OK);
    frisbee_code has_age = frisbee_call_i64(call, "age", &age);
    CHECK(has_age == FRISBEE_OK || (has_age == FRISBEE_NOT_FOUND && age == 0));
    CHECK(frisbee_call_i64(call, "nobody", &age) == FRISBEE_NOT_FOUND);
    CHECK(frisbee_call_i64(call, "9", &age) == FRISBEE_NOT_FOUND);
    CHECK(frisbee_call_i64(call, "name", &age) == FRISBEE_INVALID_ARGUMENT);
    CHECK(frisbee_call_timeout_ms(call) > 0 && frisbee_call_remote(call)[0] != '\0');
    if (name.len == 0) {
        CHECK_OK(frisbee_call_reply_metadata(call, "hint", "use a name", 10, &error), error);
        CHECK_OK(frisbee_call_fail(call, FRISBEE_NOT_FOUND, "the name is empty", &error), error);
        return;
    }
    char text[128];
    int len = snprintf(text, sizeof text, "%.*s %.1f %d %s", (int)name.len, (const char *)name.data, size, is_red,
                       has_age == FRISBEE_OK ? "aged" : "ageless");
    /* A reply of the wrong type is rejected. The call still needs a reply. */
    CHECK(frisbee_call_reply_i64(call, 1, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK_OK(frisbee_call_reply_text(call, text, (size_t)len, &error), error);
    CHECK(frisbee_call_reply_text(call, text, (size_t)len, &error) == FRISBEE_INVALID_ARGUMENT);
}

static void *answer_later(void *of) {
    frisbee_call *call = of;
    usleep(10000);
    sum(call, NULL);
    return NULL;
}

/* Replies from another thread, after the function has returned. */
static void later(frisbee_call *call, void *user) {
    (void)user;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, answer_later, call) == 0);
    pthread_detach(thread);
}

/* Replies with JSON and metadata. */
static void add(frisbee_call *call, void *user) {
    frisbee_error error;
    frisbee_bytes json;
    CHECK_TEXT(user, "the user");
    CHECK_OK(frisbee_call_data(call, FRISBEE_JSON, &json, &error), error);
    CHECK(((const char *)json.data)[json.len] == '\0');
    frisbee_bytes mood = frisbee_call_metadata(call, "mood");
    CHECK_OK(frisbee_call_reply_metadata(call, "mood", mood.data, mood.len, &error), error);
    int64_t a, b;
    frisbee_call_i64(call, "a", &a);
    frisbee_call_i64(call, "b", &b);
    char text[64];
    snprintf(text, sizeof text, "{\"value\":\"%" PRId64 "\"}", a + b);
    CHECK(frisbee_call_reply(call, FRISBEE_JSON, "{\"values\":1}", 12, &error) == FRISBEE_INVALID_ARGUMENT);
    CHECK_OK(frisbee_call_reply(call, FRISBEE_JSON, text, strlen(text), &error), error);
}

static void send_number(frisbee_call *call, int64_t value) {
    char text[64];
    snprintf(text, sizeof text, "{\"value\":\"%" PRId64 "\"}", value);
    /* The result is ignored, because sending fails if the caller has disconnected. */
    frisbee_call_send(call, FRISBEE_JSON, text, strlen(text), NULL);
}

/* Finishes a call, whose caller may have disconnected. */
static void expect_finished(frisbee_call *call) {
    frisbee_code finished = frisbee_call_finish(call, NULL);
    CHECK(finished == FRISBEE_OK || finished == FRISBEE_CANCELLED);
}

static void count_up(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    int64_t from, count;
    frisbee_call_i64(call, "from", &from);
    frisbee_call_i64(call, "count", &count);
    CHECK(frisbee_call_reply(call, FRISBEE_JSON, "{}", 2, &error) == FRISBEE_FAILED_PRECONDITION);
    for (int64_t at = 0; at < count && !frisbee_call_is_cancelled(call); at++)
        send_number(call, from + at);
    if (count == 0) {
        CHECK_OK(frisbee_call_fail(call, FRISBEE_INVALID_ARGUMENT, "count is 0", &error), error);
        return;
    }
    expect_finished(call);
}

static void sum_up(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    int64_t total = 0, count = 0, value;
    while (frisbee_call_next(call, &error) == FRISBEE_OK) {
        frisbee_call_i64(call, "value", &value);
        total += value;
        count++;
    }
    CHECK(error.code == FRISBEE_OUT_OF_RANGE);
    char text[64];
    snprintf(text, sizeof text, "{\"total\":\"%" PRId64 "\",\"count\":%" PRId64 "}", total, count);
    CHECK_OK(frisbee_call_reply(call, FRISBEE_JSON, text, strlen(text), &error), error);
}

static void running_sum(frisbee_call *call, void *user) {
    (void)user;
    frisbee_error error;
    int64_t total = 0, value;
    while (frisbee_call_next(call, &error) == FRISBEE_OK) {
        frisbee_call_i64(call, "value", &value);
        send_number(call, total += value);
    }
    expect_finished(call);
}

int main(int argc, char **argv) {
    frisbee_error error;
    frisbee_server *server = NULL;
    CHECK(argc == 2);
    CHECK_OK(frisbee_server_new("calc.Functions", NULL, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "sum(int64 a, int64 b) -> int64", sum, NULL, &error), error);
    CHECK_OK(frisbee_server_add(server, "later(int64 a, int64 b) -> int64", later, NULL, &error), error);
    CHECK_OK(frisbee_server_add(server, "describe(string name, double size, bool is_red, optional int32 age) -> string",
                                describe, NULL, &error),
             error);
    CHECK(frisbee_server_add(server, "sum(int64 a) -> int64", sum, NULL, &error) == FRISBEE_ALREADY_EXISTS);
    CHECK_OK(frisbee_server_proto(server, argv[1], FRISBEE_CODEC_POLYGLOT, &error), error);
    CHECK_OK(frisbee_server_handle(server, "quickstart.Calculator/Add", add, "the user", &error), error);
    CHECK_OK(frisbee_server_handle(server, "quickstart.Calculator/CountUp", count_up, NULL, &error), error);
    CHECK_OK(frisbee_server_handle(server, "quickstart.Calculator/SumUp", sum_up, NULL, &error), error);
    CHECK_OK(frisbee_server_handle(server, "quickstart.Calculator/RunningSum", running_sum, NULL, &error), error);
    CHECK_TEXT(frisbee_server_address(server), "");
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK(frisbee_server_start(server, "127.0.0.1:0", &error) == FRISBEE_FAILED_PRECONDITION);
    puts(frisbee_server_address(server));
    fflush(stdout);
    char end;
    while (read(0, &end, 1) > 0) {
    }
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    puts("done");
    return 0;
}
