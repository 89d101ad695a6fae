/* frisbee: calls of frpc, and functions of C served. The guide is docs/c.md.
 *
 * Handles (`frisbee_client *` and others) are numbers in the form of pointers. A handle that is NULL, freed or of another
 * type is an error and not a crash, and so is NULL for an argument that may not be NULL: `FRISBEE_INVALID_ARGUMENT`, and
 * nothing is stored, unless a comment says otherwise. Other pointers to memory have to be valid, as in any C library. Text
 * is UTF-8 and ends with a NUL. `error` stays with the caller, and is written by failures only. After fork() only the
 * parent may use the library: in the child, functions that need its threads return `FRISBEE_FAILED_PRECONDITION`.
 *
 * Made from the sources by `UPDATE_GOLDEN=1 cargo test -p frpc-c header`. */

#ifndef FRISBEE_H
#define FRISBEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The version of the header. The library of the same major and minor version serves it.
#define FRISBEE_VERSION_MAJOR 0
#define FRISBEE_VERSION_MINOR 1
#define FRISBEE_VERSION_PATCH 0
#define FRISBEE_VERSION "0.1.0"

/// The result of a function or call: the status codes of gRPC.
typedef enum frisbee_code {
  /// Success.
  FRISBEE_OK = 0,
  /// The caller cancelled the call.
  FRISBEE_CANCELLED = 1,
  /// An error without a more precise code.
  FRISBEE_UNKNOWN = 2,
  /// An argument is wrong: of the call, or of the function of this library.
  FRISBEE_INVALID_ARGUMENT = 3,
  /// The deadline passed. The call may have run.
  FRISBEE_DEADLINE_EXCEEDED = 4,
  /// A named object does not exist.
  FRISBEE_NOT_FOUND = 5,
  /// The object exists already.
  FRISBEE_ALREADY_EXISTS = 6,
  /// The caller lacks the permission.
  FRISBEE_PERMISSION_DENIED = 7,
  /// A limit is reached.
  FRISBEE_RESOURCE_EXHAUSTED = 8,
  /// The state does not allow it, such as a blocking call in a callback.
  FRISBEE_FAILED_PRECONDITION = 9,
  /// A conflict ended the operation.
  FRISBEE_ABORTED = 10,
  /// A value is outside its range.
  FRISBEE_OUT_OF_RANGE = 11,
  /// The server has no such method.
  FRISBEE_UNIMPLEMENTED = 12,
  /// An internal error, also a panic that the library has caught.
  FRISBEE_INTERNAL = 13,
  /// There is no connection to the server.
  FRISBEE_UNAVAILABLE = 14,
  /// Data is lost.
  FRISBEE_DATA_LOSS = 15,
  /// The caller is not authenticated.
  FRISBEE_UNAUTHENTICATED = 16,
} frisbee_code;

/// The encoding of bytes that are passed to and from the library.
typedef enum frisbee_format {
  /// The bytes of the wire, unchanged and unchecked.
  FRISBEE_NATIVE = 0,
  /// JSON text, by the JSON mapping of proto3.
  FRISBEE_JSON = 1,
  /// The encoding of protobuf, which protobuf's own C++ messages have.
  FRISBEE_PROTOBUF = 2,
} frisbee_format;

/// The encoding of native messages of a service.
typedef enum frisbee_codec {
  /// Polyglot, field by field: the default of frpc, and the one of Go's fRPC.
  FRISBEE_CODEC_POLYGLOT = 0,
  /// Protobuf: services built with `Codec::Protobuf`.
  FRISBEE_CODEC_PROTOBUF = 1,
} frisbee_codec;

/// A call of a server: a handle, which the reply frees.
typedef struct frisbee_call frisbee_call;

/// A request to cancel calls, from any thread: a handle, which `frisbee_cancel_free` frees.
typedef struct frisbee_cancel frisbee_cancel;

/// A client of one server: a handle, which `frisbee_client_free` frees. It replaces its connection when that is lost.
typedef struct frisbee_client frisbee_client;

/// Completed calls: a handle, which `frisbee_queue_free` frees.
typedef struct frisbee_queue frisbee_queue;

/// The outcome of a call, or one message of a stream: a handle, which `frisbee_reply_free` frees.
typedef struct frisbee_reply frisbee_reply;

/// A server of functions: a handle, which `frisbee_server_free` frees.
typedef struct frisbee_server frisbee_server;

