/* Calls sum: sum_client 127.0.0.1:8545 2 3 */

#include <frisbee.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: sum_client ADDRESS A B\n");
        return 2;
    }
    frisbee_client *client = NULL;
    frisbee_error error;
    if (frisbee_client_connect(argv[1], NULL, &client, &error) != FRISBEE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    char json[128];
    snprintf(json, sizeof json, "{\"a\": \"%s\", \"b\": \"%s\"}", argv[2], argv[3]);
    frisbee_call_options options = {.timeout_ms = 500};
    frisbee_reply *reply = frisbee_client_call(client, "calc.Calculator/sum", FRISBEE_JSON, json, strlen(json), &options);
    frisbee_outcome outcome;
    int failed = frisbee_reply_read(reply, &outcome) != FRISBEE_OK;
    if (failed)
        fprintf(stderr, "%s\n", outcome.message);
    else
        puts(outcome.data.data);
    frisbee_reply_free(reply);
    frisbee_client_free(client);
    return failed;
}
