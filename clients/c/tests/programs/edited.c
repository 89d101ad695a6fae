/* Calls a streaming method with another version of its schema, and prints the replies. The arguments are an address, the
 * schema, the method, and its requests as JSON. */

#include <frisbee.h>

#include "check.h"

int main(int argc, char **argv) {
    frisbee_error error;
    frisbee_client *client = NULL;
    frisbee_stream *stream = NULL;
    frisbee_reply *reply;
    CHECK(argc > 4);
    CHECK_OK(frisbee_client_connect(argv[1], NULL, &client, &error), error);
    CHECK_OK(frisbee_client_proto(client, argv[2], FRISBEE_CODEC_POLYGLOT, &error), error);
    CHECK_OK(frisbee_client_open(client, argv[3], FRISBEE_JSON, "", 0, NULL, &stream, &error), error);
    for (int at = 4; at < argc; at++)
        CHECK_OK(frisbee_stream_send(stream, argv[at], strlen(argv[at]), &error), error);
    CHECK_OK(frisbee_stream_end(stream, &error), error);
    while ((reply = frisbee_stream_next(stream)) != NULL) {
        CHECK_CODE(reply, FRISBEE_OK);
        puts(frisbee_reply_data(reply).data);
        frisbee_reply_free(reply);
    }
    frisbee_stream_free(stream);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    return 0;
}