/// A call with streams: a handle, which `frisbee_stream_free` frees.
typedef struct frisbee_stream frisbee_stream;

/// A view of bytes, which belong to the object that returned it.
typedef struct frisbee_bytes {
  /// The first byte; NULL if there are none.
  const void *data;
  /// The number of bytes.
  size_t len;
} frisbee_bytes;

/// The parts of a reply. The pointers belong to the reply.
typedef struct frisbee_outcome {
  /// `FRISBEE_OK`, or the code of the failure.
  enum frisbee_code code;
  /// Whether a failed call may have run at the server. If not, it is safe to call again.
  bool may_have_run;
  /// The text of a failure; empty for success.
  const char *message;
  /// The message of a successful reply, as `frisbee_reply_data` returns it.
  struct frisbee_bytes data;
} frisbee_outcome;

/// One entry of metadata. Keys that end with `-bin` have bytes as values, all others text.
typedef struct frisbee_metadata {
  /// The key, in lower case.
  const char *key;
  /// The value.
  const void *value;
  /// The number of bytes of the value.
  size_t len;
} frisbee_metadata;

/// The settings of a client. Initialise it with `{0}`: each field has a default.
typedef struct frisbee_client_options {
  /// The deadline of unary calls in milliseconds; 0 for 30 s.
  uint64_t timeout_ms;
  /// The time to connect in milliseconds; 0 for the default.
  uint64_t connect_timeout_ms;
  /// The longest message in bytes; 0 for 5 MiB.
  uint32_t body_max;
  /// The certificates of authorities as PEM, for TLS; NULL for plain connections.
  const char *authorities;
  /// The certificate of the client as PEM; NULL for none.
  const char *certificate;
  /// The key of the certificate as PEM.
  const char *key;
  /// The name that the server has to have; NULL for the host of its address.
  const char *server_name;
  /// Has to be 0.
  uint64_t reserved[4];
} frisbee_client_options;

/// An error as a value: its code, and a text that ends with a NUL and is cut to the size of the array.
typedef struct frisbee_error {
  /// The code.
  enum frisbee_code code;
  /// The text.
  char message[508];
} frisbee_error;

/// The settings of a call. Initialise it with `{0}`: each field has a default.
typedef struct frisbee_call_options {
  /// The deadline in milliseconds; 0 for that of the client.
  uint64_t timeout_ms;
  /// The metadata of the request; copied.
  const struct frisbee_metadata *metadata;
  /// The number of entries.
  size_t metadata_count;
  /// Cancels the call when it is fired; NULL for none.
  struct frisbee_cancel *cancel;
  /// Has to be 0.
  uint64_t reserved[4];
} frisbee_call_options;

/// A function that gets the reply of a call, never NULL, which it has to free, and the `user` pointer of the call.
///
/// It runs in a thread of the library, where it must not block: functions that block return
/// `FRISBEE_FAILED_PRECONDITION`.
typedef void (*frisbee_completion)(void *user, struct frisbee_reply *reply);

/// A completed operation.
typedef struct frisbee_event {
  /// The pointer that was given with the operation.
  void *user;
  /// The reply, which `frisbee_reply_free` frees; NULL at the end of a stream.
  struct frisbee_reply *reply;
} frisbee_event;

/// The settings of a server. Initialise it with `{0}`: each field has a default.
typedef struct frisbee_server_options {
  /// The number of threads for connections; 0 for one for each core.
  uint32_t threads;
  /// The longest message in bytes; 0 for 5 MiB.
  uint32_t body_max;
  /// The time that calls in flight have when the server stops, in milliseconds; 0 for the default.
  uint64_t shutdown_timeout_ms;
  /// The certificate as PEM, for TLS; NULL for plain connections.
  const char *certificate;
  /// The key of the certificate as PEM.
  const char *key;
  /// The certificates of the authorities of clients as PEM; NULL if clients need no certificate.
  const char *client_authorities;
  /// Further names of the server for HTTP callers, the last one NULL; or NULL.
  const char *const *hosts;
  /// Origins of pages that may call, the last one NULL; or NULL.
  const char *const *origins;
  /// Whether the server serves native callers only, without JSON-RPC, HTTP, gRPC and WebSocket.
  bool is_native_only;
  /// Has to be 0.
  uint64_t reserved[4];
} frisbee_server_options;

