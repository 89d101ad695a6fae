//! The code that the examples share: what is generated from `proto/`, which is included once here, a protocol that
//! has a test, and a server for the examples in the documentation.

pub mod started;
pub mod store;

/// Generated from `proto/quickstart.proto`.
pub mod quickstart {
    #![allow(missing_docs)]
    frpc::include_proto!("quickstart");
}

/// Generated from `proto/benchmark.proto`, the schema of the Go original's benchmark.
pub mod benchmark {
    #![allow(missing_docs)]
    frpc::include_proto!("benchmark");
}

/// Generated from `proto/greeter.proto`, for two protocols.
pub mod greeter {
    #![allow(missing_docs)]
    frpc::include_proto!("greeter");
}

/// Generated from `proto/greet.proto`, for every door.
pub mod greet {
    #![allow(missing_docs)]
    frpc::include_proto!("greet");
}

/// Generated from `proto/model.proto`, with tensors.
pub mod model {
    #![allow(missing_docs)]
    frpc::include_proto!("model");
}

/// Generated from `proto/agents.proto`.
pub mod agents {
    #![allow(missing_docs)]
    frpc::include_proto!("agents");
}

/// Generated from `proto/metrics.proto`.
pub mod metrics {
    #![allow(missing_docs)]
    frpc::include_proto!("metrics");
}

/// Generated from `proto/replicated.proto`, for the store that is tested in a simulation.
pub mod replicated {
    #![allow(missing_docs)]
    frpc::include_proto!("replicated");
}

/// Generated from `proto/exchange.proto`, for browsers and programs at a market.
pub mod exchange {
    #![allow(missing_docs)]
    frpc::include_proto!("exchange");
}

/// Generated from `proto/gateway.proto`.
pub mod gateway {
    #![allow(missing_docs)]
    frpc::include_proto!("gateway");
}

#[path = "gateway/service.rs"]
pub mod gateway_service;
