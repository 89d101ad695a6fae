/* frisbee: an frpc client and server for C. The guide is docs/c.md.
 *
 * Handles such as `frisbee_client *` are numbers in the form of pointers. Passing a handle that is NULL, freed or of
 * another type does not crash: the function returns `FRISBEE_INVALID_ARGUMENT`. It does the same for any other argument
 * that is NULL but must not be. In both cases it stores no results, unless documented otherwise. All other pointers
 * must be valid, as in any C library. Text is UTF-8 and ends with a NUL. `error` stays with the caller, and is written
 * only on failure.
 *
 * After fork(), only the parent may use the library. In the child, functions that need threads of the library return
 * `FRISBEE_FAILED_PRECONDITION`.
 *
 * Generated from the sources by `UPDATE_GOLDEN=1 cargo test -p frpc-c header`. */

#ifndef FRISBEE_H
#define FRISBEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Version of the header. The header is compatible with libraries that have the same major and minor version.
#define FRISBEE_VERSION_MAJOR 0
#define FRISBEE_VERSION_MINOR 1
#define FRISBEE_VERSION_PATCH 0
#define FRISBEE_VERSION "0.1.0"

/// Status code of a function or a call. The numbers are those of gRPC.
typedef enum frisbee_code {
  /// Success.
  FRISBEE_OK = 0,
  /// The call was cancelled by its caller.
  FRISBEE_CANCELLED = 1,
  /// An error for which no other code applies.
  FRISBEE_UNKNOWN = 2,
  /// An argument of the call or of the function is invalid.
  FRISBEE_INVALID_ARGUMENT = 3,
  /// The deadline passed before the call completed. The server may have run the call.
  FRISBEE_DEADLINE_EXCEEDED = 4,
  /// The requested object does not exist.
  FRISBEE_NOT_FOUND = 5,
  /// The object to create already exists.
  FRISBEE_ALREADY_EXISTS = 6,
  /// The caller does not have permission.
  FRISBEE_PERMISSION_DENIED = 7,
  /// A resource is exhausted, such as a limit on calls or memory.
  FRISBEE_RESOURCE_EXHAUSTED = 8,
  /// The current state does not allow the operation, such as a blocking call within a callback.
  FRISBEE_FAILED_PRECONDITION = 9,
  /// The operation was aborted, for example because of a conflict.
  FRISBEE_ABORTED = 10,
  /// A value is outside the valid range.
  FRISBEE_OUT_OF_RANGE = 11,
  /// The server does not implement the method.
  FRISBEE_UNIMPLEMENTED = 12,
  /// An internal error, including a panic caught by the library.
  FRISBEE_INTERNAL = 13,
  /// The server is unreachable, or the connection was lost.
  FRISBEE_UNAVAILABLE = 14,
  /// Data was lost.
  FRISBEE_DATA_LOSS = 15,
  /// The caller did not provide valid credentials.
  FRISBEE_UNAUTHENTICATED = 16,
} frisbee_code;

/// Encoding of messages that are passed to and from the library.
typedef enum frisbee_format {
  /// The encoding used on the wire. The bytes are neither converted nor validated.
  FRISBEE_NATIVE = 0,
  /// JSON text in the JSON mapping of proto3.
  FRISBEE_JSON = 1,
  /// The encoding of protobuf, as used by the C++ classes that protoc generates.
  FRISBEE_PROTOBUF = 2,
} frisbee_format;

/// Encoding that a service uses for messages on the wire.
typedef enum frisbee_codec {
  /// The Polyglot encoding, which is the default of frpc and is also used by fRPC for Go.
  FRISBEE_CODEC_POLYGLOT = 0,
  /// The encoding of protobuf, for services built with `Codec::Protobuf`.
  FRISBEE_CODEC_PROTOBUF = 1,
} frisbee_codec;

/// A call that a server function has received. The handle is freed by replying to the call.
typedef struct frisbee_call frisbee_call;

/// A token that cancels calls. The handle is freed by `frisbee_cancel_free`.
typedef struct frisbee_cancel frisbee_cancel;

/// A client of one server. Lost connections are replaced. The handle is freed by `frisbee_client_free`.
typedef struct frisbee_client frisbee_client;

/// A connection that receives packets. The library frees the handle when the connection has ended.
typedef struct frisbee_connection frisbee_connection;

/// A queue of completed calls. The handle is freed by `frisbee_queue_free`.
typedef struct frisbee_queue frisbee_queue;

/// The outcome of a call, or a message of a stream. The handle is freed by `frisbee_reply_free`.
typedef struct frisbee_reply frisbee_reply;

/// A server whose methods are C functions. The handle is freed by `frisbee_server_free`.
typedef struct frisbee_server frisbee_server;

/// A streaming call. The handle is freed by `frisbee_stream_free`.
typedef struct frisbee_stream frisbee_stream;

/// Pointer and length of bytes that belong to the object which returned them.
typedef struct frisbee_bytes {
  /// Pointer to the first byte, or NULL if there are no bytes.
  const void *data;
  /// Number of bytes at the pointer.
  size_t len;
} frisbee_bytes;