/// A function that serves a method. It gets the call and the `user` pointer.
///
/// It replies to the call in the function or later, from any thread, exactly once. Functions of methods with one request and
/// one reply run in the thread of the connection and should return within a millisecond; a blocked thread is replaced
/// after 12 ms. Functions of methods with streams run in threads of their own and may block; a process has at most 512
/// of these, and further calls wait for one; a call that ends before does not run. Functions run in several threads at
/// once.
typedef void (*frisbee_function)(struct frisbee_call *call, void *user);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Stores the parts of a reply, and returns its code. It is `frisbee_reply_code`, `_message`, `_data` and
/// `_may_have_run` at once.
///
/// The pointers of the outcome belong to the reply. A reply that is NULL or freed has `FRISBEE_INVALID_ARGUMENT` and a
/// text. If `outcome` is NULL, nothing is stored, and that code is returned. Any thread may call it.
enum frisbee_code frisbee_reply_read(const struct frisbee_reply *reply,
                                     struct frisbee_outcome *outcome);

/// Returns the code of a reply: `FRISBEE_OK`, or that of the failure. The reply stays with the caller. NULL and freed
/// replies have `FRISBEE_INVALID_ARGUMENT`. Any thread may call it.
enum frisbee_code frisbee_reply_code(const struct frisbee_reply *reply);

/// Returns the text of a failure, and an empty text for success, never NULL. It belongs to the reply. NULL and freed
/// replies have a text that says so, which belongs to the library. Any thread may call it.
const char *frisbee_reply_message(const struct frisbee_reply *reply);

/// Returns the message of a successful reply in the format of the call. JSON text ends with a NUL, which `len` leaves
/// out. The bytes belong to the reply. Failures, NULL and freed replies have none. Any thread may call it.
struct frisbee_bytes frisbee_reply_data(const struct frisbee_reply *reply);

/// Returns the details of a failure, which are a `google.rpc.Status` in protobuf's encoding. They belong to the reply.
/// Success, NULL and freed replies have none. Any thread may call it.
struct frisbee_bytes frisbee_reply_details(const struct frisbee_reply *reply);

/// Returns whether a failed call may have run at the server. If not, it is safe to call again. The reply stays with the
/// caller. False for NULL and freed replies. Any thread may call it.
bool frisbee_reply_may_have_run(const struct frisbee_reply *reply);

/// Stores entry `index` of the metadata of a reply. Its pointers belong to the reply.
///
/// Returns false, and stores nothing, beyond the last entry, for a freed reply, and if `reply` or `entry` is NULL. Any
/// thread may call it.
bool frisbee_reply_metadata_at(const struct frisbee_reply *reply,
                               size_t index,
                               struct frisbee_metadata *entry);

/// Returns the value of a key in the metadata of a reply. It belongs to the reply; the key is only read. There are no
/// bytes without such an entry, for a freed reply, and if `reply` or `key` is NULL. Any thread may call it.
struct frisbee_bytes frisbee_reply_metadata(const struct frisbee_reply *reply,
                                            const char *key);

/// Frees a reply, and with it all pointers that it returned. NULL is allowed; a reply that is freed already is an
/// error.
///
/// Any thread may call it, while no other thread uses the pointers of the reply.
enum frisbee_code frisbee_reply_free(struct frisbee_reply *reply);

/// Connects to a server at `host:port` or `unix:/path`, and stores a client.
///
/// The texts and options are copied. The caller owns the client, which `frisbee_client_free` frees. Only `options`, for
/// the defaults, and `error` may be NULL. Any thread may call it, except in a completion callback; it blocks until the
/// connection is made or has failed.
enum frisbee_code frisbee_client_connect(const char *address,
                                         const struct frisbee_client_options *options,
                                         struct frisbee_client **client,
                                         struct frisbee_error *error);

/// Names the schema of the server by the text of a `.proto` file, in place of reflection: once, before the first call.
/// A client that has a schema returns `FRISBEE_FAILED_PRECONDITION`.
///
/// The text is copied; it may import the files of `google/protobuf`, `frpc/agent.proto` and `frpc/tensor.proto` only.
/// `codec` is a value of `frisbee_codec`. Only `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_client_proto(struct frisbee_client *client,
                                       const char *proto,
                                       int32_t codec,
                                       struct frisbee_error *error);

