// Tests the C++ header: a server with functions, and a client that makes calls, opens streams, uses a queue and
// receives failures. The argument is a schema.

#include <frisbee.hpp>

#include <unistd.h>

#include <array>
#include <future>

#include "check.h"

using frisbee::Call;

// Imitates a message class of protobuf for C++, with one text field numbered 1.
struct Text {
    std::string text;
    std::string SerializeAsString() const { return std::string("\x0a") + static_cast<char>(text.size()) + text; }
    bool ParseFromArray(const void *data, int len) {
        const auto *bytes = static_cast<const char *>(data);
        if (len < 2 || bytes[0] != '\x0a' || bytes[1] != len - 2) return false;
        text.assign(bytes + 2, bytes + len);
        return true;
    }
};

// Passes requests of each byte type, and reads the bytes of a reply.
static void bytes(frisbee::Client &client) {
    const std::array<unsigned char, 5> text = {0x0a, 3, 'A', 'd', 'a'};
    const auto echo = [&](frisbee::View data) { return client.call("p.Echo/Say", FRISBEE_PROTOBUF, data).value(); };
    CHECK(echo({text.data(), text.size()}).data() == "\x0a\x03" "Ada");
    CHECK(echo(std::string_view("\x0a\x03" "Ada")).data() == std::string("\x0a\x03" "Ada"));
    CHECK(echo({}).data().empty());
#if __cpp_lib_span
    CHECK(echo(text).data().size() == text.size());
    CHECK(echo(std::vector<std::uint8_t>(text.begin(), text.end())).data().size() == text.size());
    const auto reply = echo(std::as_bytes(std::span(text)));
    const std::span<const std::byte> data = reply.data().bytes();
    CHECK(data.size() == text.size() && data[4] == std::byte('a'));
#else
    static_assert(__cplusplus < 202002L, "C++20 has std::span");
#endif
}

