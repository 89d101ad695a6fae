// Calls a greeter for some seconds on 16 connections with 10 calls in flight each: load ADDRESS SECONDS native|json.
// Prints the number of calls and their CPU time in microseconds, excluding the setup of connections and schemas.
// compare.py compares the results with those of load.rs.

#include <frisbee.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <mutex>
#include <vector>

namespace {

constexpr int CONNECTIONS = 16;
constexpr int IN_FLIGHT = 10;

const char *schema = R"(
    syntax = "proto3";
    package greet;
    service Greeter {
      rpc Greet(Name) returns (Greeting) { option idempotency_level = NO_SIDE_EFFECTS; }
      rpc Recite(Name) returns (stream Greeting);
    }
    message Name { string name = 1; }
    message Greeting { string text = 1; }
)";

// The message Name { name: "Ada" } in the native encoding, and the reply to it.
const std::string NATIVE("\x08\x00\x05\x0a\x03"
                      "Ada",
                      8);
const std::string NATIVE_REPLY("\x08\x00\x05\x0a\x0b"
                            "Hello, Ada!",
                            16);
const std::string JSON = R"({"name":"Ada"})";
const std::string JSON_REPLY = R"({"text":"Hello, Ada!"})";

[[noreturn]] void fail(const std::string &text) {
    std::cerr << text << '\n';
    std::_Exit(1);
}

struct Load {
    frisbee::Format format;
    const std::string &request, &reply;
    std::chrono::steady_clock::time_point until{};
    int callers = CONNECTIONS * IN_FLIGHT;
    std::mutex mutex{};
    std::condition_variable ended{};
};

// Makes calls sequentially, each in the completion of the previous one.
struct Caller {
    Load &load;
    frisbee::Client &client;
    long calls = 0;

    void next() {
        auto started = client.start("greet.Greeter/Greet", load.format, load.request, [this](auto outcome) {
            if (!outcome) fail(outcome.error().message);
            if (outcome->data() != load.reply) fail("a reply differs from the expected one");
            calls++;
            if (std::chrono::steady_clock::now() < load.until) return next();
            std::lock_guard lock(load.mutex);
            if (--load.callers == 0) load.ended.notify_one();
        });
        if (!started) fail(started.error().message);
    }
};

} // namespace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::cerr << "usage: load ADDRESS SECONDS native|json\n";
        return 2;
    }
    const bool is_native = std::string(argv[3]) == "native";
    const auto time = std::chrono::milliseconds(static_cast<long>(std::atof(argv[2]) * 1000));
    Load load{is_native ? FRISBEE_NATIVE : FRISBEE_JSON, is_native ? NATIVE : JSON, is_native ? NATIVE_REPLY : JSON_REPLY};
    std::vector<frisbee::Client> clients;
    for (int i = 0; i < CONNECTIONS; i++) {
        auto client = frisbee::Client::connect(argv[1]);
        if (!client) fail(client.error().message);
        client->proto(schema).value();
        clients.push_back(std::move(*client));
    }
    std::vector<Caller> callers;
    for (auto &client : clients)
        for (int i = 0; i < IN_FLIGHT; i++) callers.push_back({load, client});
    load.until = std::chrono::steady_clock::now() + time;
    const std::clock_t begun = std::clock();
    for (auto &caller : callers) caller.next();
    std::unique_lock lock(load.mutex);
    load.ended.wait(lock, [&] { return load.callers == 0; });
    long calls = 0;
    for (const auto &caller : callers) calls += caller.calls;
    std::cout << calls << ' ' << 1e6 * static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC << '\n';
}