/// Frees a client. Calls and streams that were sent continue, and its connection closes when the last of them has ended;
/// calls that were not sent yet fail. NULL is allowed.
///
/// Any thread may call it, also while others make calls.
enum frisbee_code frisbee_client_free(struct frisbee_client *client);

/// Makes a unary call and waits for its end.
///
/// `method` is `pkg.Service/Method`, or `Method` if the server has only one of that name. `format` is a value of
/// `frisbee_format`, for the request and for the reply. The arguments are copied. Returns a reply, also if the call has
/// failed, and never NULL. The caller owns it, and `frisbee_reply_free` frees it. Only `options`, for the defaults, and
/// the `data` of no bytes may be NULL. Any thread may call it, except in a completion callback.
struct frisbee_reply *frisbee_client_call(struct frisbee_client *client,
                                          const char *method,
                                          int32_t format,
                                          const void *data,
                                          size_t len,
                                          const struct frisbee_call_options *options);

/// Begins a unary call, and returns at once. `completion` gets the reply, exactly once, unless this function returns an
/// error.
///
/// The arguments are those of `frisbee_client_call`, and copied. `user` is only passed on: it stays with the caller,
/// and has to be valid until `completion` gets it. Only `options`, `error`, `user` and the `data` of no bytes may be
/// NULL. Any thread may call it.
enum frisbee_code frisbee_client_start(struct frisbee_client *client,
                                       const char *method,
                                       int32_t format,
                                       const void *data,
                                       size_t len,
                                       const struct frisbee_call_options *options,
                                       frisbee_completion completion,
                                       void *user,
                                       struct frisbee_error *error);

/// Makes a request to cancel, and stores it. The caller owns it, and `frisbee_cancel_free` frees it. Only `error` may
/// be NULL. Any thread may call it.
enum frisbee_code frisbee_cancel_new(struct frisbee_cancel **cancel,
                                     struct frisbee_error *error);

/// Cancels all calls with this request, present and future ones. They end with `FRISBEE_CANCELLED`, and their handlers
/// at the server end. The request stays with the caller. Only `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_cancel_fire(struct frisbee_cancel *cancel,
                                      struct frisbee_error *error);

/// Frees a request to cancel. Calls that have it continue. NULL is allowed. Any thread may call it.
enum frisbee_code frisbee_cancel_free(struct frisbee_cancel *cancel);

/// Opens a call with streams, and stores it. It does not wait: errors of the call come as a reply.
///
/// The arguments are those of `frisbee_client_call`, and copied. `data` is the request of a method that takes one, and
/// has to be empty for a method that takes a stream. The caller owns the stream, which `frisbee_stream_free` frees.
/// Only `options`, `error` and the `data` of no bytes may be NULL. Any thread may call it.
enum frisbee_code frisbee_client_open(struct frisbee_client *client,
                                      const char *method,
                                      int32_t format,
                                      const void *data,
                                      size_t len,
                                      const struct frisbee_call_options *options,
                                      struct frisbee_stream **stream,
                                      struct frisbee_error *error);

/// Sends a request of a stream. It waits while the server takes no more.
///
/// The bytes are copied. Only `error` and the `data` of no bytes may be NULL. Any thread may call it, except in a
/// completion callback; requests of one thread stay in order.
enum frisbee_code frisbee_stream_send(struct frisbee_stream *stream,
                                      const void *data,
                                      size_t len,
                                      struct frisbee_error *error);

/// Ends the requests of a stream. Replies continue, and the stream stays with the caller. Only `error` may be NULL. Any
/// thread may call it.
enum frisbee_code frisbee_stream_end(struct frisbee_stream *stream,
                                     struct frisbee_error *error);

/// Waits for the next reply of a stream: one with `FRISBEE_OK` and a message, or the failure that ends the stream.
/// Returns NULL after the last one, and only then. The caller owns the reply, which `frisbee_reply_free` frees. A
/// stream that is NULL or freed is a reply with `FRISBEE_INVALID_ARGUMENT`.
///
/// Any thread may call it, except in a completion callback; each reply goes to one of them.
struct frisbee_reply *frisbee_stream_next(struct frisbee_stream *stream);

/// As `frisbee_stream_next`, without waiting: the reply goes to a queue, with `user` in its event. The event after the
/// last reply has NULL.
///
/// `user` is only passed on, and stays with the caller, as the stream and the queue do. Only `user` and `error` may be
/// NULL. Any thread may call it.
enum frisbee_code frisbee_stream_submit_next(struct frisbee_stream *stream,
                                             struct frisbee_queue *queue,
                                             void *user,
                                             struct frisbee_error *error);

