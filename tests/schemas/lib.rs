//! The generated code of all schemas in `proto/`. It must compile without a warning.

/// All schemas with default options.
pub mod all {
    include!(concat!(env!("OUT_DIR"), "/default/all.rs"));
}

/// All schemas with the protobuf codec.
pub mod protobuf {
    include!(concat!(env!("OUT_DIR"), "/protobuf/all.rs"));
}

/// All schemas with views.
pub mod views {
    include!(concat!(env!("OUT_DIR"), "/views/all.rs"));
}

/// A schema compiled with every option that changes types.
pub mod options {
    include!(concat!(env!("OUT_DIR"), "/options/options.rs"));
}

/// The same schema with the protobuf codec.
pub mod enclosed {
    include!(concat!(env!("OUT_DIR"), "/enclosed/options.rs"));
}

/// The well-known types as ordinary messages.
pub mod compiled {
    include!(concat!(env!("OUT_DIR"), "/compiled/all.rs"));
}

/// The schemas whose generated code is committed as golden files.
pub mod golden {
    include!(concat!(env!("OUT_DIR"), "/golden/all.rs"));
}

/// Messages that each have a single field, one for each field type.
pub mod single {
    include!(concat!(env!("OUT_DIR"), "/single/single.rs"));
}
