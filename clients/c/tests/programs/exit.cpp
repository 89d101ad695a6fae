// Servers that are stopped when the process exits: by a function of atexit, or by the destructor of a static object. A
// running function must end before the memory that it uses is freed. The argument selects a case, or `fork`.

#include <frisbee.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

static std::atomic<bool> is_running{false}, has_ended{false};

static void work(frisbee_call *call, void *memory) {
    is_running = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    *static_cast<volatile int *>(memory) = 7;
    has_ended = true;
    frisbee_call_fail(call, FRISBEE_ABORTED, "late", nullptr);
}

static void begin(const char *address) {
    auto client = frisbee::Client::connect(address).value();
    client.start("work", FRISBEE_JSON, "{}", [](auto) {}).value();
    while (!is_running) std::this_thread::yield();
}

static void stop_at_exit() {
    static frisbee_server *server = nullptr;
    static int *memory = new int(0);
    CHECK(frisbee_server_new("t.Functions", nullptr, &server, nullptr) == FRISBEE_OK);
    CHECK(frisbee_server_add(server, "work()", work, memory, nullptr) == FRISBEE_OK);
    CHECK(frisbee_server_start(server, "127.0.0.1:0", nullptr) == FRISBEE_OK);
    atexit([] {
        frisbee_error error;
        CHECK_OK(frisbee_server_stop(server, &error), error);
        CHECK(has_ended);
        delete memory;
        CHECK_OK(frisbee_server_free(server), error);
        puts("done");
    });
    begin(frisbee_server_address(server));
}

static void destroy_at_exit() {
    struct Last {
        ~Last() {
            CHECK(has_ended);
            puts("done");
        }
    };
    static Last last;
    static auto server = frisbee::Server::create("t.Functions").value();
    server.add("work()", [memory = std::make_unique<int>(0)](frisbee::Call call) {
        is_running = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        *memory = 7;
        has_ended = true;
        (void)call.fail(FRISBEE_ABORTED, "late");
    }).value();
    server.start("127.0.0.1:0").value();
    begin(server.address().c_str());
}

static std::atomic<bool> is_freed{false};

struct Freed {
    ~Freed() { is_freed = true; }
};

// Regression test: calls in a child process never returned. Destroying a server there started threads without end, and
// did not free its functions.
static void fork_is_refused() {
    auto server = frisbee::Server::create("t.Functions").value();
    server.add("now()", [freed = std::make_shared<Freed>()](frisbee::Call call) { (void)call.reply(FRISBEE_JSON, "{}"); })
        .value();
    server.start("127.0.0.1:0").value();
    auto client = frisbee::Client::connect(server.address()).value();
    client.call("now", FRISBEE_JSON, "{}").value();
    const pid_t child = fork();
    if (child == 0) {
        const auto called = client.call("now", FRISBEE_JSON, "{}");
        const auto stopped = server.stop();
        alarm(50);
        { const auto destroyed = std::move(server); }
        while (!is_freed) std::this_thread::yield();
        _exit(called || stopped || called.error().code != FRISBEE_FAILED_PRECONDITION);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    client.call("now", FRISBEE_JSON, "{}").value();
    puts("done");
}

int main(int argc, char **argv) {
    alarm(100);
    CHECK(argc == 2);
    const std::string which = argv[1];
    if (which == "atexit") stop_at_exit();
    if (which == "destructor") destroy_at_exit();
    if (which == "fork") fork_is_refused();
}