/// The parts of a reply. All pointers belong to the reply.
typedef struct frisbee_outcome {
  /// `FRISBEE_OK`, or the status code of the failure.
  enum frisbee_code code;
  /// Whether a failed call may have run on the server. If false, retrying the call is safe.
  bool may_have_run;
  /// Error text of a failed call. Empty on success.
  const char *message;
  /// Message of a successful reply, as returned by `frisbee_reply_data`.
  struct frisbee_bytes data;
} frisbee_outcome;

/// A metadata entry. Values of keys that end with `-bin` are binary, all others are text.
typedef struct frisbee_metadata {
  /// Key of the entry in lower case.
  const char *key;
  /// Value of the entry.
  const void *value;
  /// Length of the value in bytes.
  size_t len;
} frisbee_metadata;

/// A received packet.
typedef struct frisbee_packet {
  /// Id of the packet. A reply usually has the id of its request.
  uint16_t id;
  /// Operation of the packet, which the sender has chosen.
  uint16_t operation;
  /// Body of the packet.
  struct frisbee_bytes data;
} frisbee_packet;

/// A function that receives the packets of connections, with the `user` pointer.
///
/// The packets of a connection arrive in the order in which they were sent. Those of several connections arrive
/// concurrently. When a connection has ended, `packet` is NULL, and afterwards the handle of the connection is freed. A
/// packet and its bytes are valid until the function returns.
///
/// The function runs on a thread of the library and must not block. Within it, blocking functions of the library return
/// `FRISBEE_FAILED_PRECONDITION`.
typedef void (*frisbee_packet_function)(struct frisbee_connection *connection,
                                        const struct frisbee_packet *packet,
                                        void *user);

/// Settings of a client. Initialise the struct with `{0}` to use the defaults.
typedef struct frisbee_client_options {
  /// Timeout of unary calls in milliseconds. 0 selects 30 s.
  uint64_t timeout_ms;
  /// Timeout for connecting in milliseconds. 0 selects the default.
  uint64_t connect_timeout_ms;
  /// Maximum length of a message in bytes. 0 selects 5 MiB.
  uint32_t body_max;
  /// PEM certificates of the authorities that may sign the server's certificate. Setting them enables TLS, and NULL
  /// selects plaintext connections.
  const char *authorities;
  /// PEM certificate that the client presents to the server, or NULL for none.
  const char *certificate;
  /// PEM private key of the certificate.
  const char *key;
  /// Name to verify against the server's certificate, or NULL for the host of the server's address.
  const char *server_name;
  /// Function that receives packets of the server, or NULL for none. It is not called after the client was freed,
  /// unless the client was freed within a callback.
  frisbee_packet_function packets;
  /// The `user` pointer of `packets`.
  void *packets_user;
  /// First and last operation of the packets.
  uint16_t packets_operations[2];
  /// Must be 0.
  uint64_t reserved[1];
} frisbee_client_options;

/// Code and text of an error. The text ends with a NUL and is truncated to the size of the array.
typedef struct frisbee_error {
  /// Status code of the error.
  enum frisbee_code code;
  /// Error text.
  char message[508];
} frisbee_error;

/// Settings of a call. Initialise the struct with `{0}` to use the defaults.
typedef struct frisbee_call_options {
  /// Timeout of the call in milliseconds. 0 selects the timeout of the client.
  uint64_t timeout_ms;
  /// Metadata entries of the request. The library copies them.
  const struct frisbee_metadata *metadata;
  /// Number of metadata entries.
  size_t metadata_count;
  /// Token that cancels the call, or NULL for none.
  struct frisbee_cancel *cancel;
  /// Must be 0.
  uint64_t reserved[4];
} frisbee_call_options;

/// A completion callback. It receives the reply of a call and the `user` pointer of the call. The reply is never NULL,
/// and the callback must free it.
///
/// The callback runs on a thread of the library and must not block. Within it, blocking functions of the library return
/// `FRISBEE_FAILED_PRECONDITION`.
typedef void (*frisbee_completion)(void *user, struct frisbee_reply *reply);

/// A completed operation, as returned by a queue.
typedef struct frisbee_event {
  /// The `user` pointer that was passed when the operation was started.
  void *user;
  /// Reply of the operation, or NULL at the end of a stream. The caller must free it with `frisbee_reply_free`.
  struct frisbee_reply *reply;
} frisbee_event;

/// Settings of a server. Initialise the struct with `{0}` to use the defaults.
typedef struct frisbee_server_options {
  /// Number of threads that drive connections. 0 selects one per core.
  uint32_t threads;
  /// Maximum length of a message in bytes. 0 selects 5 MiB.
  uint32_t body_max;
  /// Maximum time in milliseconds for which a stopping server waits for calls in flight. 0 selects the default.
  uint64_t shutdown_timeout_ms;
  /// PEM certificate of the server. Setting it enables TLS, and NULL selects plaintext connections.
  const char *certificate;
  /// PEM private key of the certificate.
  const char *key;
  /// PEM certificates of the authorities that may sign client certificates, or NULL if clients need none.
  const char *client_authorities;
  /// Additional host names that HTTP callers may use, terminated by NULL, or NULL for none.
  const char *const *hosts;
  /// Origins of web pages that may make calls, terminated by NULL, or NULL for none.
  const char *const *origins;
  /// Whether to accept only native frpc callers, and reject JSON-RPC, HTTP, gRPC and WebSocket.
  bool is_native_only;
  /// Must be 0.
  uint64_t reserved[4];
} frisbee_server_options;

