/// The C++17 interface of frisbee: RAII owners of handles, views of bytes, and results instead of error codes. The
/// guide is docs/c.md.
///
/// Each object owns its handle. Objects can be moved but not copied, and free their handle on destruction. Bytes are
/// passed as `View`s, which C++20 converts to and from `std::span`. A view obtained from a reply or a call is valid as
/// long as that object. Text parameters are `std::string_view`s, even if the C function requires a trailing NUL.
///
/// Several threads may share an object as frisbee.h documents for each function. While an object is moved or destroyed,
/// no other thread may use it.
///
/// Only `Result::value()` throws, if the result is a failure. Without exceptions, it terminates the process.

#ifndef FRISBEE_HPP
#define FRISBEE_HPP

#include <frisbee.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#if __has_include(<span>)
#include <span>
#endif

namespace frisbee {

/// A view of bytes or text owned by another object.
class View : public std::string_view {
  public:
    constexpr View() noexcept = default;
    /// Creates a view of text: a std::string, std::string_view or string literal.
    template <class Text, std::enable_if_t<std::is_convertible_v<const Text &, std::string_view>, int> = 0>
    constexpr View(const Text &text) : std::string_view(text) {}
    View(const void *data, std::size_t size) noexcept : std::string_view(static_cast<const char *>(data), size) {}
#if __cpp_lib_span
    /// Creates a view of bytes: a span or container of std::byte, unsigned char or std::uint8_t.
    template <class Bytes>
        requires std::is_convertible_v<const Bytes &, std::span<const std::byte>> ||
                 std::is_convertible_v<const Bytes &, std::span<const unsigned char>>
    View(const Bytes &bytes) noexcept : View(std::data(bytes), std::size(bytes)) {}
    std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(data(), size())); }
#endif
};

using Code = frisbee_code;
using Format = frisbee_format;

/// The error of a failed function or call.
struct Error {
    Code code = FRISBEE_OK;
    std::string message;
    /// Whether the call may have run on the server. If false, retrying the call is safe.
    bool may_have_run = false;
    /// Details of the failure, usually a protobuf-encoded `google.rpc.Status`. Empty if there are none.
    std::string details;
    /// Metadata of the reply. Values are binary if the key ends with `-bin`, and text otherwise.
    std::vector<std::pair<std::string, std::string>> metadata;
};

/// A value or an error.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Returns the value. If the result is an error, throws std::runtime_error with its text.
    T &value() & {
        check();
        return *std::get_if<0>(&state_);
    }
    const T &value() const & {
        check();
        return *std::get_if<0>(&state_);
    }
    T &&value() && {
        check();
        return std::move(*std::get_if<0>(&state_));
    }
    /// Returns the value. The result must not be an error.
    T &operator*() & noexcept { return *std::get_if<0>(&state_); }
    T &&operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    const T &operator*() const & noexcept { return *std::get_if<0>(&state_); }
    T *operator->() noexcept { return std::get_if<0>(&state_); }
    const T *operator->() const noexcept { return std::get_if<0>(&state_); }
    template <class U>
    T value_or(U &&otherwise) && {
        return has_value() ? std::move(*std::get_if<0>(&state_)) : static_cast<T>(std::forward<U>(otherwise));
    }
    /// Returns the error. The result must be an error.
    const Error &error() const & noexcept { return *std::get_if<1>(&state_); }
    Error &&error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  private:
    void check() const {
        if (has_value()) return;
#if __cpp_exceptions
        throw std::runtime_error(error().message);
#else
        std::fprintf(stderr, "frisbee: %s\n", error().message.c_str());
        std::abort();
#endif
    }
    std::variant<T, Error> state_;
};

/// Success without a value.
using Unit = std::monostate;

namespace detail {

/// Converts a timeout for C. A negative timeout becomes 1 ms, because the C functions use 0 for the default.
inline std::uint64_t milliseconds(std::chrono::milliseconds time) noexcept {
    return time.count() < 0 ? 1 : static_cast<std::uint64_t>(time.count());
}

inline View view(frisbee_bytes bytes) noexcept { return {static_cast<const char *>(bytes.data), bytes.len}; }

inline Error taken(const frisbee_error &error) {
    Error taken;
    taken.code = error.code;
    taken.message = error.message;
    return taken;
}

/// A NUL-terminated copy of a text. Short texts need no allocation.
class Terminated {
  public:
    explicit Terminated(std::string_view text) : text_(short_) {
        if (text.size() < sizeof short_) {
            text.copy(short_, text.size());
            short_[text.size()] = '\0';
        } else {
            long_ = text;
            text_ = long_.c_str();
        }
    }
    Terminated(const Terminated &) = delete;
    operator const char *() const noexcept { return text_; }

