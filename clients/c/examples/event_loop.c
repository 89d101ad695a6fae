/* Makes 100 concurrent calls of `sum` and receives the replies in an event loop with poll(): event_loop
 * 127.0.0.1:8545 */

#include <frisbee.h>
#include <poll.h>
#include <stdio.h>

enum { CALLS = 100 };

static int refused(const frisbee_error *error) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(int argc, char **argv) {
    frisbee_client *client = NULL;
    frisbee_queue *queue = NULL;
    frisbee_error error;
    if (argc != 2 || frisbee_client_connect(argv[1], NULL, &client, &error) != FRISBEE_OK)
        return argc == 2 ? refused(&error) : 2;
    if (frisbee_queue_new(&queue, &error) != FRISBEE_OK)
        return refused(&error);
    for (int i = 0; i < CALLS; i++) {
        char json[64];
        int len = snprintf(json, sizeof json, "{\"a\": %d, \"b\": 1}", i);
        if (frisbee_client_submit(client, "sum", FRISBEE_JSON, json, (size_t)len, NULL, queue, NULL, &error) != FRISBEE_OK)
            return refused(&error);
    }
    struct pollfd watched = {.fd = frisbee_queue_descriptor(queue), .events = POLLIN};
    int failures = 0;
    for (int done = 0; done < CALLS && poll(&watched, 1, -1) > 0;) {
        frisbee_event event;
        while (frisbee_queue_next(queue, 0, &event, NULL) == FRISBEE_OK) {
            failures += frisbee_reply_code(event.reply) != FRISBEE_OK;
            frisbee_reply_free(event.reply);
            done++;
        }
    }
    printf("%d calls, %d failures\n", CALLS, failures);
    frisbee_queue_free(queue);
    frisbee_client_free(client);
    return failures != 0;
}
