/* Assertions for test programs: a failed one ends the program. */

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

#define CHECK_CODE(reply, expected)                                                                         \
    do {                                                                                                    \
        if (frisbee_reply_code(reply) != (expected)) {                                                      \
            fprintf(stderr, "%s:%d: code %d: %s\n", __FILE__, __LINE__, (int)frisbee_reply_code(reply),     \
                    frisbee_reply_message(reply));                                                          \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

#define CHECK_OK(call, error)                                                                    \
    do {                                                                                         \
        if ((call) != FRISBEE_OK) {                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (error).message);      \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                             \
    do {                                                                                         \
        const char *is = (actual);                                                               \
        if (strcmp(is, (expected)) != 0) {                                                       \
            fprintf(stderr, "%s:%d: %s, not %s\n", __FILE__, __LINE__, is, (expected));          \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)

#endif
