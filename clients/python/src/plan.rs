//! [`Plans`]: for each message of a schema, what Python's value of it is and how it stands on the wire. The codecs in
//! `encode.rs`, `decode.rs` and `json.rs` follow them, so that no tree of values stands between Python and the wire.

use frpc_dynamic::MessageDescriptor;
use frpc_dynamic::layout::{Element, Indexes, Layout, Shape};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use std::collections::HashMap;

/// The words that are no names in Python, of those that fields may have. An underscore makes them such.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The plans of a schema.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    messages: Vec<Plan>,
    by_name: HashMap<String, usize>,
    /// The members of enums that have a class, by full name and number.
    enums: HashMap<String, HashMap<i32, Py<PyAny>>>,
}

/// The plan of a message.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The full name.
    pub(crate) name: String,
    pub(crate) form: PyForm,
    /// In the order of the wire.
    pub(crate) fields: Vec<FieldPlan>,
    /// For each field in the order of declaration, its place in `fields`.
    pub(crate) declared: Vec<usize>,
    /// For each oneof, the places of its members in `fields`, in the order of declaration.
    pub(crate) oneofs: Vec<Vec<usize>>,
    /// Whether the two forms of the wire may differ.
    pub(crate) has_presence: bool,
}

/// What a message is in Python.
#[derive(Debug)]
pub(crate) enum PyForm {
    /// An object with the fields as attributes, which its class makes of them in the order of declaration.
    Object(Py<PyAny>),
    /// The arguments of a function, in the order of declaration.
    Arguments,
    /// The value of the only field.
    Value,
    /// An array of NumPy.
    Tensor,
    /// An image of Pillow.
    Image,
    /// A value of any type, for which one member of a oneof stands.
    Any,
}

/// The plan of a field.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    pub(crate) name: Py<PyString>,
    pub(crate) text: String,
    /// The name in JSON.
    pub(crate) json: String,
    pub(crate) kind: Kind,
    /// The value in Python of an absent field.
    pub(crate) absent: Absent,
    /// The type that the elements of an array must have.
    pub(crate) dtype: Option<String>,
}

/// What stands for an absent value.
#[derive(Debug)]
pub(crate) enum Absent {
    /// The default of the type.
    Default,
    /// This value.
    Value(Py<PyAny>),
    /// Nothing: the caller has to send it.
    Required,
}

/// How a field stands on the wire, as [`Shape`], with messages as places in [`Plans`].
#[derive(Debug)]
pub(crate) enum Kind {
    Plain(Item),
    Optional(Item),
    Member { of: Item, oneof: usize, is_first: bool },
    List(Item),
    Map(Item, Item),
}

/// The type of a value.
#[derive(Debug)]
pub(crate) enum Item {
    Scalar(Element),
    Message(usize),
}

impl Item {
    pub(crate) fn wire(&self) -> frpc::polyglot::Kind {
        match self {
            Self::Scalar(element) => element.kind(),
            Self::Message(_) => frpc::polyglot::Kind::Any,
        }
    }
}

impl Plans {
    /// The plans of all messages that can be reached from `roots`. `forms` says for a full name what the message is: a
    /// class, "arguments", "value", "tensor", "image" or "any"; or the class of an enum; `fields` holds, for `message.field`, what stands for an absent value and
    /// the type of an array's elements.
    pub(crate) fn new(
        roots: impl Iterator<Item = MessageDescriptor>,
        forms: &Bound<'_, PyDict>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut plans = Self::default();
        let mut open: Vec<MessageDescriptor> = roots.collect();
        let mut found = Vec::new();
        while let Some(message) = open.pop() {
            if plans.by_name.contains_key(message.full_name()) {
                continue;
            }
            plans.by_name.insert(message.full_name().to_owned(), found.len());
            let layout = Layout::new(&message);
            for field in &layout.fields {
                let of = match &field.shape {
                    Shape::Plain(of) | Shape::Optional(of) | Shape::List(of) | Shape::Map(_, of) => of,
                    Shape::Member { of, .. } => of,
                };
                match of {
                    Element::Message(inner) => open.push(inner.clone()),
                    Element::Enum(indexes) => plans.name_members(indexes, forms)?,
                    _ => {}
                }
            }
            found.push((message, layout));
        }
        for (message, layout) in found {
            plans.messages.push(plans.plan(&message, layout, forms, fields)?);
        }
        plans.spread_presence();
        Ok(plans)
    }

