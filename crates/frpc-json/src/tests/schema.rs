//! A schema in Rust, as frpc-build generates it.
//!
//! ```proto
//! message Order {
//!   string id = 1;
//!   int64 customer_id = 2;
//!   optional uint32 priority = 3;
//!   Color color = 4;
//!   repeated Color colors = 5;
//!   bytes signature = 6;
//!   Order parent = 7;
//!   repeated Order parts = 8;
//!   map<int32, string> notes = 9;
//!   oneof payment { bool cash = 10; string card_number = 11; Order swap = 12; }
//!   double total = 13;
//!   map<string, Color> palette = 14;
//!   float weight = 15 [json_name = "@weight"];
//! }
//! ```

use frpc_json::{Boxed, DecodeError, EncodeError, Enum, Enumeration, Fields, Reader, Writer};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) customer_id: i64,
    pub(crate) priority: Option<u32>,
    pub(crate) color: i32,
    pub(crate) colors: Vec<i32>,
    pub(crate) signature: Vec<u8>,
    pub(crate) parent: Option<Box<Self>>,
    pub(crate) parts: Vec<Self>,
    pub(crate) notes: BTreeMap<i32, String>,
    pub(crate) payment: Option<Payment>,
    pub(crate) total: f64,
    pub(crate) palette: HashMap<String, i32>,
    pub(crate) weight: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Payment {
    Cash(bool),
    CardNumber(String),
    Swap(Box<Order>),
}

pub(crate) struct Color;

impl Enumeration for Color {
    const NAME: &'static str = "shop.Color";

    fn name(number: i32) -> Option<&'static str> {
        Some(match number {
            0 => "RED",
            -1 => "DARK",
            _ => return None,
        })
    }

    fn number(name: &str) -> Option<i32> {
        Some(match name {
            "RED" | "SCARLET" => 0,
            "DARK" => -1,
            _ => return None,
        })
    }
}

impl Fields for Order {
    const NAME: &'static str = "shop.Order";
    const FIELDS: &'static [&'static str] = &[
        "id",
        "customerId",
        "priority",
        "color",
        "colors",
        "signature",
        "parent",
        "parts",
        "notes",
        "cash",
        "cardNumber",
        "swap",
        "total",
        "palette",
        "@weight",
    ];

    fn field(name: &str) -> Option<usize> {
        Some(match name {
            "id" => 0,
            "customerId" | "customer_id" => 1,
            "priority" => 2,
            "color" => 3,
            "colors" => 4,
            "signature" => 5,
            "parent" => 6,
            "parts" => 7,
            "notes" => 8,
            "cash" => 9,
            "cardNumber" | "card_number" => 10,
            "swap" => 11,
            "total" => 12,
            "palette" => 13,
            "@weight" | "weight" => 14,
            _ => return None,
        })
    }

    fn encode_fields(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.field("\"id\":", &self.id)?;
        to.field("\"customerId\":", &self.customer_id)?;
        to.field("\"priority\":", &self.priority)?;
        to.field_as::<Enum<Color>>("\"color\":", &self.color)?;
        to.field_as::<Vec<Enum<Color>>>("\"colors\":", &self.colors)?;
        to.field("\"signature\":", &self.signature)?;
        to.field_as::<Option<Boxed<Self>>>("\"parent\":", &self.parent)?;
        to.field("\"parts\":", &self.parts)?;
        to.field("\"notes\":", &self.notes)?;
        match &self.payment {
            Some(Payment::Cash(value)) => to.member::<bool>("\"cash\":", value)?,
            Some(Payment::CardNumber(value)) => to.member::<String>("\"cardNumber\":", value)?,
            Some(Payment::Swap(value)) => to.member::<Boxed<Self>>("\"swap\":", value)?,
            None => {}
        }
        to.field("\"total\":", &self.total)?;
        to.field_as::<HashMap<String, Enum<Color>>>("\"palette\":", &self.palette)?;
        to.field("\"@weight\":", &self.weight)
    }

    fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        match field {
            0 => from.field(&mut self.id),
            1 => from.field(&mut self.customer_id),
            2 => from.field(&mut self.priority),
            3 => from.field_as::<Enum<Color>>(&mut self.color),
            4 => from.field_as::<Vec<Enum<Color>>>(&mut self.colors),
            5 => from.field(&mut self.signature),
            6 => from.field_as::<Option<Boxed<Self>>>(&mut self.parent),
            7 => from.field(&mut self.parts),
            8 => from.field(&mut self.notes),
            9 => from.member::<bool, _>(&mut self.payment, Payment::Cash),
            10 => from.member::<String, _>(&mut self.payment, Payment::CardNumber),
            11 => from.member::<Boxed<Self>, _>(&mut self.payment, Payment::Swap),
            12 => from.field(&mut self.total),
            13 => from.field_as::<HashMap<String, Enum<Color>>>(&mut self.palette),
            _ => from.field(&mut self.weight),
        }
    }
}

/// An order with everything in it.
pub(crate) fn order() -> Order {
    Order {
        id: "a \"b\" \\ \u{1}\nß🦀".to_owned(),
        customer_id: i64::MIN,
        priority: Some(0),
        color: -1,
        colors: vec![0, -1, 7],
        signature: vec![0xfb, 0xff],
        parent: Some(Box::new(Order { id: "parent".to_owned(), ..Order::default() })),
        parts: vec![Order::default(), Order { priority: Some(u32::MAX), ..Order::default() }],
        notes: BTreeMap::from([(-1, "below".to_owned()), (1, String::new())]),
        payment: Some(Payment::CardNumber(String::new())),
        total: -0.0,
        palette: HashMap::from([("sky\n".to_owned(), 7)]),
        weight: f32::INFINITY,
    }
}