  private:
    char short_[96];
    std::string long_;
    const char *text_;
};

/// Runs a function object. If it throws, prints the text of the exception to standard error, and returns that text.
template <class Run>
std::optional<std::string> caught(Run run) {
#if __cpp_exceptions
    std::string text;
    try {
        run();
        return std::nullopt;
    } catch (const std::exception &exception) {
        text = exception.what();
    } catch (...) {
        text = "an exception of another type than std::exception";
    }
    std::fprintf(stderr, "frisbee: a function has thrown: %s\n", text.c_str());
    return text;
#else
    run();
    return std::nullopt;
#endif
}

/// Calls a C function that takes the error as its last parameter.
template <class Run>
Result<Unit> checked(Run run) {
    frisbee_error error;
    if (run(&error) != FRISBEE_OK) return taken(error);
    return Unit{};
}

/// Returns whether this thread is running a callback, in which functions of the library do not wait.
inline bool is_in_callback() noexcept {
    frisbee_event event;
    // A function that may wait reports a callback before an invalid handle.
    return frisbee_queue_next(nullptr, -1, &event, nullptr) == FRISBEE_FAILED_PRECONDITION;
}

/// A function object that a `user` pointer owns.
template <class Function, class = void>
class Closure {
  public:
    explicit Closure(Function function) : function_(std::make_unique<Function>(std::move(function))) {}
    explicit Closure(void *user) noexcept : function_(static_cast<Function *>(user)) {}
    Function &get() noexcept { return *function_; }
    void *user() const noexcept { return function_.get(); }
    void release() noexcept { (void)function_.release(); }

  private:
    std::unique_ptr<Function> function_;
};

/// A small function object stored in the bits of the `user` pointer, such as a lambda that captures only `this`.
template <class Function>
class Closure<Function, std::enable_if_t<std::is_trivially_copyable_v<Function> && sizeof(Function) <= sizeof(void *)>> {
  public:
    explicit Closure(const Function &function) noexcept { std::memcpy(bytes_, &function, sizeof(Function)); }
    explicit Closure(void *user) noexcept { std::memcpy(bytes_, &user, sizeof(Function)); }
    Function &get() noexcept { return *std::launder(reinterpret_cast<Function *>(bytes_)); }
    void *user() const noexcept {
        void *user = nullptr;
        std::memcpy(&user, bytes_, sizeof(Function));
        return user;
    }
    void release() noexcept {}

  private:
    alignas(Function) unsigned char bytes_[sizeof(Function)];
};

/// The unique owner of a handle.
template <class T, frisbee_code (*free_handle)(T *)>
class Owner {
  public:
    Owner() noexcept = default;
    explicit Owner(T *handle) noexcept : handle_(handle) {}
    Owner(Owner &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /// Frees the handle that this object held before.
    Owner &operator=(Owner &&other) noexcept {
        Owner earlier(std::move(other));
        std::swap(handle_, earlier.handle_);
        return *this;
    }
    ~Owner() {
        if (handle_ != nullptr) free_handle(handle_);
    }
    T *get() const noexcept { return handle_; }
    T *release() noexcept { return std::exchange(handle_, nullptr); }

  private:
    T *handle_ = nullptr;
};

} // namespace detail

/// A received packet. Its bytes are valid until the function that receives it returns.
struct Packet {
    std::uint16_t id, operation;
    View data;
};

/// A connection that receives packets. Once the connection has ended, its functions fail.
class Connection {
  public:
    explicit Connection(frisbee_connection *handle) noexcept : handle_(handle) {}
    /// Sends a packet. Blocks while the peer reads too slowly, but not in functions of servers and in callbacks.
    Result<Unit> send(std::uint16_t id, std::uint16_t operation, View data) {
        return detail::checked(
            [&](auto *error) { return frisbee_connection_send(handle_, id, operation, data.data(), data.size(), error); });
    }
    Result<Unit> close() {
        return detail::checked([&](auto *error) { return frisbee_connection_close(handle_, error); });
    }
    /// Identifies the connection, for example as a key.
    frisbee_connection *handle() const noexcept { return handle_; }

