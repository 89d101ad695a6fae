/* The first calls of a client, made concurrently. The arguments are an address and the number of calls. */

#include <frisbee.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static atomic_int ended;

static void end(void *user, frisbee_reply *reply) {
    (void)user;
    CHECK_CODE(reply, FRISBEE_OK);
    frisbee_reply_free(reply);
    atomic_fetch_add(&ended, 1);
}

int main(int argc, char **argv) {
    frisbee_error error;
    frisbee_client *client = NULL;
    CHECK(argc == 3);
    alarm(100);
    CHECK_OK(frisbee_client_connect(argv[1], NULL, &client, &error), error);
    int calls = atoi(argv[2]);
    const char *name = "{\"name\":\"Ada\"}";
    for (int at = 0; at < calls; at++)
        CHECK(frisbee_client_start(client, "greet.Greeter/Greet", FRISBEE_JSON, name, strlen(name), NULL, end, NULL,
                                   NULL) == FRISBEE_OK);
    while (atomic_load(&ended) < calls)
        usleep(1000);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);

    /* Regression test: a call waited forever for the schema that a call of a queue was fetching. */
    frisbee_queue *queue = NULL;
    frisbee_event event;
    CHECK_OK(frisbee_client_connect(argv[1], NULL, &client, &error), error);
    CHECK_OK(frisbee_queue_new(&queue, &error), error);
    CHECK_OK(frisbee_client_submit(client, "greet.Greeter/Greet", FRISBEE_JSON, name, strlen(name), NULL, queue, NULL,
                                   &error), error);
    end(NULL, frisbee_client_call(client, "greet.Greeter/Greet", FRISBEE_JSON, name, strlen(name), NULL));
    CHECK_OK(frisbee_queue_next(queue, -1, &event, &error), error);
    end(NULL, event.reply);
    CHECK(frisbee_queue_free(queue) == FRISBEE_OK);
    CHECK(frisbee_client_free(client) == FRISBEE_OK);
    puts("done");
    return 0;
}
