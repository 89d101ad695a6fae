// Calls the greeter of the README: greeter 127.0.0.1:8080 Ada
//
// The greeter has no reflection, so its schema is embedded here.

#include <frisbee.hpp>

#include <iostream>

static const char *schema = R"(
    syntax = "proto3";
    package greet;
    service Greeter {
      rpc Greet(Name) returns (Greeting);
      rpc Recite(Name) returns (stream Greeting);
    }
    message Name { string name = 1; }
    message Greeting { string text = 1; }
)";

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: greeter ADDRESS NAME\n";
        return 2;
    }
    auto client = frisbee::Client::connect(argv[1]);
    if (!client) {
        std::cerr << client.error().message << '\n';
        return 1;
    }
    client->proto(schema).value();
    frisbee::CallOptions options;
    options.timeout = std::chrono::milliseconds(500);
    const std::string name = std::string(R"({"name": ")") + argv[2] + "\"}";
    auto reply = client->call("greet.Greeter/Greet", FRISBEE_JSON, name, options);
    if (!reply) {
        std::cerr << reply.error().message << '\n';
        return 1;
    }
    std::cout << reply->data() << '\n';

    auto verses = client->open("greet.Greeter/Recite", FRISBEE_JSON, name).value();
    while (auto verse = verses.next().value()) std::cout << verse->data() << '\n';
}
