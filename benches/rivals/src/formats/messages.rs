//! The messages encoded by all formats. Each has the same content in all of its types.

#[allow(missing_docs, clippy::all, clippy::pedantic, unused_qualifications, unreachable_pub)]
pub(crate) mod owned {
    include!(concat!(env!("OUT_DIR"), "/owned/messages.rs"));
}

#[allow(missing_docs, clippy::all, clippy::pedantic, unused_qualifications, unreachable_pub)]
pub(crate) mod shared {
    include!(concat!(env!("OUT_DIR"), "/shared/messages.rs"));
}

use frpc::polyglot::{Fields, Viewed};
use owned::formats::{Orders, Text};
use owned::mixed::Order;
use prost::Message;

/// A message to measure.
pub(crate) trait Subject: Viewed + Sized {
    /// Its name in commands and files.
    const ID: &'static str;
    /// Its description in the table.
    const TITLE: &'static str;
    /// Number of iterations of the shorter run that counts instructions.
    const COUNT: u64;

    /// The type with the same fields, and with strings and bytes that share memory.
    type Shared: Fields + Message + Default + PartialEq;

    /// The measured content.
    fn sample() -> Self;

    /// Returns whether the view has the content of this message.
    fn equals(&self, view: &Self::View<'_>) -> bool;
}

impl Subject for Text {
    const ID: &'static str = "string";
    const TITLE: &'static str = "A string of 32 bytes";
    const COUNT: u64 = 5000;
    type Shared = shared::formats::Text;

    fn sample() -> Self {
        Self { text: "the quick brown fox jumps over it".chars().take(32).collect() }
    }

    fn equals(&self, view: &Self::View<'_>) -> bool {
        self.text == view.text
    }
}

impl Subject for Order {
    const ID: &'static str = "order";
    const TITLE: &'static str = "An order of twelve fields, with a nested message, lists and a map";
    const COUNT: u64 = 1000;
    type Shared = shared::mixed::Order;

    fn sample() -> Self {
        Self::decode(&benches::proto::order().encode_to_vec()[..]).expect("types should share a schema")
    }

    fn equals(&self, view: &Self::View<'_>) -> bool {
        self.id == view.id && self.signature == view.signature && self.tags.len() == view.tags.iter().count()
    }
}

impl Subject for Orders {
    const ID: &'static str = "orders";
    const TITLE: &'static str = "A hundred orders";
    const COUNT: u64 = 10;
    type Shared = shared::formats::Orders;

    fn sample() -> Self {
        let numbered =
            |number: u64| Order { id: format!("order-2024-{number:06}"), customer: number * 7919, ..Order::sample() };
        Self { orders: (0..100_u64).map(numbered).collect() }
    }

    fn equals(&self, view: &Self::View<'_>) -> bool {
        self.orders.iter().map(|order| &order.id[..]).eq(view.orders.iter().map(|order| order.id))
    }
}