  private:
    frisbee_connection *handle_;
};

/// A function that receives packets. When a connection has ended, the packet is a null pointer. The function runs on a
/// thread of the library and must not block. If it throws, the text of the exception is printed to standard error.
using PacketFunction = std::function<void(Connection, const Packet *)>;

namespace detail {

inline void run_packets(frisbee_connection *connection, const frisbee_packet *packet, void *user) noexcept {
    (void)caught([&] {
        auto &function = *static_cast<PacketFunction *>(user);
        if (packet == nullptr) return function(Connection(connection), nullptr);
        const Packet received{packet->id, packet->operation, view(packet->data)};
        function(Connection(connection), &received);
    });
}

/// Calls a function object of a descriptor and a view, and frees it.
template <class Function>
void run_hand_off(int descriptor, frisbee_bytes early, void *user) noexcept {
    Closure<Function> function(user);
    (void)caught([&] { function.get()(descriptor, view(early)); });
}

} // namespace detail

/// A successful reply: a message and its metadata.
class Reply {
  public:
    /// Returns the message in the format of the call.
    View data() const noexcept { return data_; }
    /// Returns the value of a metadata key, or an empty view if there is none.
    View metadata(std::string_view key) const {
        return detail::view(frisbee_reply_metadata(handle_.get(), detail::Terminated(key)));
    }

    /// Takes ownership of the handle of a reply.
    static Result<Reply> of(frisbee_reply *handle) {
        frisbee_outcome outcome;
        Reply reply(handle);
        if (frisbee_reply_read(handle, &outcome) != FRISBEE_OK) return failure(handle, outcome);
        reply.data_ = detail::view(outcome.data);
        return reply;
    }

  private:
    explicit Reply(frisbee_reply *handle) noexcept : handle_(handle) {}
    static Error failure(frisbee_reply *handle, const frisbee_outcome &outcome) {
        Error error;
        error.code = outcome.code;
        error.message = outcome.message;
        error.may_have_run = outcome.may_have_run;
        error.details = detail::view(frisbee_reply_details(handle));
        frisbee_metadata entry;
        for (std::size_t at = 0; frisbee_reply_metadata_at(handle, at, &entry); at++)
            error.metadata.emplace_back(entry.key, std::string(static_cast<const char *>(entry.value), entry.len));
        return error;
    }
    View data_;
    detail::Owner<frisbee_reply, frisbee_reply_free> handle_;
};

/// A token that cancels calls. It may be used from any thread.
class Cancel {
  public:
    static Result<Cancel> create() {
        frisbee_cancel *handle = nullptr;
        auto made = detail::checked([&](auto *error) { return frisbee_cancel_new(&handle, error); });
        if (!made) return made.error();
        return Cancel(handle);
    }
    void fire() noexcept { frisbee_cancel_fire(handle_.get(), nullptr); }
    frisbee_cancel *handle() const noexcept { return handle_.get(); }

  private:
    explicit Cancel(frisbee_cancel *handle) noexcept : handle_(handle) {}
    detail::Owner<frisbee_cancel, frisbee_cancel_free> handle_;
};

/// The settings of a call.
struct CallOptions {
    /// The timeout. 0 selects the timeout of the client.
    std::chrono::milliseconds timeout{0};
    /// Metadata of the request. Values are binary if the key ends with `-bin`, and text otherwise.
    std::vector<std::pair<std::string, std::string>> metadata;
    const Cancel *cancel = nullptr;
};

/// A queue of completed operations, for event loops.
class Queue {
  public:
    /// A completed operation: its `user` pointer and its reply. The reply is empty at the end of a stream.
    struct Event {
        void *user;
        std::optional<Result<Reply>> reply;
    };

    static Result<Queue> create() {
        frisbee_queue *handle = nullptr;
        auto made = detail::checked([&](auto *error) { return frisbee_queue_new(&handle, error); });
        if (!made) return made.error();
        return Queue(handle);
    }
    /// Returns a descriptor that is readable while there may be events, for poll, epoll or kqueue.
    int descriptor() const noexcept { return frisbee_queue_descriptor(handle_.get()); }
    /// Waits for an event. A timeout of 0 does not wait, and a negative one waits indefinitely.
    Result<Event> next(std::chrono::milliseconds timeout) {
        frisbee_event event;
        auto taken = detail::checked([&](auto *error) { return frisbee_queue_next(handle_.get(), timeout.count(), &event, error); });
        if (!taken) return taken.error();
        if (event.reply == nullptr) return Event{event.user, std::nullopt};
        return Event{event.user, Reply::of(event.reply)};
    }
    frisbee_queue *handle() const noexcept { return handle_.get(); }

