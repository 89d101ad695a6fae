// Destroys servers while their functions run. In C++, destroying a server also frees its functions.

#include <frisbee.hpp>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

using frisbee::Call;
using frisbee::Server;

static frisbee_server_options hasty() {
    frisbee_server_options options = {};
    options.shutdown_timeout_ms = 20;
    return options;
}

// A function that runs longer than the shutdown timeout.
struct Work {
    std::atomic<bool> is_running{false}, may_end{false}, has_ended{false};

    void run() {
        is_running = true;
        while (!may_end) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        has_ended = true;
    }
    void wait() const {
        while (!is_running) std::this_thread::yield();
    }
};

static frisbee::Client connect(const Server &server) { return frisbee::Client::connect(server.address()).value(); }

// Regression test: `stop` returned at the shutdown timeout, so destroying the server freed a function that was running.
static void stop_waits_for_functions() {
    auto server = Server::create("t.Functions", hasty()).value();
    Work single, streaming;
    server.add("work()", [&](Call call) {
        single.run();
        (void)call.fail(FRISBEE_ABORTED, "late");
    }).value();
    server.proto("syntax = \"proto3\"; package t; service S { rpc Watch(Q) returns (stream Q); } message Q {}").value();
    server.handle("t.S/Watch", [&](Call call) {
        streaming.run();
        (void)call.finish();
    }).value();
    server.start("127.0.0.1:0").value();
    auto client = connect(server);
    auto stream = client.open("t.S/Watch", FRISBEE_JSON, "{}").value();
    streaming.wait(); // Before the unary call occupies the connection's thread.
    client.start("work", FRISBEE_JSON, "{}", [](auto) {}).value();
    single.wait();
    single.may_end = streaming.may_end = true;
    server.stop().value();
    CHECK(single.has_ended && streaming.has_ended);
}

// Checks on destruction that the server of its function is no longer reachable.
struct Probe {
    std::string *address;
    ~Probe() { CHECK(!frisbee::Client::connect(*address)); }
};

static void assigned_server_ends_before_its_functions_are_freed() {
    std::string address;
    auto server = Server::create("t.Functions").value();
    server.add("f()", [probe = std::make_shared<Probe>(Probe{&address})](Call) {}).value();
    server.start("127.0.0.1:0").value();
    address = server.address();
    server = Server::create("t.Functions").value();
    CHECK(!frisbee::Client::connect(address));
}

static void function_that_ends_its_server_stays_valid() {
    auto server = std::make_unique<Server>(Server::create("t.Functions").value());
    auto captured = std::make_shared<int>(7);
    std::weak_ptr<int> observed = captured;
    std::atomic<bool> is_valid{false};
    server->add("end()", [&, captured = std::move(captured)](Call call) {
        auto watched = observed; // The captures may be destroyed below.
        auto *valid = &is_valid;
        auto taken = std::move(call);
        server.reset();
        *valid = !watched.expired();
    }).value();
    server->start("127.0.0.1:0").value();
    auto client = connect(*server);
    CHECK(!client.call("end", FRISBEE_JSON, "{}"));
    CHECK(is_valid);
}

// Regression test: destroying a client in a callback freed its function while it was running on another thread.
static void client_destroyed_in_callback_keeps_running_function() {
    if (std::thread::hardware_concurrency() < 2) return; // The library has one thread, which the function occupies.
    auto server = Server::create("t.Functions").value();
    server.packets(1000, 1000, [](frisbee::Connection connection, const frisbee::Packet *packet) {
        if (packet != nullptr) (void)connection.send(packet->id, packet->operation, packet->data);
    }).value();
    server.start("127.0.0.1:0").value();
    auto captured = std::make_shared<int>(7);
    std::weak_ptr<int> observed = captured;
    std::atomic<bool> is_running{false}, is_valid{false};
    auto may_end = std::make_shared<std::atomic<bool>>(false); // The function reads it after this test has ended.
    frisbee::ClientOptions options;
    options.packets = [&is_running, may_end, captured = std::move(captured)](frisbee::Connection, const frisbee::Packet *packet) {
        if (packet == nullptr) return;
        auto end = may_end; // The captures may be destroyed below.
        is_running = true;
        while (!*end) std::this_thread::yield();
    };
    options.first_operation = options.last_operation = 1000;
    auto client = std::make_unique<frisbee::Client>(frisbee::Client::connect(server.address(), options).value());
    options.packets = nullptr;
    auto other = connect(server);
    client->send(1, 1000, "x").value();
    while (!is_running) std::this_thread::yield();
    other.start("unknown", FRISBEE_JSON, "{}", [&](auto) {
        client.reset();
        is_valid = !observed.expired();
        *may_end = true;
    }).value();
    while (!*may_end) std::this_thread::yield();
    CHECK(is_valid);
}

int main() {
    alarm(100);
    stop_waits_for_functions();
    assigned_server_ends_before_its_functions_are_freed();
    function_that_ends_its_server_stays_valid();
    client_destroyed_in_callback_keeps_running_function();
    puts("done");
}