/// Frees a stream, and cancels the call if it has not ended. Replies that were received stay. NULL is allowed.
///
/// Any thread may call it; a thread that waits for a reply gets `FRISBEE_CANCELLED`.
enum frisbee_code frisbee_stream_free(struct frisbee_stream *stream);

/// Makes a queue, and stores it. The caller owns it, and `frisbee_queue_free` frees it. Only `error` may be NULL. Any
/// thread may call it.
enum frisbee_code frisbee_queue_new(struct frisbee_queue **queue,
                                    struct frisbee_error *error);

/// Returns a descriptor for poll, epoll or kqueue, or -1 for NULL and freed queues. It is readable while there may be
/// events: take events until there are none, then wait for it. It belongs to the queue; do not read from it or close
/// it. Any thread may call it.
int32_t frisbee_queue_descriptor(struct frisbee_queue *queue);

/// Takes an event. Waits for one up to `timeout_ms` milliseconds: 0 does not wait, and a negative time waits without
/// end. Returns `FRISBEE_OK`, or `FRISBEE_DEADLINE_EXCEEDED` without an event.
///
/// The caller owns the reply of the event, which `frisbee_reply_free` frees. Only `error` may be NULL. Any number of
/// threads may call it, but in a completion callback only without waiting.
enum frisbee_code frisbee_queue_next(struct frisbee_queue *queue,
                                     int64_t timeout_ms,
                                     struct frisbee_event *event,
                                     struct frisbee_error *error);

/// Frees a queue. Its operations are cancelled, without events; replies that were taken stay. NULL is allowed.
///
/// Any thread may call it; threads that wait in `frisbee_queue_next` continue to wait, and the operations end with the
/// last of them.
enum frisbee_code frisbee_queue_free(struct frisbee_queue *queue);

/// Begins a unary call whose reply goes to a queue, with `user` in its event.
///
/// The arguments are those of `frisbee_client_call`, and copied. `user` is only passed on, and stays with the caller.
/// Only `options`, `error`, `user` and the `data` of no bytes may be NULL. Any thread may call it.
enum frisbee_code frisbee_client_submit(struct frisbee_client *client,
                                        const char *method,
                                        int32_t format,
                                        const void *data,
                                        size_t len,
                                        const struct frisbee_call_options *options,
                                        struct frisbee_queue *queue,
                                        void *user,
                                        struct frisbee_error *error);

/// Makes a server, and stores it. The caller owns it, and `frisbee_server_free` frees it.
///
/// `service` is the full name of the service of functions with signatures, such as `calc.Calculator`. The server has
/// all protocols: native, JSON-RPC over TCP, WebSocket and HTTP, Connect, gRPC and gRPC-Web, with reflection and
/// health. The texts and options are copied. Only `options`, for the defaults, and `error` may be NULL. Any thread may
/// call it.
enum frisbee_code frisbee_server_new(const char *service,
                                     const struct frisbee_server_options *options,
                                     struct frisbee_server **server,
                                     struct frisbee_error *error);

/// Adds a function by its signature, such as `sum(int64 a, int64 b) -> int64`, before the server starts. Types are
/// those of protobuf, with `optional` and `repeated`.
///
/// The order of functions is part of the schema: add new ones at the end. The signature is copied. `user` stays with
/// the caller, and has to be valid until the server has stopped. Only `user` and `error` may be NULL. Any thread may
/// call it.
enum frisbee_code frisbee_server_add(struct frisbee_server *server,
                                     const char *signature,
                                     frisbee_function function,
                                     void *user,
                                     struct frisbee_error *error);

/// Adds the schema of further services by the text of a `.proto` file, before the server starts. `codec` is a value of
/// `frisbee_codec`. `frisbee_server_handle` adds the functions of its methods.
///
/// Methods of the first schema have operations from 10 on, those of further schemas and of signatures from the next
/// multiple of 100 on: callers learn them by reflection. The text is copied. Only `error` may be NULL. Any thread may
/// call it.
enum frisbee_code frisbee_server_proto(struct frisbee_server *server,
                                       const char *proto,
                                       int32_t codec,
                                       struct frisbee_error *error);

