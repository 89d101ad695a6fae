//! The code generated from `proto/`: messages with both encodings, frpc services, and tonic's on the same messages.

#![allow(missing_docs)]

/// The schema of the Go original's benchmark.
pub mod benchmark {
    frpc::include_proto!("benchmark");

    /// A later version of it.
    pub mod later {
        include!(concat!(env!("OUT_DIR"), "/later/benchmark.rs"));
    }

    /// Its service as generated for tonic.
    #[cfg(feature = "tonic")]
    pub mod tonic {
        #![allow(clippy::all, unused_qualifications, unreachable_pub)]
        include!(concat!(env!("OUT_DIR"), "/tonic/benchmark.rs"));
    }
}

/// The echo call with bytes instead of strings, and with strings that share memory.
pub mod bulk {
    frpc::include_proto!("bulk");
}

/// Streaming calls.
pub mod flows {
    frpc::include_proto!("flows");

    /// The service as generated for tonic.
    #[cfg(feature = "tonic")]
    pub mod tonic {
        #![allow(clippy::all, unused_qualifications, unreachable_pub)]
        include!(concat!(env!("OUT_DIR"), "/tonic/flows.rs"));
    }
}

/// A message with many fields.
pub mod mixed {
    frpc::include_proto!("mixed");
}

/// Returns a message with all fields set.
#[must_use]
pub fn order() -> mixed::Order {
    use mixed::{Address, Order};
    Order {
        id: "order-2024-000017".into(),
        customer: 48_213_907,
        priority: -3,
        paid: true,
        total: 1299.95,
        signature: (0..32).collect(),
        placed_at: 1_700_000_000_123,
        discount: 0.15,
        tags: ["fragile", "express", "gift"].map(String::from).into(),
        quantities: vec![1, 2, 300, 4, 50_000],
        address: Some(Address { street: "Unter den Linden".into(), city: "Berlin".into(), number: 77 }),
        stock: [("berlin", 12), ("hamburg", 0), ("munich", 70_000)].map(|(city, n)| (city.to_owned(), n)).into(),
    }
}