  private:
    explicit Queue(frisbee_queue *handle) noexcept : handle_(handle) {}
    detail::Owner<frisbee_queue, frisbee_queue_free> handle_;
};

/// A streaming call. Destroying the object cancels the call if it has not ended.
class Stream {
  public:
    explicit Stream(frisbee_stream *handle) noexcept : handle_(handle) {}
    /// Sends a request. Blocks while the server does not accept more.
    Result<Unit> send(View data) {
        return detail::checked([&](auto *error) { return frisbee_stream_send(handle_.get(), data.data(), data.size(), error); });
    }
    /// Ends the requests.
    Result<Unit> end() {
        return detail::checked([&](auto *error) { return frisbee_stream_end(handle_.get(), error); });
    }
    /// Waits for the next reply. Returns an empty optional after the last one.
    Result<std::optional<Reply>> next() {
        frisbee_reply *next = frisbee_stream_next(handle_.get());
        if (next == nullptr) return std::optional<Reply>();
        auto reply = Reply::of(next);
        if (!reply) return reply.error();
        return std::optional<Reply>(std::move(*reply));
    }
    /// Adds the next reply to a queue.
    Result<Unit> submit_next(Queue &queue, void *user) {
        return detail::checked(
            [&](auto *error) { return frisbee_stream_submit_next(handle_.get(), queue.handle(), user, error); });
    }

  private:
    detail::Owner<frisbee_stream, frisbee_stream_free> handle_;
};

/// Settings of a client. Certificates and keys are in PEM.
struct ClientOptions {
    /// Timeouts of unary calls and of connecting. 0 selects the default.
    std::chrono::milliseconds timeout{0}, connect_timeout{0};
    std::uint32_t body_max = 0;
    std::optional<std::string> authorities, certificate, key, server_name;
    /// A function that receives packets of the server, and the first and last of their operations. Do not destroy the
    /// client within the function.
    PacketFunction packets;
    std::uint16_t first_operation = 0, last_operation = 0;
};

/// The reply to a hand-off request. If the server has handed off the connection, `descriptor` is a blocking descriptor
/// that the program must close. The bytes in `early` precede those of the descriptor.
struct HandedOff {
    Reply reply;
    int descriptor = -1;
    std::string early;
};

/// A client of a server. Any number of threads may use it. Calls in progress continue after the client is destroyed.
class Client {
  public:
    Client(Client &&) noexcept = default;
    /// Frees the client that this object held before.
    Client &operator=(Client &&other) noexcept {
        Client earlier(std::move(other));
        std::swap(packets_, earlier.packets_);
        std::swap(handle_, earlier.handle_);
        return *this;
    }
    ~Client() {
        if (packets_ == nullptr || handle_.get() == nullptr || !detail::is_in_callback()) return;
        // A callback cannot wait for the function that receives packets. Another thread waits for it, and then frees
        // it.
        std::thread([rest = std::move(*this)] {}).detach();
    }

    static Result<Client> connect(std::string_view address, const ClientOptions &options = {}) {
        frisbee_client_options settings = {};
        settings.timeout_ms = detail::milliseconds(options.timeout);
        settings.connect_timeout_ms = detail::milliseconds(options.connect_timeout);
        settings.body_max = options.body_max;
        settings.authorities = text(options.authorities);
        settings.certificate = text(options.certificate);
        settings.key = text(options.key);
        settings.server_name = text(options.server_name);
        std::unique_ptr<PacketFunction> packets;
        if (options.packets) {
            packets = std::make_unique<PacketFunction>(options.packets);
            settings.packets = &detail::run_packets;
            settings.packets_user = packets.get();
            settings.packets_operations[0] = options.first_operation;
            settings.packets_operations[1] = options.last_operation;
        }
        frisbee_client *handle = nullptr;
        auto made = detail::checked(
            [&](auto *error) { return frisbee_client_connect(detail::Terminated(address), &settings, &handle, error); });
        if (!made) return made.error();
        return Client(handle, std::move(packets));
    }

    /// Sets the schema of the server from the text of a `.proto` file, so that it is not fetched by reflection.
    Result<Unit> proto(std::string_view text, frisbee_codec codec = FRISBEE_CODEC_POLYGLOT) {
        return detail::checked(
            [&](auto *error) { return frisbee_client_proto(handle_.get(), detail::Terminated(text), codec, error); });
    }

    /// Makes a unary call and waits for its reply.
    Result<Reply> call(std::string_view method, Format format, View data, const CallOptions &options = {}) {
        const Settings settings(options);
        return Reply::of(
            frisbee_client_call(handle_.get(), detail::Terminated(method), format, data.data(), data.size(), settings.options));
    }