/// A function that serves a method. It receives the call and the `user` pointer.
///
/// It must reply to the call exactly once, during the function or later, from any thread. Functions run concurrently on
/// several threads.
///
/// Functions of unary methods run on the connection's thread and should return within a millisecond; a blocked thread
/// is replaced after 12 ms, but the connection continues only when the function returns. If a client of the same
/// process uses this connection, the function cannot wait for it: `FRISBEE_FAILED_PRECONDITION` is returned instead.
/// Use `frisbee_client_start`, another client or another thread. Connections of Unix sockets are not recognized: there,
/// the function waits until the timeout, and forever without one.
///
/// Functions of streaming methods run on their own threads and may block. A process has at most 512 of these threads.
/// Further calls wait for a free thread. A call that ends while it waits does not run.
typedef void (*frisbee_function)(struct frisbee_call *call, void *user);

/// A function that receives the descriptor of a connection after a hand-off, with the `user` pointer.
///
/// It owns the descriptor, which is blocking, and must close it. `early` are the bytes that precede those of the
/// descriptor, because the library has already read them. They are valid until the function returns. The connection of
/// a TLS peer is the end of a pair of sockets, and the library encrypts and decrypts its bytes.
typedef void (*frisbee_hand_off_function)(int32_t descriptor, struct frisbee_bytes early, void *user);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Stores the parts of a reply in `outcome`, and returns the code of the reply. Combines `frisbee_reply_code`,
/// `_message`, `_data` and `_may_have_run`.
///
/// The pointers in `outcome` belong to the reply. A NULL or freed reply has the code `FRISBEE_INVALID_ARGUMENT` and an
/// error text. If `outcome` is NULL, stores nothing and returns `FRISBEE_INVALID_ARGUMENT`. May be called from any
/// thread.
enum frisbee_code frisbee_reply_read(const struct frisbee_reply *reply,
                                     struct frisbee_outcome *outcome);

/// Returns the status code of a reply, which is `FRISBEE_OK` on success. The reply stays with the caller. Returns
/// `FRISBEE_INVALID_ARGUMENT` for NULL and freed replies. May be called from any thread.
enum frisbee_code frisbee_reply_code(const struct frisbee_reply *reply);

/// Returns the text of a failure, or an empty text on success. Never returns NULL. The text belongs to the reply. For
/// NULL and freed replies, returns an error text that belongs to the library. May be called from any thread.
const char *frisbee_reply_message(const struct frisbee_reply *reply);

/// Returns the message of a successful reply in the format of the call. JSON text ends with a NUL, which is not
/// included in `len`. The bytes belong to the reply. Returns no bytes for failures, NULL and freed replies. May be
/// called from any thread.
struct frisbee_bytes frisbee_reply_data(const struct frisbee_reply *reply);

/// Returns the details of a failure, which are usually a protobuf-encoded `google.rpc.Status`. The bytes belong to the
/// reply. Returns no bytes on success, and for NULL and freed replies. May be called from any thread.
struct frisbee_bytes frisbee_reply_details(const struct frisbee_reply *reply);

/// Returns whether a failed call may have run on the server. If it returns false, retrying the call is safe. The reply
/// stays with the caller. Returns false for NULL and freed replies. May be called from any thread.
bool frisbee_reply_may_have_run(const struct frisbee_reply *reply);

/// Stores the metadata entry of a reply at `index`. The pointers in the entry belong to the reply.
///
/// Returns false and stores nothing if `index` is out of range, for a freed reply, and if `reply` or `entry` is NULL.
/// May be called from any thread.
bool frisbee_reply_metadata_at(const struct frisbee_reply *reply,
                               size_t index,
                               struct frisbee_metadata *entry);

/// Returns the value of a key in the metadata of a reply. The value belongs to the reply. The key is only read during
/// the call. Returns no bytes if there is no such entry, for a freed reply, and if `reply` or `key` is NULL. May be
/// called from any thread.
struct frisbee_bytes frisbee_reply_metadata(const struct frisbee_reply *reply,
                                            const char *key);

/// Frees a reply. All pointers obtained from the reply become invalid. NULL is allowed. Freeing a reply twice returns
/// an error.
///
/// May be called from any thread, provided that no other thread uses the reply's pointers.
enum frisbee_code frisbee_reply_free(struct frisbee_reply *reply);

/// Connects to a server at `host:port` or `unix:/path`, and stores a client.
///
/// The texts and options are copied. The caller owns the client and must free it with `frisbee_client_free`. Only
/// `error` and `options` may be NULL; without `options`, the defaults apply. Blocks until the connection is established
/// or has failed. May be called from any thread, but not in a completion callback.
enum frisbee_code frisbee_client_connect(const char *address,
                                         const struct frisbee_client_options *options,
                                         struct frisbee_client **client,
                                         struct frisbee_error *error);

