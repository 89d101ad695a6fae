//! Services for tests and for examples in documentation: generated code of several schemas, parts of examples that
//! tests use, and a running server.

pub mod started;
#[path = "../../examples/protocols/store.rs"]
pub mod store;

/// Generated from the schema of the quickstart, with one method of each kind.
pub mod quickstart {
    #![allow(missing_docs)]
    frpc::include_proto!("quickstart");
}

/// Generated from the schema of the Go original's benchmark.
pub mod benchmark {
    #![allow(missing_docs)]
    frpc::include_proto!("benchmark");
}

/// Generated from `proto/greeter.proto`.
pub mod greeter {
    #![allow(missing_docs)]
    frpc::include_proto!("greeter");
}

/// Generated from `proto/tools.proto`, with JSON.
pub mod tools {
    #![allow(missing_docs)]
    frpc::include_proto!("tools");
}

/// Generated from the schema of the example `gateway`, with JSON, protobuf and reflection.
pub mod greet {
    #![allow(missing_docs)]
    frpc::include_proto!("greet");
}

/// Generated from the schema of the example `model`, with tensors.
pub mod model {
    #![allow(missing_docs)]
    frpc::include_proto!("model");
}

/// Generated from the schema of the example `controller`.
pub mod agents {
    #![allow(missing_docs)]
    frpc::include_proto!("agents");
}

/// Generated from the schema of the example `gateway`.
pub mod gateway {
    #![allow(missing_docs)]
    frpc::include_proto!("gateway");
}

#[path = "../../examples/hand_off/service.rs"]
pub mod gateway_service;