    /// Makes a unary call with messages generated by protobuf for C++.
    template <class Response, class Request>
    Result<Response> call(std::string_view method, const Request &request, const CallOptions &options = {}) {
        auto reply = call(method, FRISBEE_PROTOBUF, request.SerializeAsString(), options);
        if (!reply) return reply.error();
        Response response;
        const View data = reply->data();
        if (!response.ParseFromArray(data.data(), static_cast<int>(data.size())))
            return Error{FRISBEE_INTERNAL, "the reply is not the expected message", true, {}, {}};
        return response;
    }

    /// Starts a unary call. `done` is a function of a `Result<Reply>`. It receives the outcome on a thread of the
    /// library and must not block. If it throws, the text of the exception is printed to standard error.
    template <class Done>
    Result<Unit> start(std::string_view method, Format format, View data, Done done, const CallOptions &options = {}) {
        static_assert(std::is_invocable_v<Done &, Result<Reply>>, "`done` takes a Result<Reply>");
        const Settings settings(options);
        detail::Closure<Done> closure(std::move(done));
        auto started = detail::checked([&](auto *error) {
            return frisbee_client_start(handle_.get(), detail::Terminated(method), format, data.data(), data.size(), settings.options,
                                        &Client::completed<Done>, closure.user(), error);
        });
        if (started) closure.release();
        return started;
    }

    /// Starts a unary call. Its reply is added to a queue.
    Result<Unit> submit(std::string_view method, Format format, View data, Queue &queue, void *user,
                        const CallOptions &options = {}) {
        const Settings settings(options);
        return detail::checked([&](auto *error) {
            return frisbee_client_submit(handle_.get(), detail::Terminated(method), format, data.data(), data.size(), settings.options,
                                         queue.handle(), user, error);
        });
    }

    /// Opens a streaming call. `data` is the request if the method takes a single request.
    Result<Stream> open(std::string_view method, Format format, View data = {}, const CallOptions &options = {}) {
        const Settings settings(options);
        frisbee_stream *stream = nullptr;
        auto opened = detail::checked([&](auto *error) {
            return frisbee_client_open(handle_.get(), detail::Terminated(method), format, data.data(), data.size(), settings.options, &stream,
                                       error);
        });
        if (!opened) return opened.error();
        return Stream(stream);
    }

    /// Sends a packet. Blocks while the server reads too slowly, but not in functions of servers and in callbacks.
    Result<Unit> send(std::uint16_t id, std::uint16_t operation, View data) {
        return detail::checked(
            [&](auto *error) { return frisbee_client_send(handle_.get(), id, operation, data.data(), data.size(), error); });
    }

    /// Makes a unary call that requests a hand-off of the connection. No other calls may be in flight. If the reply is an
    /// error, a connection that was handed off nevertheless is closed.
    Result<HandedOff> hand_off(std::string_view method, Format format, View data, const CallOptions &options = {}) {
        const Settings settings(options);
        int descriptor = -1;
        std::string early;
        auto take = [&](int handed, View bytes) { descriptor = handed, early = bytes; };
        using Take = decltype(&take);
        auto reply = Reply::of(frisbee_client_hand_off(
            handle_.get(), detail::Terminated(method), format, data.data(), data.size(), settings.options,
            [](int handed, frisbee_bytes bytes, void *user) { (*static_cast<Take>(user))(handed, detail::view(bytes)); }, &take));
        if (!reply) {
            if (descriptor >= 0) ::close(descriptor);
            return std::move(reply).error();
        }
        return HandedOff{std::move(*reply), descriptor, std::move(early)};
    }

    /// Publishes a message to a topic. Delivery is not confirmed; `sync` waits for the server.
    Result<Unit> publish(std::string_view topic, View data) {
        return detail::checked([&](auto *error) {
            return frisbee_client_publish(handle_.get(), detail::Terminated(topic), data.data(), data.size(), error);
        });
    }
    /// Waits until the server has received all published messages. Fails if it has rejected one of them, or with
    /// `FRISBEE_DATA_LOSS` if a connection was lost before the server confirmed the messages published on it.
    Result<Unit> sync() {
        return detail::checked([&](auto *error) { return frisbee_client_sync(handle_.get(), error); });
    }
    /// Subscribes to the topics that match a pattern. Each reply of the stream is a message, whose metadata `topic` is
    /// its topic. The error `FRISBEE_DATA_LOSS` stands for lost messages, and the stream then continues.
    Result<Stream> subscribe(std::string_view pattern) {
        frisbee_stream *stream = nullptr;
        auto subscribed = detail::checked(
            [&](auto *error) { return frisbee_client_subscribe(handle_.get(), detail::Terminated(pattern), &stream, error); });
        if (!subscribed) return subscribed.error();
        return Stream(stream);
    }