/// Sets the schema of the server from the text of a `.proto` file, so that the client does not fetch the schema by
/// reflection. Must be called before the first call. Returns `FRISBEE_FAILED_PRECONDITION` if the client already has a
/// schema.
///
/// The text is copied. It may only import the files of `google/protobuf`, `frpc/agent.proto` and `frpc/tensor.proto`.
/// `codec` is a value of `frisbee_codec`. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_client_proto(struct frisbee_client *client,
                                       const char *proto,
                                       int32_t codec,
                                       struct frisbee_error *error);

/// Frees a client. Calls and streams in progress continue, and the connection closes when the last of them has ended.
/// Unsent calls fail. NULL is allowed. Waits for a running function that receives packets, but not in a callback.
///
/// May be called from any thread, even while other threads make calls.
enum frisbee_code frisbee_client_free(struct frisbee_client *client);

/// Makes a unary call and waits for its reply.
///
/// `method` is `pkg.Service/Method`, or `Method` if the name is unique on the server. `format` is a value of
/// `frisbee_format` and applies to request and reply. The arguments are copied. Returns a reply, even if the call
/// failed, and never NULL. The caller owns it and must free it with `frisbee_reply_free`. Only `options`, and `data` if
/// `len` is 0, may be NULL. Without `options`, the defaults apply. May be called from any thread, but not in a
/// completion callback.
struct frisbee_reply *frisbee_client_call(struct frisbee_client *client,
                                          const char *method,
                                          int32_t format,
                                          const void *data,
                                          size_t len,
                                          const struct frisbee_call_options *options);

/// Starts a unary call without waiting for its reply. `completion` receives the reply exactly once, unless this
/// function returns an error.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `user` is passed to `completion` unchanged. It
/// stays with the caller and must stay valid until `completion` receives it. Only `options`, `error`, `user`, and
/// `data` if `len` is 0, may be NULL. May be called from any thread.
enum frisbee_code frisbee_client_start(struct frisbee_client *client,
                                       const char *method,
                                       int32_t format,
                                       const void *data,
                                       size_t len,
                                       const struct frisbee_call_options *options,
                                       frisbee_completion completion,
                                       void *user,
                                       struct frisbee_error *error);

/// Creates a cancellation token and stores its handle. The caller owns it and must free it with `frisbee_cancel_free`.
/// Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_cancel_new(struct frisbee_cancel **cancel,
                                     struct frisbee_error *error);

/// Cancels all current and future calls that use this token. These calls end with `FRISBEE_CANCELLED`, and the server
/// cancels their handlers. The token stays with the caller. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_cancel_fire(struct frisbee_cancel *cancel,
                                      struct frisbee_error *error);

/// Frees a cancellation token without cancelling its calls. NULL is allowed. May be called from any thread.
enum frisbee_code frisbee_cancel_free(struct frisbee_cancel *cancel);

/// Opens a streaming call, and stores its handle. Does not block. Errors of the call are returned later, as a reply of
/// the stream.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `data` is the request of a method with a single
/// request, and must be empty for a method that receives a stream. The caller owns the stream and must free it with
/// `frisbee_stream_free`. Only `options`, `error`, and `data` if `len` is 0, may be NULL. May be called from any
/// thread.
enum frisbee_code frisbee_client_open(struct frisbee_client *client,
                                      const char *method,
                                      int32_t format,
                                      const void *data,
                                      size_t len,
                                      const struct frisbee_call_options *options,
                                      struct frisbee_stream **stream,
                                      struct frisbee_error *error);

/// Sends a request on a stream. Blocks while the server does not accept more.
///
/// The bytes are copied. Only `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, but not in
/// a completion callback. Requests of one thread stay in order.
enum frisbee_code frisbee_stream_send(struct frisbee_stream *stream,
                                      const void *data,
                                      size_t len,
                                      struct frisbee_error *error);

/// Ends the requests of a stream. Replies can still be received, and the stream stays with the caller. Only `error` may
/// be NULL. May be called from any thread.
enum frisbee_code frisbee_stream_end(struct frisbee_stream *stream,
                                     struct frisbee_error *error);

/// Waits for the next reply of a stream and returns it. The reply has `FRISBEE_OK` and a message, or describes the
/// failure that ended the stream. Returns NULL after the last reply. The caller owns the reply and must free it with
/// `frisbee_reply_free`. For a NULL or freed stream, returns a reply with `FRISBEE_INVALID_ARGUMENT`.
///
/// May be called from any thread, but not in a completion callback. Each reply is returned to one caller.
struct frisbee_reply *frisbee_stream_next(struct frisbee_stream *stream);

/// Like `frisbee_stream_next`, but does not wait. The reply is added to a queue when it arrives, with `user` in its
/// event. The event after the last reply has no reply (NULL). If several callers wait for replies of the stream, any of
/// them receives the next one.
///
/// `user` is returned unchanged. `user`, the stream and the queue stay with the caller. Only `user` and `error` may be
/// NULL. May be called from any thread.
enum frisbee_code frisbee_stream_submit_next(struct frisbee_stream *stream,
                                             struct frisbee_queue *queue,
                                             void *user,
                                             struct frisbee_error *error);