/// Adds the function of a method in a schema of `frisbee_server_proto`, such as `greet.Greeter/Greet`, after its schema and
/// before the server starts.
///
/// The name is copied. `user` stays with the caller, and has to be valid until the server has stopped. Only `user` and
/// `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_server_handle(struct frisbee_server *server,
                                        const char *method,
                                        frisbee_function function,
                                        void *user,
                                        struct frisbee_error *error);

/// Binds `host:port` or `unix:/path`, and serves in threads of the library. The address is copied.
///
/// After an error the server cannot be started again, and still has to be freed. Only `error` may be NULL. Any thread
/// may call it, except in a completion callback.
enum frisbee_code frisbee_server_start(struct frisbee_server *server,
                                       const char *address,
                                       struct frisbee_error *error);

/// Returns the address that the server has bound, with its port; an empty text before, and for NULL and freed servers.
/// It belongs to the server. Any thread may call it.
const char *frisbee_server_address(struct frisbee_server *server);

/// Binds as `frisbee_server_start`, and serves until SIGINT, SIGTERM, or `frisbee_server_stop` in another thread. Calls
/// in flight end before it returns. The server stays with the caller.
///
/// The address is copied. Only `error` may be NULL: its text then goes to standard error. Any thread may call it,
/// except in a completion callback.
enum frisbee_code frisbee_server_run(struct frisbee_server *server,
                                     const char *address,
                                     struct frisbee_error *error);

/// Stops a server: no new calls begin, and calls in flight have the shutdown timeout to end. Returns when it has
/// stopped and all its functions have returned, also those whose calls have ended before. The server stays with the
/// caller, and still has to be freed. Only `error` may be NULL. Any thread may call it, also at the end of the process in
/// functions of `atexit` and destructors, except functions of servers and completion callbacks.
enum frisbee_code frisbee_server_stop(struct frisbee_server *server,
                                      struct frisbee_error *error);

/// Frees a server. One that serves stops without waiting, so its functions and their `user` pointers may still be in
/// use: call `frisbee_server_stop` before. NULL is allowed. Any thread may call it.
enum frisbee_code frisbee_server_free(struct frisbee_server *server);

/// Returns the request of a call in a format, a value of `frisbee_format`; of a stream, the latest request. JSON text
/// ends with a NUL, which `len` leaves out.
///
/// The bytes belong to the call: they are valid until its reply, and those of a stream until the next request. Only
/// `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_data(struct frisbee_call *call,
                                    int32_t format,
                                    struct frisbee_bytes *data,
                                    struct frisbee_error *error);

/// Returns the value of a key in the metadata of the request. It belongs to the call; the key is only read. There are
/// no bytes without such an entry, for a freed call, and if `call` or `key` is NULL. Any thread may call it.
struct frisbee_bytes frisbee_call_metadata(struct frisbee_call *call,
                                           const char *key);

/// Returns the address of the caller; an empty text for callers without one, and for NULL and freed calls. It belongs
/// to the call. Any thread may call it.
const char *frisbee_call_remote(struct frisbee_call *call);

/// Returns the milliseconds that the caller waited for a reply when the call came; `UINT64_MAX` without a deadline, and
/// 0 for NULL and freed calls. The call stays with its function. Any thread may call it.
uint64_t frisbee_call_timeout_ms(struct frisbee_call *call);

/// Returns whether the call has ended without its reply: it was cancelled, its deadline passed, or the caller is gone.
/// It still has to be replied to, which frees it. True for NULL and freed calls. Any thread may call it.
bool frisbee_call_is_cancelled(struct frisbee_call *call);

/// Adds an entry to the metadata of the reply. The key and value are copied. Calls whose replies are a stream have
/// none. Only `error` and the `value` of no bytes may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_reply_metadata(struct frisbee_call *call,
                                              const char *key,
                                              const void *value,
                                              size_t len,
                                              struct frisbee_error *error);

/// Replies with a message in a format, and frees the call. The bytes are copied.
///
/// If the message is invalid the call stays, and needs another reply. `FRISBEE_CANCELLED` means that the caller is
/// gone; the call is freed. Only `error` and the `data` of no bytes may be NULL. Any thread may call it, at any time:
/// in the function or later.
enum frisbee_code frisbee_call_reply(struct frisbee_call *call,
                                     int32_t format,
                                     const void *data,
                                     size_t len,
                                     struct frisbee_error *error);

