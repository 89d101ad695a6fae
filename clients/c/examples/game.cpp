// A server for a game, and two players: packets carry moves, a topic the chat, and a handed-off connection the map.
//
//     c++ -std=c++17 game.cpp $(pkg-config --cflags --libs frisbee) -pthread && ./a.out

#include <frisbee.hpp>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <unistd.h>

constexpr std::uint16_t MOVE = 1000;

/// Passes the moves of each player to all players.
class Game {
  public:
    void receive(frisbee::Connection player, const frisbee::Packet *packet) {
        const std::lock_guard<std::mutex> guard(lock_);
        if (packet == nullptr) {
            players_.erase(player.handle()); // The connection has ended.
            return;
        }
        players_.emplace(player.handle(), player);
        for (auto &[handle, other] : players_)
            if (!other.send(packet->id, MOVE, packet->data)) (void)other.close(); // It reads too slowly.
    }

  private:
    std::mutex lock_;
    std::map<frisbee_connection *, frisbee::Connection> players_;
};

int main() {
    Game game;
    auto server = frisbee::Server::create("game.Lobby").value();
    server.packets(MOVE, MOVE, [&](auto player, auto *packet) { game.receive(player, packet); }).value();
    server.topics().value();
    server.add("map(string name) -> string", [](frisbee::Call call) {
        // Without a request for its connection, the caller receives an error.
        auto accepted = call.hand_off([](int descriptor, frisbee::View) {
            if (descriptor < 0) return;
            (void)!write(descriptor, "~~^^..", 6); // A map is short enough for the buffer of the socket.
            close(descriptor);
        });
        if (accepted)
            (void)call.reply(std::string("raw"));
        else
            (void)call.fail(accepted.error().code, accepted.error().message);
    }).value();
    server.hand_off("game.Lobby/map").value();
    server.start("127.0.0.1:0").value();

    std::promise<std::string> moved;
    frisbee::ClientOptions options;
    options.first_operation = options.last_operation = MOVE;
    options.packets = [&](auto, auto *packet) {
        if (packet != nullptr) moved.set_value(std::string(packet->data));
    };
    auto ada = frisbee::Client::connect(server.address(), options).value();
    auto bob = frisbee::Client::connect(server.address()).value();

    auto chat = bob.subscribe("chat.*").value();
    ada.publish("chat.lobby", "hello").value();
    auto message = chat.next().value();
    std::cout << message->metadata("topic") << ": " << message->data() << '\n';

    ada.send(1, MOVE, "e2e4").value();
    std::cout << "moved: " << moved.get_future().get() << '\n';

    auto handed = bob.hand_off("map", FRISBEE_JSON, R"({"name": "islands"})").value();
    std::string map = handed.early;
    char bytes[64];
    for (ssize_t count; (count = read(handed.descriptor, bytes, sizeof bytes)) > 0;) map.append(bytes, count);
    close(handed.descriptor);
    std::cout << "map: " << map << '\n';
}