/// Frees a stream, and cancels the call if it has not ended. Replies already received stay valid. NULL is allowed.
///
/// May be called from any thread. Threads waiting for a reply receive `FRISBEE_CANCELLED`.
enum frisbee_code frisbee_stream_free(struct frisbee_stream *stream);

/// Creates a queue and stores its handle. The caller owns it and must free it with `frisbee_queue_free`. Only `error`
/// may be NULL. May be called from any thread.
enum frisbee_code frisbee_queue_new(struct frisbee_queue **queue,
                                    struct frisbee_error *error);

/// Returns a descriptor for poll, epoll or kqueue, or -1 for NULL and freed queues. The descriptor is readable while
/// there may be events. Take events until there are none, and then wait for the descriptor. It belongs to the queue and
/// must not be read or closed. May be called from any thread.
int32_t frisbee_queue_descriptor(struct frisbee_queue *queue);

/// Takes an event from a queue. Waits up to `timeout_ms` milliseconds for an event. 0 does not wait, and a negative
/// timeout waits indefinitely. Returns `FRISBEE_OK`, or `FRISBEE_DEADLINE_EXCEEDED` if there is no event.
///
/// The caller owns the event's reply and must free it with `frisbee_reply_free`. Only `error` may be NULL. May be
/// called from any number of threads. In a completion callback, `timeout_ms` must be 0. Returns
/// `FRISBEE_FAILED_PRECONDITION` if it would wait in the function of a unary method that the connections of all
/// operations are waiting for.
enum frisbee_code frisbee_queue_next(struct frisbee_queue *queue,
                                     int64_t timeout_ms,
                                     struct frisbee_event *event,
                                     struct frisbee_error *error);

/// Frees a queue. Operations in progress are cancelled and produce no events. Replies already taken stay valid. NULL is
/// allowed.
///
/// May be called from any thread. If threads are waiting in `frisbee_queue_next`, they continue to wait, and the
/// operations are cancelled when the last of them returns.
enum frisbee_code frisbee_queue_free(struct frisbee_queue *queue);

/// Starts a unary call. Its reply is added to a queue, with `user` in the event.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `user` is returned unchanged and stays with the
/// caller. Only `options`, `error`, `user`, and `data` if `len` is 0, may be NULL. May be called from any thread.
enum frisbee_code frisbee_client_submit(struct frisbee_client *client,
                                        const char *method,
                                        int32_t format,
                                        const void *data,
                                        size_t len,
                                        const struct frisbee_call_options *options,
                                        struct frisbee_queue *queue,
                                        void *user,
                                        struct frisbee_error *error);

/// Creates a server, and stores its handle. The caller owns the server and must free it with `frisbee_server_free`.
///
/// `service` is the full name of the service for functions with signatures, such as `calc.Calculator`. The server has
/// reflection and health. Unless `is_native_only` is set, it accepts JSON-RPC over TCP, WebSocket and HTTP, Connect,
/// gRPC and gRPC-Web in addition to native calls. The texts and options are copied. Only `error` and `options` may be
/// NULL; without `options`, the defaults apply. May be called from any thread.
enum frisbee_code frisbee_server_new(const char *service,
                                     const struct frisbee_server_options *options,
                                     struct frisbee_server **server,
                                     struct frisbee_error *error);

/// Adds a function with a signature such as `sum(int64 a, int64 b) -> int64`. The server must not have started.
/// Signatures use the types of protobuf, with `optional` and `repeated`. Returns `FRISBEE_ALREADY_EXISTS` if the name
/// has a function, or a schema of the server declares the service named in `frisbee_server_new`.
///
/// The order of functions is part of the schema, so new functions must be added at the end. The signature is copied.
/// `user` stays with the caller and must be valid until the server has stopped. Only `user` and `error` may be NULL.
/// May be called from any thread.
enum frisbee_code frisbee_server_add(struct frisbee_server *server,
                                     const char *signature,
                                     frisbee_function function,
                                     void *user,
                                     struct frisbee_error *error);

/// Adds the schema of further services from the text of a `.proto` file. The server must not have started. `codec` is a
/// value of `frisbee_codec`. `frisbee_server_handle` adds the functions that serve the methods. Returns
/// `FRISBEE_ALREADY_EXISTS` if the server has a service of the same name, from a schema or from signatures.
///
/// Methods of the first schema have operations from 10 on. Those of further schemas and of signatures start at the next
/// multiple of 100. Callers can discover the schema by reflection. The text is copied. Only `error` may be NULL. May be
/// called from any thread.
enum frisbee_code frisbee_server_proto(struct frisbee_server *server,
                                       const char *proto,
                                       int32_t codec,
                                       struct frisbee_error *error);

/// Adds the function that serves a method such as `greet.Greeter/Greet`. The schema of the method must have been added
/// with `frisbee_server_proto`, and the server must not have started.
///
/// The name is copied. `user` stays with the caller and must be valid until the server has stopped. Only `user` and
/// `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_server_handle(struct frisbee_server *server,
                                        const char *method,
                                        frisbee_function function,
                                        void *user,
                                        struct frisbee_error *error);

