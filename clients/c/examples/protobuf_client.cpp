// Calls a greeter with protobuf's own C++ messages: protobuf_client 127.0.0.1:8080 Ada
//
// The service may have either codec. With `Codec::Protobuf` the bytes pass unchanged; with the default one the library
// converts them by the schema.

#include <frisbee.hpp>

#include <iostream>

#include "greet.pb.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        std::cerr << "usage: protobuf_client ADDRESS NAME\n";
        return 2;
    }
    auto client = frisbee::Client::connect(argv[1]);
    if (!client) {
        std::cerr << client.error().message << '\n';
        return 1;
    }
    greet::Name name;
    name.set_name(argv[2]);
    auto greeting = client->call<greet::Greeting>("greet.Greeter/Greet", name);
    if (!greeting) {
        std::cerr << greeting.error().message << '\n';
        return 1;
    }
    std::cout << greeting->text() << '\n';
}