  private:
    Client(frisbee_client *handle, std::unique_ptr<PacketFunction> packets) noexcept
        : packets_(std::move(packets)), handle_(handle) {}

    static const char *text(const std::optional<std::string> &text) noexcept { return text ? text->c_str() : nullptr; }

    template <class Done>
    static void completed(void *user, frisbee_reply *reply) noexcept {
        detail::Closure<Done> done(user);
        (void)detail::caught([&] { done.get()(Reply::of(reply)); });
    }

    /// The options as a C struct. `options` is NULL if all of them have their defaults.
    struct Settings {
        explicit Settings(const CallOptions &from) {
            if (from.timeout.count() == 0 && from.metadata.empty() && from.cancel == nullptr) return;
            for (const auto &[key, value] : from.metadata) entries.push_back({key.c_str(), value.data(), value.size()});
            settings.timeout_ms = detail::milliseconds(from.timeout);
            settings.metadata = entries.data();
            settings.metadata_count = entries.size();
            settings.cancel = from.cancel != nullptr ? from.cancel->handle() : nullptr;
            options = &settings;
        }
        Settings(const Settings &) = delete;
        std::vector<frisbee_metadata> entries;
        frisbee_call_options settings = {};
        const frisbee_call_options *options = nullptr;
    };

    // Members are destroyed in reverse order, so the client is freed before its function.
    std::unique_ptr<PacketFunction> packets_;
    detail::Owner<frisbee_client, frisbee_client_free> handle_;
};

/// A received call. It must be replied to exactly once, during the function or later. Destroying the object without a
/// reply fails the call.
class Call {
  public:
    explicit Call(frisbee_call *handle) noexcept : handle_(handle) {}

    /// Returns the request in a format. For a stream of requests, returns the last one received.
    Result<View> data(Format format) const {
        frisbee_bytes data;
        auto read = detail::checked([&](auto *error) { return frisbee_call_data(handle_.get(), format, &data, error); });
        if (!read) return read.error();
        return detail::view(data);
    }
    /// Returns a parameter, selected by its name or by its index in digits. `T` is `bool`, `std::int64_t`,
    /// `std::uint64_t`, `double`, or `View` for text or bytes.
    template <class T>
    Result<T> get(std::string_view of) const {
        const detail::Terminated name(of);
        Code code;
        T value{};
        if constexpr (std::is_same_v<T, bool>) {
            code = frisbee_call_bool(handle_.get(), name, &value);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
            code = frisbee_call_i64(handle_.get(), name, &value);
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            code = frisbee_call_u64(handle_.get(), name, &value);
        } else if constexpr (std::is_same_v<T, double>) {
            code = frisbee_call_f64(handle_.get(), name, &value);
        } else {
            static_assert(std::is_same_v<T, View>, "a parameter is a bool, std::int64_t, std::uint64_t, double or View");
            frisbee_bytes bytes;
            code = frisbee_call_text(handle_.get(), name, &bytes);
            value = detail::view(bytes);
        }
        if (code != FRISBEE_OK) return Error{code, "parameter " + std::string(of) + " cannot be read", false, {}, {}};
        return value;
    }
    View metadata(std::string_view key) const {
        return detail::view(frisbee_call_metadata(handle_.get(), detail::Terminated(key)));
    }
    View remote() const noexcept { return frisbee_call_remote(handle_.get()); }
    bool is_cancelled() const noexcept { return frisbee_call_is_cancelled(handle_.get()); }