/// Ends a call with a failure, and frees it. `code` is a value of `frisbee_code` other than `FRISBEE_OK`; the text is
/// copied, and NULL is an empty one. Only `message` and `error` may be NULL. Any thread may call it, at any time, and
/// it does not wait. It ends streams too.
enum frisbee_code frisbee_call_fail(struct frisbee_call *call,
                                    int32_t code,
                                    const char *message,
                                    struct frisbee_error *error);

/// Waits for the next request of a call that takes a stream. Returns `FRISBEE_OK` with a request, which
/// `frisbee_call_data` and the functions for parameters read, and `FRISBEE_OUT_OF_RANGE` after the last one. A request
/// that cannot be read, and a stream that is cut off, have other codes: then that error replaces the reply of the
/// function.
///
/// The request belongs to the call, and replaces the one before. Only `error` may be NULL. One thread at a time may
/// call it, except in a completion callback.
enum frisbee_code frisbee_call_next(struct frisbee_call *call,
                                    struct frisbee_error *error);

/// Sends one reply of a stream. It waits while the caller takes no more. The bytes are copied.
///
/// `FRISBEE_CANCELLED` means that the caller is gone; finish the call then. Only `error` and the `data` of no bytes may
/// be NULL. Any thread may call it, except in a completion callback.
enum frisbee_code frisbee_call_send(struct frisbee_call *call,
                                    int32_t format,
                                    const void *data,
                                    size_t len,
                                    struct frisbee_error *error);

/// Ends a stream of replies, and frees the call. `FRISBEE_CANCELLED` means that the caller is gone. Only `error` may be
/// NULL. Any thread may call it, at any time.
enum frisbee_code frisbee_call_finish(struct frisbee_call *call,
                                      struct frisbee_error *error);

/// Stores an integer parameter, and 0 if that fails. `name` is the name of the parameter, or its index in digits; it is
/// only read. Parameters that are not optional and absent have their default.
///
/// Returns `FRISBEE_NOT_FOUND` for an absent optional parameter. No argument may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_i64(struct frisbee_call *call,
                                   const char *name,
                                   int64_t *value);

/// As `frisbee_call_i64`, for an integer from 0 on, such as a `uint64` above `INT64_MAX`. No argument may be NULL. Any
/// thread may call it.
enum frisbee_code frisbee_call_u64(struct frisbee_call *call,
                                   const char *name,
                                   uint64_t *value);

/// As `frisbee_call_i64`, for a number with a fraction, or an integer. No argument may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_f64(struct frisbee_call *call,
                                   const char *name,
                                   double *value);

/// As `frisbee_call_i64`, for a truth value. No argument may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_bool(struct frisbee_call *call, const char *name, bool *value);

/// As `frisbee_call_i64`, for a text or bytes. They belong to the call until its reply, those of a stream until the
/// next request, and do not end with a NUL. No argument may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_text(struct frisbee_call *call,
                                    const char *name,
                                    struct frisbee_bytes *value);

/// Replies with the only field of the reply, an integer, and frees the call. Otherwise as `frisbee_call_reply`. Only
/// `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_reply_i64(struct frisbee_call *call,
                                         int64_t value,
                                         struct frisbee_error *error);

/// As `frisbee_call_reply_i64`, for an integer from 0 on, such as a `uint64` above `INT64_MAX`. Only `error` may be NULL.
/// Any thread may call it.
enum frisbee_code frisbee_call_reply_u64(struct frisbee_call *call,
                                         uint64_t value,
                                         struct frisbee_error *error);

/// As `frisbee_call_reply_i64`, for a number with a fraction. Only `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_reply_f64(struct frisbee_call *call,
                                         double value,
                                         struct frisbee_error *error);

/// As `frisbee_call_reply_i64`, for a truth value. Only `error` may be NULL. Any thread may call it.
enum frisbee_code frisbee_call_reply_bool(struct frisbee_call *call,
                                          bool value,
                                          struct frisbee_error *error);

/// As `frisbee_call_reply_i64`, for a text or bytes, which are copied. Only `error` and the `data` of no bytes may be
/// NULL. Any thread may call it.
enum frisbee_code frisbee_call_reply_text(struct frisbee_call *call,
                                          const void *data,
                                          size_t len,
                                          struct frisbee_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FRISBEE_H */
