/* Makes the first call of a client when the server never sends its schema. The argument is an address. */

#include <frisbee.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    frisbee_error error;
    frisbee_client *client = NULL;
    CHECK(argc == 2);
    alarm(100);
    CHECK_OK(frisbee_client_connect(argv[1], NULL, &client, &error), error);
    frisbee_call_options options = {.timeout_ms = 50};
    frisbee_reply *reply = frisbee_client_call(client, "sum", FRISBEE_JSON, "{}", 2, &options);
    CHECK_CODE(reply, FRISBEE_DEADLINE_EXCEEDED);
    CHECK(!frisbee_reply_may_have_run(reply));
    CHECK(frisbee_reply_free(reply) == FRISBEE_OK);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    puts("done");
    return 0;
}