    Result<Unit> reply_metadata(std::string_view key, View value) {
        return detail::checked([&](auto *error) {
            return frisbee_call_reply_metadata(handle_.get(), detail::Terminated(key), value.data(), value.size(), error);
        });
    }
    /// Replies with a message.
    Result<Unit> reply(Format format, View data) {
        return ended([&](auto *error) { return frisbee_call_reply(handle_.get(), format, data.data(), data.size(), error); });
    }
    /// Replies with a value, for a reply message with a single field.
    template <class T>
    Result<Unit> reply(const T &value) {
        return ended([&](auto *error) {
            if constexpr (std::is_same_v<T, bool>) {
                return frisbee_call_reply_bool(handle_.get(), value, error);
            } else if constexpr (std::is_unsigned_v<T>) {
                return frisbee_call_reply_u64(handle_.get(), value, error);
            } else if constexpr (std::is_integral_v<T>) {
                return frisbee_call_reply_i64(handle_.get(), static_cast<std::int64_t>(value), error);
            } else if constexpr (std::is_floating_point_v<T>) {
                return frisbee_call_reply_f64(handle_.get(), static_cast<double>(value), error);
            } else {
                const View text = value;
                return frisbee_call_reply_text(handle_.get(), text.data(), text.size(), error);
            }
        });
    }
    Result<Unit> fail(Code code, std::string_view message) {
        return ended([&](auto *error) { return frisbee_call_fail(handle_.get(), code, detail::Terminated(message), error); });
    }
    /// Accepts the hand-off that the caller has requested. After a successful reply, the function receives the
    /// descriptor, which it owns, and the bytes that precede those of the descriptor. If the hand-off fails, the
    /// descriptor is -1. The function runs on a thread of the library and must not block.
    template <class Function>
    Result<Unit> hand_off(Function function) {
        static_assert(std::is_invocable_v<Function &, int, View>, "the function takes an int and a View");
        detail::Closure<Function> closure(std::move(function));
        auto accepted = detail::checked([&](auto *error) {
            return frisbee_call_hand_off(handle_.get(), &detail::run_hand_off<Function>, closure.user(), error);
        });
        if (accepted) closure.release();
        return accepted;
    }
    /// Waits for the next request of a stream. Returns false after the last one.
    Result<bool> next() {
        frisbee_error error;
        switch (frisbee_call_next(handle_.get(), &error)) {
        case FRISBEE_OK: return true;
        case FRISBEE_OUT_OF_RANGE: return false;
        default: return detail::taken(error);
        }
    }
    /// Sends a message of a reply stream.
    Result<Unit> send(Format format, View data) {
        return detail::checked(
            [&](auto *error) { return frisbee_call_send(handle_.get(), format, data.data(), data.size(), error); });
    }
    /// Ends a reply stream.
    Result<Unit> finish() {
        return ended([&](auto *error) { return frisbee_call_finish(handle_.get(), error); });
    }

  private:
    friend class Server;
    /// The call for which this thread is running a function, and the number of uncaught exceptions when the function
    /// began.
    struct Running {
        frisbee_call *handle;
        int exceptions;
        bool is_dropped;
    };
    static inline thread_local Running running_;
    static constexpr const char *no_reply = "the function has not replied";

    static frisbee_code dropped(frisbee_call *handle) {
        // If the function throws, the call fails with the text of the exception instead.
        if (handle == running_.handle && std::uncaught_exceptions() > running_.exceptions) {
            running_.is_dropped = true;
            return FRISBEE_OK;
        }
        return frisbee_call_fail(handle, FRISBEE_INTERNAL, no_reply, nullptr);
    }
    /// Releases the handle if the call has ended.
    template <class Run>
    Result<Unit> ended(Run run) {
        auto done = detail::checked(run);
        if (done || done.error().code == FRISBEE_CANCELLED) (void)handle_.release();
        return done;
    }
    detail::Owner<frisbee_call, &Call::dropped> handle_;
};

/// A server of functions. Destroying the object stops the server and waits for calls in flight.
class Server {
  public:
    /// Creates a server. `service` is the full name of the service for functions with signatures.
    static Result<Server> create(std::string_view service, const frisbee_server_options &options = {}) {
        frisbee_server *handle = nullptr;
        auto made = detail::checked(
            [&](auto *error) { return frisbee_server_new(detail::Terminated(service), &options, &handle, error); });
        if (!made) return made.error();
        return Server(handle);
    }
    Server(Server &&) noexcept = default;
    /// Stops the server that this object held before.
    Server &operator=(Server &&other) noexcept {
        Server earlier(std::move(other));
        std::swap(functions_, earlier.functions_);
        std::swap(handle_, earlier.handle_);
        return *this;
    }
    ~Server() {
        if (handle_.get() == nullptr || frisbee_server_stop(handle_.get(), nullptr) != FRISBEE_FAILED_PRECONDITION) return;
        // A function or callback cannot wait for running functions. Another thread waits for them, and then frees them.
        std::thread([functions = std::move(functions_), handle = std::move(handle_)] {
            frisbee_server_stop(handle.get(), nullptr);
        }).detach();
    }

