/* Serves sum natively and through the gateway, until Ctrl-C: sum_server 127.0.0.1:8545
 *
 *     curl http://127.0.0.1:8545/calc.Calculator/sum -H 'content-type: application/json' -d '{"a": 2, "b": 3}' */

#include <frisbee.h>

static void sum(frisbee_call *call, void *user) {
    (void)user;
    int64_t a, b;
    frisbee_call_i64(call, "a", &a);
    frisbee_call_i64(call, "b", &b);
    frisbee_call_reply_i64(call, a + b, NULL);
}

int main(int argc, char **argv) {
    frisbee_server *server = NULL;
    frisbee_server_new("calc.Calculator", NULL, &server, NULL);
    frisbee_server_add(server, "sum(int64 a, int64 b) -> int64", sum, NULL, NULL);
    return frisbee_server_run(server, argc > 1 ? argv[1] : "127.0.0.1:8545", NULL);
}