/// Binds `host:port` or `unix:/path`, and starts serving on threads of the library. The address is copied.
///
/// After an error, the server cannot be started again and must still be freed. Only `error` may be NULL. May be called
/// from any thread, but not in callbacks: there, it returns `FRISBEE_FAILED_PRECONDITION`, and the server can still be
/// started.
enum frisbee_code frisbee_server_start(struct frisbee_server *server,
                                       const char *address,
                                       struct frisbee_error *error);

/// Returns the bound address of the server, including its port. The text belongs to the server. Returns an empty text
/// before the server has started, and for NULL and freed servers. May be called from any thread.
const char *frisbee_server_address(struct frisbee_server *server);

/// Binds an address like `frisbee_server_start`, and serves until the process receives SIGINT or SIGTERM or another
/// thread calls `frisbee_server_stop`. Returns after calls in flight have ended. The server stays with the caller.
///
/// The address is copied. Only `error` may be NULL, in which case the error text is printed to standard error. May be
/// called from any thread, but not in functions of servers or callbacks: there, it returns
/// `FRISBEE_FAILED_PRECONDITION`, and the server can still be started.
enum frisbee_code frisbee_server_run(struct frisbee_server *server,
                                     const char *address,
                                     struct frisbee_error *error);

/// Stops a server. New calls are rejected, and calls in flight may continue until the shutdown timeout. Returns when
/// the server has stopped and all its functions have returned, including those whose calls ended earlier. The server
/// stays with the caller and must still be freed. Only `error` may be NULL. May be called from any thread, including
/// functions of `atexit` and destructors at the end of the process, but not in functions of servers or completion
/// callbacks.
enum frisbee_code frisbee_server_stop(struct frisbee_server *server,
                                      struct frisbee_error *error);

/// Frees a server. A running server stops asynchronously, so its functions may still use their `user` pointers; call
/// `frisbee_server_stop` first to wait for them. NULL is allowed. May be called from any thread.
enum frisbee_code frisbee_server_free(struct frisbee_server *server);

/// Stores the request of a call in `data`, in a format of `frisbee_format`. For a stream of requests, stores the last
/// one received. JSON text ends with a NUL, which is not included in `len`.
///
/// The bytes belong to the call. They are valid until the call is replied to, and in a stream until the next request.
/// Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_data(struct frisbee_call *call,
                                    int32_t format,
                                    struct frisbee_bytes *data,
                                    struct frisbee_error *error);

/// Returns the value of a key in the metadata of the request. The value belongs to the call. The key is only read
/// during the call of this function. Returns no bytes if there is no such entry, if the call was freed, or if `call` or
/// `key` is NULL. May be called from any thread.
struct frisbee_bytes frisbee_call_metadata(struct frisbee_call *call,
                                           const char *key);

/// Returns the remote address of the caller. The text belongs to the call. It is empty if the transport has no address,
/// and for NULL and freed calls. May be called from any thread.
const char *frisbee_call_remote(struct frisbee_call *call);

/// Returns the time in milliseconds that the caller allowed for the call, as of its arrival. Returns `UINT64_MAX` if
/// the call has no deadline, and 0 for NULL and freed calls. The call stays valid. May be called from any thread.
uint64_t frisbee_call_timeout_ms(struct frisbee_call *call);

/// Returns whether the call has ended without a reply, because the caller cancelled it or disconnected, or because its
/// deadline passed. The function must still reply, because this frees the call. Returns true for NULL and freed calls.
/// May be called from any thread.
bool frisbee_call_is_cancelled(struct frisbee_call *call);

/// Adds an entry to the metadata of the reply. The key and value are copied. Not supported for calls that reply with a
/// stream. Only `error`, and `value` if `len` is 0, may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_reply_metadata(struct frisbee_call *call,
                                              const char *key,
                                              const void *value,
                                              size_t len,
                                              struct frisbee_error *error);

/// Replies with a message in a format of `frisbee_format`, and frees the call. The bytes are copied.
///
/// If the message is invalid, the call stays open and needs another reply. Returns `FRISBEE_CANCELLED` if the caller
/// has cancelled the call or disconnected, or if the deadline has passed. The call is freed in this case too. Only
/// `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, during the function or later.
enum frisbee_code frisbee_call_reply(struct frisbee_call *call,
                                     int32_t format,
                                     const void *data,
                                     size_t len,
                                     struct frisbee_error *error);

/// Ends a call with a failure, and frees it. `code` is a value of `frisbee_code` other than `FRISBEE_OK`. The text is
/// copied. NULL stands for an empty text. Only `message` and `error` may be NULL. Does not block. May be called from
/// any thread, during the function or later, and for streams too.
enum frisbee_code frisbee_call_fail(struct frisbee_call *call,
                                    int32_t code,
                                    const char *message,
                                    struct frisbee_error *error);

