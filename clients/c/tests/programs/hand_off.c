/* A server hands off connections, in plaintext or with TLS: program [CERTIFICATE KEY]. */

#include <errno.h>
#include <frisbee.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static frisbee_error error;
/* The descriptors of the server, one for each hand-off. */
static int owned[2];
/* The descriptors that replaced functions receive. */
static int replaced[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void own(int32_t descriptor, frisbee_bytes early, void *user) {
    frisbee_client *client = *(frisbee_client **)user;
    frisbee_error inner;
    CHECK(early.len == 0);
    CHECK(frisbee_client_sync(client, &inner) == FRISBEE_FAILED_PRECONDITION);
    if (descriptor >= 0)
        CHECK(write(descriptor, "welcome", 7) == 7);
    CHECK(write(owned[1], &descriptor, sizeof descriptor) == sizeof descriptor);
}

static void replace(int32_t descriptor, frisbee_bytes early, void *user) {
    (void)early, (void)user;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    CHECK(write(replaced[1], &descriptor, sizeof descriptor) == sizeof descriptor);
}

static void open_raw(frisbee_call *call, void *user) {
    frisbee_error inner;
    bool fails = false;
    frisbee_call_bool(call, "fails", &fails);
    CHECK(frisbee_call_hand_off(call, NULL, user, &inner) == FRISBEE_INVALID_ARGUMENT);
    /* Regression test: a replaced function was called on the thread that replaced it, and could not take its locks. */
    pthread_mutex_lock(&lock);
    frisbee_code code = frisbee_call_hand_off(call, replace, NULL, &inner);
    if (code == FRISBEE_OK)
        code = frisbee_call_hand_off(call, own, user, &inner);
    pthread_mutex_unlock(&lock);
    if (code != FRISBEE_OK || fails)
        frisbee_call_fail(call, code == FRISBEE_OK ? FRISBEE_ABORTED : code, inner.message, NULL);
    else
        frisbee_call_reply_text(call, "granted", 7, NULL);
}

struct connection {
    int descriptor;
    char bytes[32];
    size_t len;
};

static void take(int32_t descriptor, frisbee_bytes early, void *user) {
    struct connection *taken = user;
    CHECK(descriptor >= 0 && early.len <= sizeof taken->bytes);
    taken->descriptor = descriptor;
    taken->len = early.len;
    if (early.len > 0)
        memcpy(taken->bytes, early.data, early.len);
}

static void read_whole(struct connection *from, const char *expected) {
    while (from->len < strlen(expected)) {
        const ssize_t count = read(from->descriptor, from->bytes + from->len, sizeof from->bytes - from->len);
        CHECK(count > 0 || (count < 0 && errno == EINTR));
        from->len += count > 0 ? (size_t)count : 0;
    }
    CHECK(from->len == strlen(expected) && memcmp(from->bytes, expected, from->len) == 0);
}

static int next_of(int pipe) {
    int descriptor;
    CHECK(read(pipe, &descriptor, sizeof descriptor) == sizeof descriptor);
    return descriptor;
}

static int next_owned(void) { return next_of(owned[0]); }

static void expect(frisbee_reply *reply, frisbee_code code) {
    CHECK_CODE(reply, code);
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
}

int main(int count, char **arguments) {
    frisbee_server *server = NULL;
    frisbee_client *client = NULL;
    struct connection mine = {.descriptor = -1}, theirs = {.len = 0};
    alarm(100);
    CHECK(pipe(owned) == 0 && pipe(replaced) == 0);
    frisbee_server_options serving = {0};
    frisbee_client_options calling = {0};
    if (count > 2) {
        serving.certificate = arguments[1];
        serving.key = arguments[2];
        calling.authorities = arguments[1];
        calling.server_name = "localhost";
    }
    CHECK_OK(frisbee_server_new("t.Proxy", &serving, &server, &error), error);
    CHECK_OK(frisbee_server_add(server, "open(bool fails) -> string", open_raw, &client, &error), error);
    CHECK_OK(frisbee_server_add(server, "other(bool fails) -> string", open_raw, &client, &error), error);
    CHECK_OK(frisbee_server_hand_off(server, "t.Proxy/open", &error), error);
    CHECK_OK(frisbee_server_start(server, "127.0.0.1:0", &error), error);
    CHECK_OK(frisbee_client_connect(frisbee_server_address(server), &calling, &client, &error), error);

    /* Declined hand-offs keep the connection. */
    expect(frisbee_client_call(client, "open", FRISBEE_JSON, "{}", 2, NULL), FRISBEE_FAILED_PRECONDITION);
    expect(frisbee_client_hand_off(client, "other", FRISBEE_JSON, "{}", 2, NULL, take, &mine), FRISBEE_UNIMPLEMENTED);
    const char *fails = "{\"fails\":true}";
    expect(frisbee_client_hand_off(client, "open", FRISBEE_JSON, fails, strlen(fails), NULL, take, &mine), FRISBEE_ABORTED);
    CHECK(next_owned() == -1 && next_of(replaced[0]) == -1 && mine.descriptor == -1);

    frisbee_reply *reply = frisbee_client_hand_off(client, "open", FRISBEE_JSON, "{}", 2, NULL, take, &mine);
    CHECK_CODE(reply, FRISBEE_OK);
    CHECK_TEXT((const char *)frisbee_reply_data(reply).data, "{\"result\":\"granted\"}");
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
    read_whole(&mine, "welcome");
    theirs.descriptor = next_owned();
    CHECK(write(mine.descriptor, "ping", 4) == 4);
    read_whole(&theirs, "ping");
    CHECK(close(mine.descriptor) == 0);
    CHECK(read(theirs.descriptor, theirs.bytes, 1) == 0 && close(theirs.descriptor) == 0);

    /* The next call opens another connection. */
    expect(frisbee_client_call(client, "open", FRISBEE_JSON, "{}", 2, NULL), FRISBEE_FAILED_PRECONDITION);

    /* Regression test: if the process had no more descriptors, the reply stated that the call had not run. */
    if (count > 2) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
        CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
        mine.descriptor = -1;
        reply = frisbee_client_hand_off(client, "open", FRISBEE_JSON, "{}", 2, NULL, take, &mine);
        CHECK(frisbee_reply_code(reply) != FRISBEE_OK && frisbee_reply_may_have_run(reply));
        CHECK(next_owned() == -1 && mine.descriptor == -1);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
    }
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    CHECK_OK(frisbee_server_stop(server, &error), error);
    CHECK(frisbee_server_free(server) == FRISBEE_OK);
    puts("done");
    return 0;
}
