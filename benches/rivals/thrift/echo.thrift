namespace rs echo

struct Text {
    1: required string message,
}

struct Data {
    1: required binary data,
}

service EchoService {
    Text Echo(1: Text text),
    Data Bulk(1: Data data),
}