/// Waits for the next request of a call that receives a stream. Returns `FRISBEE_OK` when a request has arrived;
/// `frisbee_call_data` and the parameter functions then read this request. Returns `FRISBEE_OUT_OF_RANGE` after the
/// last request. Returns another code if the request is invalid or the stream was aborted. The caller then receives
/// that error instead of the function's reply.
///
/// The request belongs to the call. It replaces the previous request. Only `error` may be NULL. May be called from one
/// thread at a time, but not in a completion callback. Returns `FRISBEE_FAILED_PRECONDITION` if it would wait in the
/// function of a unary method that the call's connection is waiting for.
enum frisbee_code frisbee_call_next(struct frisbee_call *call,
                                    struct frisbee_error *error);

/// Sends a message on a reply stream. Blocks while the caller does not accept more. The bytes are copied.
///
/// Returns `FRISBEE_CANCELLED` if the caller has cancelled the call or disconnected, or if the deadline has passed. The
/// function should then finish the call. Returns `FRISBEE_FAILED_PRECONDITION` if it would block in the function of a
/// unary method that the call's connection is waiting for. `error` may be NULL, and `data` if `len` is 0. May be called
/// from any thread, but not in a completion callback.
enum frisbee_code frisbee_call_send(struct frisbee_call *call,
                                    int32_t format,
                                    const void *data,
                                    size_t len,
                                    struct frisbee_error *error);

/// Ends a reply stream, and frees the call. Returns `FRISBEE_CANCELLED` if the caller has cancelled the call or
/// disconnected, or if the deadline has passed. The call is freed in this case too. Only `error` may be NULL. May be
/// called from any thread, during the function or later.
enum frisbee_code frisbee_call_finish(struct frisbee_call *call,
                                      struct frisbee_error *error);

/// Stores the value of an integer parameter, or 0 on failure. `name` is the name of the parameter, or its index in
/// digits, and is only read. An absent parameter has its default value unless it is optional.
///
/// Returns `FRISBEE_NOT_FOUND` for an absent optional parameter. No argument may be NULL. May be called from any
/// thread.
enum frisbee_code frisbee_call_i64(struct frisbee_call *call,
                                   const char *name,
                                   int64_t *value);

/// Like `frisbee_call_i64`, but reads a non-negative integer, such as a `uint64` above `INT64_MAX`. `name` is only
/// read. No argument may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_u64(struct frisbee_call *call,
                                   const char *name,
                                   uint64_t *value);

/// Like `frisbee_call_i64`, but reads a floating-point number or an integer. `name` is only read. No argument may be
/// NULL. May be called from any thread.
enum frisbee_code frisbee_call_f64(struct frisbee_call *call,
                                   const char *name,
                                   double *value);

/// Like `frisbee_call_i64`, but reads a boolean. `name` is only read. No argument may be NULL. May be called from any
/// thread.
enum frisbee_code frisbee_call_bool(struct frisbee_call *call,
                                    const char *name,
                                    bool *value);

/// Like `frisbee_call_i64`, but reads text or bytes. They belong to the call, and are valid until the call is replied
/// to, or in a stream until the next request. They do not end with a NUL. No argument may be NULL. May be called from
/// any thread.
enum frisbee_code frisbee_call_text(struct frisbee_call *call,
                                    const char *name,
                                    struct frisbee_bytes *value);

/// Replies to a call with an integer, and frees the call. The reply message must have a single field, which receives
/// the integer. Otherwise like `frisbee_call_reply`. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_reply_i64(struct frisbee_call *call,
                                         int64_t value,
                                         struct frisbee_error *error);

/// Like `frisbee_call_reply_i64`, but replies with a non-negative integer, such as a `uint64` above `INT64_MAX`. Frees
/// the call. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_reply_u64(struct frisbee_call *call,
                                         uint64_t value,
                                         struct frisbee_error *error);

/// Like `frisbee_call_reply_i64`, but replies with a floating-point number. Frees the call. Only `error` may be NULL.
/// May be called from any thread.
enum frisbee_code frisbee_call_reply_f64(struct frisbee_call *call,
                                         double value,
                                         struct frisbee_error *error);

/// Like `frisbee_call_reply_i64`, but replies with a boolean. Frees the call. Only `error` may be NULL. May be called
/// from any thread.
enum frisbee_code frisbee_call_reply_bool(struct frisbee_call *call,
                                          bool value,
                                          struct frisbee_error *error);

/// Like `frisbee_call_reply_i64`, but replies with text or bytes, which are copied. Only `error`, and `data` if `len`
/// is 0, may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_reply_text(struct frisbee_call *call,
                                          const void *data,
                                          size_t len,
                                          struct frisbee_error *error);

/// Adds a function that receives the packets of the operations `first` to `last`. The server must not have started.
///
/// Methods of services have operations from 10 on, so use operations from 1000 on. `user` stays with the caller and
/// must be valid until the server has stopped. Each function has handles of its own for the connections. Only `user`
/// and `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_server_packets(struct frisbee_server *server,
                                         uint16_t first,
                                         uint16_t last,
                                         frisbee_packet_function function,
                                         void *user,
                                         struct frisbee_error *error);