// Regression test: the client kept the descriptor of a connection that was handed off with an invalid reply.
static void hands_off_with_invalid_reply(frisbee::Client client, std::future<int> descriptor) {
    auto handed = client.hand_off("p.Echo/Open", FRISBEE_JSON, "{}");
    CHECK(!handed && handed.error().may_have_run);
    char byte;
    const int own = descriptor.get();
    CHECK(read(own, &byte, 1) == 0 && close(own) == 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    alarm(100);
    Call kept(nullptr), replacing(nullptr);
    std::promise<void> is_kept;
    auto server = frisbee::Server::create("calc.Functions").value();
    server.add("sum(int64 a, int64 b) -> int64", [](Call call) {
        (void)call.reply(call.get<std::int64_t>("a").value() + call.get<std::int64_t>("b").value());
    }).value();
    server.add("greet(string name) -> string", [](Call call) {
        const auto name = call.get<frisbee::View>("name").value();
        if (name.empty()) throw std::runtime_error("no name");
        (void)call.reply_metadata("mood", call.metadata("mood"));
        (void)call.reply("Hello " + std::string(name));
    }).value();
    server.add("drop()", [](Call) {}).value();
    // Regression test: the call stayed open.
    server.add("drop_and_catch()", [](Call call) {
        try {
            const Call own(std::move(call));
            throw 7;
        } catch (int) {
        }
    }).value();
    // A function object that can only be moved. It returns a number that does not fit into a signed integer.
    server.add("next(uint64 number) -> uint64", [step = std::make_unique<std::uint64_t>(1)](Call call) {
        (void)call.reply(call.get<std::uint64_t>("number").value() + *step);
    }).value();
    server.add("refuse()", [](Call call) {
        (void)call.reply_metadata("hint", "none");
        (void)call.fail(FRISBEE_NOT_FOUND, std::string_view("gone, and more").substr(0, 4));
    }).value();
    server.add("later(bool is_kept)", [](Call call) {
        // An exception does not affect a call that another thread holds.
        if (call.get<bool>("is_kept").value()) std::thread([call = std::move(call)]() mutable { (void)call.fail(FRISBEE_ABORTED, "later"); }).detach();
        throw 7;
    }).value();
    // Assignment ends the call that the object held before, even if the assigned object still exists.
    server.add("keep(bool replaces)", [&](Call call) {
        if (!call.get<bool>("replaces").value()) {
            kept = std::move(call);
            return is_kept.set_value();
        }
        replacing = std::move(call);
        kept = std::move(replacing);
        (void)kept.fail(FRISBEE_ABORTED, "kept");
    }).value();
    CHECK(!server.add("sum(", [](Call) {}));
    server.proto(argv[1]).value();
    server.handle("quickstart.Calculator/RunningSum", [](Call call) {
        std::int64_t total = 0;
        while (call.next().value_or(false)) {
            total += call.get<std::int64_t>("value").value();
            (void)call.send(FRISBEE_JSON, "{\"value\":" + std::to_string(total) + "}");
        }
        (void)call.finish();
    }).value();
    // A service with the protobuf codec. Its bytes are passed through unchanged.
    server.proto("syntax = \"proto3\"; package p; service Echo { rpc Say(T) returns (T); rpc Open(T) returns (T); } "
                 "message T { string text = 1; }",
                 FRISBEE_CODEC_PROTOBUF).value();
    server.handle("p.Echo/Say", [](Call call) {
        const std::string data(call.data(FRISBEE_PROTOBUF).value());
        (void)call.reply(FRISBEE_PROTOBUF, data);
    }).value();
    std::promise<int> opened;
    server.handle("p.Echo/Open", [&](Call call) {
        call.hand_off([&](int descriptor, frisbee::View) { opened.set_value(descriptor); }).value();
        (void)call.reply(FRISBEE_PROTOBUF, "\x0a\x7f");
    }).value();
    server.hand_off("p.Echo/Open").value();
    server.start("127.0.0.1:0").value();

    auto client = frisbee::Client::connect(server.address()).value();
    auto reply = client.call("sum", FRISBEE_JSON, R"({"a":2,"b":3})").value();
    CHECK(reply.data() == R"({"result":"5"})");

    frisbee::CallOptions options;
    options.metadata = {{"mood", "good"}};
    auto greeted = client.call("greet", FRISBEE_JSON, R"({"name":"Ada"})", options).value();
    CHECK(greeted.data() == R"({"result":"Hello Ada"})" && greeted.metadata("mood") == "good");
    CHECK(client.call<Text>("greet", Text{"Ada"}).value().text == "Hello Ada");

    CHECK(client.call<Text>("p.Echo/Say", Text{"Ada"}).value().text == "Ada");
    CHECK(client.call("Say", FRISBEE_JSON, R"({"text":"Ada"})").value().data() == R"({"text":"Ada"})");

    bytes(client);

    auto failed = client.call("greet", FRISBEE_JSON, "{}");
    CHECK(!failed && failed.error().code == FRISBEE_INTERNAL && failed.error().message == "no name");
    CHECK(client.call("next", FRISBEE_JSON, R"({"number":"18446744073709551614"})").value().data() == R"({"result":"18446744073709551615"})");
    const auto refused = client.call(std::string("refuse"), FRISBEE_JSON, "{}").error();
    CHECK(refused.code == FRISBEE_NOT_FOUND && refused.message == "gone" && refused.metadata.at(0).first == "hint");
    CHECK(client.call("later", FRISBEE_JSON, "{}").error().message == "an exception of another type than std::exception");
    CHECK(client.call("later", FRISBEE_JSON, R"({"is_kept":true})").error().message == "later");
    for (const auto *method : {"drop", "drop_and_catch"})
        CHECK(client.call(method, FRISBEE_JSON, "{}").error().code == FRISBEE_INTERNAL);
    CHECK(client.call("nothing", FRISBEE_JSON, "{}").error().code == FRISBEE_UNIMPLEMENTED);

    std::promise<frisbee::Code> replaced;
    client.start("keep", FRISBEE_JSON, "{}", [&](auto outcome) { replaced.set_value(outcome.error().code); }).value();
    is_kept.get_future().get();
    CHECK(client.call("keep", FRISBEE_JSON, R"({"replaces":true})").error().code == FRISBEE_ABORTED);
    auto ended = replaced.get_future();
    CHECK(ended.wait_for(std::chrono::seconds(60)) == std::future_status::ready && ended.get() == FRISBEE_INTERNAL);

    auto cancel = frisbee::Cancel::create().value();
    cancel.fire();
    options.cancel = &cancel;
    CHECK(client.call("sum", FRISBEE_JSON, "{}", options).error().code == FRISBEE_CANCELLED);

    auto stream = client.open("RunningSum", FRISBEE_JSON).value();
    stream.send(R"({"value":2})").value();
    CHECK(stream.next().value()->data() == R"({"value":"2"})");
    stream.end().value();
    CHECK(!stream.next().value());

    std::promise<std::string> done;
    client.start("sum", FRISBEE_JSON, R"({"a":1})", [&](auto outcome) { done.set_value(std::string(outcome->data())); }).value();
    CHECK(done.get_future().get() == R"({"result":"1"})");
    // One function object that owns memory, and one that is never called.
    auto owned = std::make_unique<std::promise<std::string>>();
    auto second = owned->get_future();
    client.start("sum", FRISBEE_JSON, R"({"a":2})", [owned = std::move(owned)](auto outcome) {
        owned->set_value(std::string(outcome->data()));
    }).value();
    CHECK(second.get() == R"({"result":"2"})");
    std::promise<void> thrown;
    client.start("sum", FRISBEE_JSON, "{}", [&](auto) {
        thrown.set_value();
        throw std::runtime_error("in a callback");
    }).value();
    thrown.get_future().get();
    CHECK(!client.start("nothing", FRISBEE_JSON, "{}", [owned = std::make_unique<int>(1)](auto) { CHECK(*owned == 0); }));

    auto queue = frisbee::Queue::create().value();
    client.submit("sum", FRISBEE_JSON, R"({"a":7})", queue, &queue).value();
    auto event = queue.next(std::chrono::milliseconds(-1)).value();
    CHECK(event.user == &queue && (*event.reply)->data() == R"({"result":"7"})");
    CHECK(queue.next(std::chrono::milliseconds(0)).error().code == FRISBEE_DEADLINE_EXCEEDED && queue.descriptor() >= 0);

    hands_off_with_invalid_reply(frisbee::Client::connect(server.address()).value(), opened.get_future());
    CHECK(!frisbee::Client::connect("127.0.0.1:1"));
    puts("done");
}