    fn plan(
        &self,
        message: &MessageDescriptor,
        layout: Layout,
        forms: &Bound<'_, PyDict>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<Plan> {
        let py = forms.py();
        let name = message.full_name();
        let form = forms.get_item(name)?.ok_or_else(|| PyKeyError::new_err(format!("no class for {name}")))?;
        let form = match form.cast::<PyString>().ok().map(|word| word.to_str()).transpose()? {
            Some("arguments") => PyForm::Arguments,
            Some("value") => PyForm::Value,
            Some("tensor") => PyForm::Tensor,
            Some("image") => PyForm::Image,
            Some("any") => PyForm::Any,
            Some(other) => return Err(PyTypeError::new_err(format!("a message is no {other}"))),
            None => PyForm::Object(form.unbind()),
        };
        let mut planned = Vec::with_capacity(layout.fields.len());
        for field in &layout.fields {
            let kind = match &field.shape {
                Shape::Plain(of) => Kind::Plain(self.item(of)?),
                Shape::Optional(of) => Kind::Optional(self.item(of)?),
                Shape::Member { of, oneof, is_first } => {
                    Kind::Member { of: self.item(of)?, oneof: *oneof, is_first: *is_first }
                }
                Shape::List(of) => Kind::List(self.item(of)?),
                Shape::Map(key, of) => Kind::Map(self.item(key)?, self.item(of)?),
            };
            let text = field.descriptor.name().to_owned();
            let said = fields.get_item(format!("{name}.{text}"))?;
            let (absent, dtype) = match said {
                None => (self.absent(py, &kind), None),
                Some(said) => said.extract::<(Bound<'_, PyAny>, Option<String>)>().and_then(|(absent, dtype)| {
                    let is_word = |word: &str| absent.cast::<PyString>().is_ok_and(|text| text == word);
                    let absent = if is_word("required") {
                        Absent::Required
                    } else if is_word("default") {
                        self.absent(py, &kind)
                    } else {
                        Absent::Value(absent.get_item(0)?.unbind())
                    };
                    PyResult::Ok((absent, dtype))
                })?,
            };
            let json = field.descriptor.json_name().to_owned();
            let name = if KEYWORDS.contains(&&*text) { format!("{text}_") } else { text.clone() };
            let name = PyString::intern(py, &name).unbind();
            planned.push(FieldPlan { name, text, json, kind, absent, dtype });
        }
        let place = |number: i32| {
            let number = u32::try_from(number).ok()?;
            layout.fields.iter().position(|field| field.descriptor.number() == number)
        };
        let declared = message.descriptor_proto().field.iter().filter_map(|field| place(field.number())).collect();
        let has_presence =
            planned.iter().any(|field| matches!(field.kind, Kind::Optional(Item::Scalar(_)) | Kind::Member { .. }));
        Ok(Plan { name: name.to_owned(), form, fields: planned, declared, oneofs: layout.oneofs.clone(), has_presence })
    }

    /// Takes the members of an enum, if `forms` has its class.
    fn name_members(&mut self, indexes: &Indexes, forms: &Bound<'_, PyDict>) -> PyResult<()> {
        if self.enums.contains_key(&indexes.name) {
            return Ok(());
        }
        let Some(class) = forms.get_item(&indexes.name)? else { return Ok(()) };
        let members = class.try_iter()?.map(|member| {
            let member = member?;
            Ok((member.extract()?, member.unbind()))
        });
        self.enums.insert(indexes.name.clone(), members.collect::<PyResult<_>>()?);
        Ok(())
    }

    /// A value of an enum: the member of its class, if it has one, and else the number.
    pub(crate) fn member<'py>(&self, py: Python<'py>, indexes: &Indexes, number: i32) -> Bound<'py, PyAny> {
        match self.enums.get(&indexes.name).and_then(|members| members.get(&number)) {
            Some(member) => member.bind(py).clone(),
            None => PyInt::new(py, number).into_any(),
        }
    }

    /// What stands for an absent field of this kind, if nothing else is said.
    fn absent(&self, py: Python<'_>, kind: &Kind) -> Absent {
        match kind {
            // `None` where the wire knows absence.
            Kind::Optional(_) | Kind::Member { .. } => Absent::Value(py.None()),
            Kind::Plain(Item::Scalar(Element::Enum(indexes))) => Absent::Value(self.member(py, indexes, 0).unbind()),
            _ => Absent::Default,
        }
    }

    fn item(&self, of: &Element) -> PyResult<Item> {
        Ok(match of {
            Element::Message(message) => {
                let place = self.by_name.get(message.full_name()).copied();
                Item::Message(place.ok_or_else(|| PyKeyError::new_err(message.full_name().to_owned()))?)
            }
            scalar => Item::Scalar(scalar.clone()),
        })
    }

    /// A message has presence if one within it has.
    fn spread_presence(&mut self) {
        loop {
            let has: Vec<bool> = self.messages.iter().map(|plan| plan.has_presence).collect();
            let mut changed = false;
            for plan in self.messages.iter_mut().filter(|plan| !plan.has_presence) {
                plan.has_presence = plan.fields.iter().any(|field| match &field.kind {
                    Kind::Plain(of)
                    | Kind::Optional(of)
                    | Kind::List(of)
                    | Kind::Map(_, of)
                    | Kind::Member { of, .. } => {
                        matches!(of, Item::Message(place) if has.get(*place) == Some(&true))
                    }
                });
                changed |= plan.has_presence;
            }
            if !changed {
                return;
            }
        }
    }

    /// The place of a message.
    pub(crate) fn place(&self, name: &str) -> PyResult<usize> {
        self.by_name.get(name).copied().ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// The plan at a place that this schema has given out.
    pub(crate) fn get(&self, place: usize) -> PyResult<&Plan> {
        self.messages.get(place).ok_or_else(|| PyKeyError::new_err(place))
    }
}