/// Sends a packet on the connection of a client. If the connection is lost, fails until a call has opened another one.
/// Otherwise like `frisbee_connection_send`. The bytes are copied. Only `error`, and `data` if `len` is 0, may be NULL.
/// May be called from any thread.
enum frisbee_code frisbee_client_send(struct frisbee_client *client,
                                      uint16_t id,
                                      uint16_t operation,
                                      const void *data,
                                      size_t len,
                                      struct frisbee_error *error);

/// Sends a packet to the peer of a connection. The receiver has a function for its operation. The bytes are copied.
///
/// Blocks while the peer reads too slowly. In functions that receive calls or packets, and in completion callbacks,
/// returns `FRISBEE_RESOURCE_EXHAUSTED` instead. Only `error`, and `data` if `len` is 0, may be NULL. May be called
/// from any thread. Packets of one thread stay in order.
enum frisbee_code frisbee_connection_send(struct frisbee_connection *connection,
                                          uint16_t id,
                                          uint16_t operation,
                                          const void *data,
                                          size_t len,
                                          struct frisbee_error *error);

/// Closes a connection after the packets that were sent before. The functions that receive its packets then receive
/// NULL. The handle stays with the library. Does not block. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_connection_close(struct frisbee_connection *connection,
                                           struct frisbee_error *error);

/// Permits the callers of a unary method, such as `calc.Calculator/open`, to request a hand-off. The server must not
/// have started. The name is copied. Only `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_server_hand_off(struct frisbee_server *server,
                                          const char *method,
                                          struct frisbee_error *error);

/// Accepts the hand-off that the caller has requested. The call stays open. When it has been replied to with success,
/// `function` receives the connection. Returns `FRISBEE_FAILED_PRECONDITION` if the caller has not requested a
/// hand-off.
///
/// After success, `function` is called exactly once, on a thread of the library, and must not block. Its descriptor is
/// -1 if the call has failed, the caller has disconnected, another function has been set, or the process is out of file
/// descriptors. `user` stays with the caller and must be valid until then, even if the server stops. Only `user` and
/// `error` may be NULL. May be called from any thread.
enum frisbee_code frisbee_call_hand_off(struct frisbee_call *call,
                                        frisbee_hand_off_function function,
                                        void *user,
                                        struct frisbee_error *error);

/// Makes a unary call that requests a hand-off, and waits for its reply. If the server has handed off the connection,
/// calls `function` before it returns, on the same thread. `function` may block. If the process is out of file
/// descriptors, a TLS connection is closed instead, and the reply is an error. The server has run the call
/// nevertheless.
///
/// The request fails if other calls of the client are in flight. Later calls of the client open another connection. The
/// other arguments and the reply are those of `frisbee_client_call`. The arguments are copied, and `user` stays with
/// the caller. The caller owns the reply and must free it with `frisbee_reply_free`. Only `options`, `user`, and `data`
/// if `len` is 0, may be NULL. May be called from any thread, but not in a completion callback.
struct frisbee_reply *frisbee_client_hand_off(struct frisbee_client *client,
                                              const char *method,
                                              int32_t format,
                                              const void *data,
                                              size_t len,
                                              const struct frisbee_call_options *options,
                                              frisbee_hand_off_function function,
                                              void *user);

/// Lets the clients of a server publish and subscribe to topics. The server must not have started. Only `error` may be
/// NULL. The server stays with the caller. May be called from any thread.
enum frisbee_code frisbee_server_topics(struct frisbee_server *server,
                                        struct frisbee_error *error);

/// Publishes a message to a topic, such as `game.7.moves`. Blocks while the connection accepts no more. Delivery is not
/// confirmed; `frisbee_client_sync` waits for the server.
///
/// The topics of a client have a connection of their own, which its first use of topics opens. The arguments are
/// copied. Only `error`, and `data` if `len` is 0, may be NULL. May be called from any thread, but not in a callback.
enum frisbee_code frisbee_client_publish(struct frisbee_client *client,
                                         const char *topic,
                                         const void *data,
                                         size_t len,
                                         struct frisbee_error *error);

/// Waits until the server has received all messages that the client has published, for example before the process ends.
/// Fails if the server has rejected one of them, or with `FRISBEE_DATA_LOSS` if a connection was lost before the server
/// confirmed the messages published on it. The client stays with the caller. Only `error` may be NULL. May be called
/// from any thread, but not in a callback.
enum frisbee_code frisbee_client_sync(struct frisbee_client *client,
                                      struct frisbee_error *error);

/// Subscribes to topics, and stores a stream of their messages. In a pattern such as `game.*.moves`, `*` stands for one
/// token, and `>` at the end for one or more. Returns after the server has confirmed the subscription.
///
/// Each reply of the stream is a message, with its topic as the metadata `topic`. A reply with `FRISBEE_DATA_LOSS`
/// means that messages were lost, because the stream was read too slowly or its connection was replaced. The stream
/// then continues. The caller owns the stream and must free it with `frisbee_stream_free`, which ends the subscription.
/// The pattern is copied. Only `error` may be NULL. May be called from any thread, but not in a callback.
enum frisbee_code frisbee_client_subscribe(struct frisbee_client *client,
                                           const char *pattern,
                                           struct frisbee_stream **stream,
                                           struct frisbee_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FRISBEE_H */
