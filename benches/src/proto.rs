//! What is generated from `proto/`: messages with both encodings, our services, and tonic's on the same messages.

#![allow(missing_docs)]

/// The schema of the Go original's benchmark.
pub mod benchmark {
    frpc::include_proto!("benchmark");

    /// Its service in tonic's words.
    pub mod tonic {
        #![allow(clippy::all, unused_qualifications, unreachable_pub)]
        include!(concat!(env!("OUT_DIR"), "/tonic/benchmark.rs"));
    }
}

/// The echo call with bytes in the place of strings.
pub mod bulk {
    frpc::include_proto!("bulk");
}

/// Calls that stream.
pub mod flows {
    frpc::include_proto!("flows");

    /// The service in tonic's words.
    pub mod tonic {
        #![allow(clippy::all, unused_qualifications, unreachable_pub)]
        include!(concat!(env!("OUT_DIR"), "/tonic/flows.rs"));
    }
}

/// A message of many fields.
pub mod mixed {
    frpc::include_proto!("mixed");
}