    /// Adds a function with a signature such as `sum(int64 a, int64 b) -> int64`. It takes a `Call`, and runs
    /// concurrently on several threads. If it throws, the call fails with `INTERNAL` and the text of the exception,
    /// which is also printed to standard error.
    template <class Function>
    Result<Unit> add(std::string_view signature, Function function) {
        return kept(std::move(function), [&](auto *user, auto *error) {
            return frisbee_server_add(handle_.get(), detail::Terminated(signature), &Server::run_one, user, error);
        });
    }
    /// Adds the schema of further services from the text of a `.proto` file.
    Result<Unit> proto(std::string_view text, frisbee_codec codec = FRISBEE_CODEC_POLYGLOT) {
        return detail::checked(
            [&](auto *error) { return frisbee_server_proto(handle_.get(), detail::Terminated(text), codec, error); });
    }
    /// Adds the function that serves a method of a schema. The function is like that of `add`.
    template <class Function>
    Result<Unit> handle(std::string_view method, Function function) {
        return kept(std::move(function), [&](auto *user, auto *error) {
            return frisbee_server_handle(handle_.get(), detail::Terminated(method), &Server::run_one, user, error);
        });
    }
    /// Adds a function that receives the packets of a range of operations. Use operations from 1000 on.
    Result<Unit> packets(std::uint16_t first, std::uint16_t last, PacketFunction function) {
        auto owned = std::make_shared<PacketFunction>(std::move(function));
        auto added = detail::checked([&](auto *error) {
            return frisbee_server_packets(handle_.get(), first, last, &detail::run_packets, owned.get(), error);
        });
        if (added) functions_.push_back(std::move(owned));
        return added;
    }
    /// Permits the callers of a unary method to request a hand-off.
    Result<Unit> hand_off(std::string_view method) {
        return detail::checked(
            [&](auto *error) { return frisbee_server_hand_off(handle_.get(), detail::Terminated(method), error); });
    }
    /// Lets clients publish and subscribe to topics.
    Result<Unit> topics() {
        return detail::checked([&](auto *error) { return frisbee_server_topics(handle_.get(), error); });
    }
    /// Binds an address, and starts serving on threads of the library.
    Result<Unit> start(std::string_view address) {
        return detail::checked([&](auto *error) { return frisbee_server_start(handle_.get(), detail::Terminated(address), error); });
    }
    /// Serves until the process receives SIGINT or SIGTERM, or another thread calls `stop`.
    Result<Unit> run(std::string_view address) {
        return detail::checked([&](auto *error) { return frisbee_server_run(handle_.get(), detail::Terminated(address), error); });
    }
    Result<Unit> stop() {
        return detail::checked([&](auto *error) { return frisbee_server_stop(handle_.get(), error); });
    }
    std::string address() const { return frisbee_server_address(handle_.get()); }

  private:
    explicit Server(frisbee_server *handle) noexcept : handle_(handle) {}

    struct AnyFunction {
        virtual ~AnyFunction() = default;
        virtual void run(Call call) = 0;
    };
    template <class Function>
    struct FunctionOf final : AnyFunction {
        explicit FunctionOf(Function &&function) : function_(std::move(function)) {}
        void run(Call call) override { function_(std::move(call)); }
        Function function_;
    };

    template <class Function, class Add>
    Result<Unit> kept(Function function, Add add) {
        static_assert(std::is_invocable_v<Function &, Call>, "a function takes a Call");
        std::shared_ptr<AnyFunction> owned = std::make_shared<FunctionOf<Function>>(std::move(function));
        auto added = detail::checked([&](auto *error) { return add(owned.get(), error); });
        if (added) functions_.push_back(std::move(owned));
        return added;
    }

    static void run_one(frisbee_call *handle, void *user) noexcept {
        const Call::Running outer = std::exchange(Call::running_, {handle, std::uncaught_exceptions(), false});
        const auto thrown = detail::caught([&] { static_cast<AnyFunction *>(user)->run(Call(handle)); });
        const bool is_dropped = std::exchange(Call::running_, outer).is_dropped;
        // The function may have caught the exception that dropped the call.
        if (is_dropped) frisbee_call_fail(handle, FRISBEE_INTERNAL, thrown ? thrown->c_str() : Call::no_reply, nullptr);
    }

    // Members are destroyed in reverse order, so the server is freed before its functions.
    std::vector<std::shared_ptr<void>> functions_;
    detail::Owner<frisbee_server, frisbee_server_free> handle_;
};

} // namespace frisbee

#endif
