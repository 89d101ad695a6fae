//! [`Plans`]: description of the Python value and the wire format of each message in a schema. The codecs in
//! `encode.rs`, `decode.rs` and `json.rs` follow it, without an intermediate representation.

use crate::encode::integer;
use crate::schema::enum_of;
use frpc_dynamic::MessageDescriptor;
use frpc_dynamic::layout::{Element, Indexes, Layout, Shape};
use prost_reflect::EnumDescriptor;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyString, PyType};
use std::collections::{HashMap, HashSet};

/// Converts a name from `DarkBlue` to `DARK_BLUE` (upper snake case).
fn screaming(name: &str) -> String {
    let mut out = String::new();
    let mut was_lower = false;
    for callback in name.chars() {
        if callback.is_uppercase() && was_lower {
            out.push('_');
        }
        was_lower = callback.is_lowercase() || callback.is_numeric();
        out.extend(callback.to_uppercase());
    }
    out
}

/// Conversion plans of all messages in a schema.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    messages: Vec<Plan>,
    by_name: HashMap<String, usize>,
    /// Enums of the schema, by full name.
    enums: HashMap<String, Names>,
}

/// Values of an enum, with the members of its Python class.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names and numbers of the values in the schema.
    names: Vec<(String, i32)>,
    /// Members of the enum's Python class by number, if it has one.
    members: HashMap<i32, Py<PyAny>>,
    /// Whether numbers without a member in the Python class are rejected.
    is_closed: bool,
}

/// How a message is converted between its encoding and its Python value.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Full name of the message type.
    pub(crate) name: String,
    pub(crate) form: PyForm,
    /// Plans of the message's fields in wire order.
    pub(crate) fields: Vec<FieldPlan>,
    /// Index in `fields` of each field, in the order of declaration.
    pub(crate) declared: Vec<usize>,
    /// For each oneof, the indexes of its members in `fields`, in the order of declaration.
    pub(crate) oneofs: Vec<Vec<usize>>,
}

/// Python representation of a message.
#[derive(Debug)]
pub(crate) enum PyForm {
    /// An object with the fields as attributes. Its class takes them as arguments in the order of declaration.
    Object(Py<PyAny>),
    /// The arguments of a function, in the order of declaration.
    Arguments,
    /// The value of the message's only field, without an object around it.
    Value,
    /// A NumPy array.
    Tensor,
    /// A Pillow image.
    Image,
    /// A `datetime` or a `timedelta`, for a timestamp or duration.
    Time(Time),
    /// A value of any type, which the message stores in a member of a oneof.
    Any,
}

/// Python type for a message with the fields `seconds` and `nanos`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Timestamp,
    Duration,
}

/// How a field is converted between its encoding and its Python value.
#[derive(Debug)]
pub(crate) struct FieldPlan {
    pub(crate) name: Py<PyString>,
    pub(crate) text: String,
    /// Name of the field in JSON.
    pub(crate) json: String,
    pub(crate) kind: Kind,
    /// Python value that represents an absent field.
    pub(crate) absent: Absent,
    /// Required element type of a NumPy array.
    pub(crate) dtype: Option<String>,
    /// Python function that converts the decoded value to the type of the field's type hint, or rejects it.
    pub(crate) convert: Option<Py<PyAny>>,
}

/// Python value that represents an absent field.
#[derive(Debug)]
pub(crate) enum Absent {
    /// The default value of the field's protobuf type.
    Default,
    /// A fixed value.
    Value(Py<PyAny>),
    /// The value that this Python function returns when it is called.
    Factory(Py<PyAny>),
    /// No value, because callers must send the field.
    Required,
}

/// Wire format of a field like [`Shape`], but with messages given as indexes into [`Plans`].
#[derive(Debug)]
pub(crate) enum Kind {
    Plain(Item),
    Optional(Item),
    Member { of: Item, oneof: usize, is_first: bool },
    List(Item),
    Map(Item, Item),
}

/// Type of a single value, list element or map value.
#[derive(Debug)]
pub(crate) enum Item {
    Scalar(Element),
    Message(usize),
}

impl FieldPlan {
    /// Returns the plan index of the message type that the field's value or its elements have.
    fn message(&self) -> Option<usize> {
        match &self.kind {
            Kind::Plain(of) | Kind::Optional(of) | Kind::List(of) | Kind::Map(_, of) | Kind::Member { of, .. } => {
                match of {
                    Item::Message(index) => Some(*index),
                    Item::Scalar(_) => None,
                }
            }
        }
    }
}

impl Item {
    pub(crate) fn wire(&self) -> frpc::polyglot::Kind {
        match self {
            Self::Scalar(element) => element.kind(),
            Self::Message(_) => frpc::polyglot::Kind::Any,
        }
    }
}

impl PyForm {
    /// Parses a form passed by Python: a class, or a keyword for the other forms.
    fn new(form: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match form.cast::<PyString>().ok().map(|word| word.to_str()).transpose()? {
            Some("arguments") => Self::Arguments,
            Some("value") => Self::Value,
            Some("tensor") => Self::Tensor,
            Some("image") => Self::Image,
            Some("datetime") => Self::Time(Time::Timestamp),
            Some("timedelta") => Self::Time(Time::Duration),
            Some("any") => Self::Any,
            Some(other) => return Err(PyTypeError::new_err(format!("a message is not a {other}"))),
            None => Self::Object(form.unbind()),
        })
    }
}

impl Plans {
    /// Creates the plans of all messages reachable from `roots`. `forms` contains the Python form of a message by full
    /// name: a class, "arguments", "value", "tensor", "image", "datetime", "timedelta" or "any"; for an enum, its class
    /// or a dict of its members by number. `fields` contains, for `message.field`, the value if absent, the element
    /// type of an array, and a function that converts the value.
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
                if let Element::Message(inner) = of {
                    open.push(inner.clone());
                }
                if let Some(descriptor) = enum_of(&field.descriptor) {
                    plans.name_members(&descriptor, forms)?;
                }
            }
            found.push((message, layout));
        }
        for (message, layout) in found {
            plans.messages.push(plans.plan(&message, layout, forms, fields)?);
        }
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
        let form = PyForm::new(form)?;
        let declared = &message.descriptor_proto().field;
        // Dataclasses list their attributes in the order of declaration. The attributes of generated classes may differ
        // from field names.
        let attributes = match &form {
            PyForm::Object(class) => class.bind(py).getattr("__match_args__").and_then(|names| names.extract()).ok(),
            _ => None,
        };
        let attributes = attributes.filter(|names: &Vec<String>| names.len() == declared.len()).unwrap_or_default();
        let is_keyword = py.import("keyword")?.getattr("iskeyword")?;
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
            type DeclaredField<'py> = ((String, Py<PyAny>), Option<String>, Option<Py<PyAny>>);
            let declaration = fields.get_item(format!("{name}.{text}"))?;
            let declaration = declaration.map(|field| field.extract::<DeclaredField<'_>>()).transpose()?;
            let (absent, dtype, convert) =
                declaration.map_or((None, None, None), |(absent, dtype, convert)| (Some(absent), dtype, convert));
            let absent = match absent {
                Some((word, _)) if word == "required" => Absent::Required,
                Some((word, value)) if word == "value" => Absent::Value(value),
                Some((word, value)) if word == "factory" => Absent::Factory(value),
                _ => self.absent(py, &kind),
            };
            let json = field.descriptor.json_name().to_owned();
            let number = field.descriptor.number();
            let at = declared.iter().position(|declared| u32::try_from(declared.number()) == Ok(number));
            let name = match at.and_then(|at| attributes.get(at)) {
                Some(attribute) => attribute.clone(),
                None if is_keyword.call1((&text,))?.is_truthy()? => format!("{text}_"),
                None => text.clone(),
            };
            let name = PyString::intern(py, &name).unbind();
            planned.push(FieldPlan { name, text, json, kind, absent, dtype, convert });
        }
        let index_of = |number: i32| {
            let number = u32::try_from(number).ok()?;
            layout.fields.iter().position(|field| field.descriptor.number() == number)
        };
        let declared = message.descriptor_proto().field.iter().filter_map(|field| index_of(field.number())).collect();
        Ok(Plan { name: name.to_owned(), form, fields: planned, declared, oneofs: layout.oneofs.clone() })
    }

    /// Records the names of an enum. If `forms` contains its Python class, also records the members.
    fn name_members(&mut self, descriptor: &EnumDescriptor, forms: &Bound<'_, PyDict>) -> PyResult<()> {
        let name = descriptor.full_name();
        if self.enums.contains_key(name) {
            return Ok(());
        }
        let names = descriptor.values().map(|value| (value.name().to_owned(), value.number())).collect();
        let mut found = Names { names, ..Names::default() };
        if let Some(class) = forms.get_item(name)? {
            if let Ok(members) = class.cast::<PyDict>() {
                found.is_closed = true;
                found.members = members.extract()?;
            } else {
                let members = class.try_iter()?.map(|member| {
                    let member = member?;
                    Ok((member.extract()?, member.unbind()))
                });
                found.members = members.collect::<PyResult<_>>()?;
            }
        }
        self.enums.insert(name.to_owned(), found);
        Ok(())
    }

    /// Returns the Python value of an enum number, which is the member of its class or, if there is none, the number.
    pub(crate) fn member<'py>(&self, py: Python<'py>, indexes: &Indexes, number: i32) -> PyResult<Bound<'py, PyAny>> {
        let names = self.enums.get(&indexes.name);
        match names.and_then(|names| names.members.get(&number)) {
            Some(member) => Ok(member.bind(py).clone()),
            None if names.is_some_and(|names| names.is_closed) => {
                Err(PyValueError::new_err(format!("{} has no value {number}", indexes.name)))
            }
            None => Ok(PyInt::new(py, number).into_any()),
        }
    }

    /// Returns the number of an enum value, given as a member, as a name, or as the text value of a member. Members of
    /// other classes are matched by name.
    pub(crate) fn number(&self, indexes: &Indexes, value: &Bound<'_, PyAny>) -> PyResult<i32> {
        static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if value.is_exact_instance_of::<PyInt>() {
            return integer(value);
        }
        let Some(names) = self.enums.get(&indexes.name) else { return integer(value) };
        if let Some((number, _)) = names.members.iter().find(|(_, member)| value.is(*member)) {
            return Ok(*number);
        }
        let is_member = value.is_instance(ENUM.import(value.py(), "enum", "Enum")?)?;
        let text = if is_member { value.getattr("name")? } else { value.clone() };
        let Ok(text) = text.cast_into::<PyString>() else { return integer(value) };
        let text = text.to_str()?;
        if let Some((_, number)) = names.names.iter().find(|(name, _)| name == text) {
            return Ok(*number);
        }
        let name = format!("{}_{text}", screaming(indexes.name.rsplit('.').next().unwrap_or_default()));
        let mut found: Vec<i32> = Vec::new();
        found.extend(names.names.iter().filter(|(own, _)| own.eq_ignore_ascii_case(&name)).map(|(_, number)| *number));
        let is_value = |member: &Py<PyAny>| {
            let own = member.bind(value.py()).getattr("value");
            !is_member && own.and_then(|own| own.eq(text)).unwrap_or(false)
        };
        found.extend(names.members.iter().filter(|(_, member)| is_value(member)).map(|(number, _)| *number));
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [number] => Ok(number),
            [] => Err(PyValueError::new_err(format!("{} has no value {text:?}", indexes.name))),
            _ => Err(PyValueError::new_err(format!(
                "{text:?} is the name of one value of {} and the text of another: use {name}",
                indexes.name
            ))),
        }
    }

    /// Returns the name of an enum number, if it is declared.
    pub(crate) fn enum_name(&self, indexes: &Indexes, number: i32) -> Option<&str> {
        let names = self.enums.get(&indexes.name)?;
        names.names.iter().find(|(_, own)| *own == number).map(|(name, _)| &name[..])
    }

    /// Returns the Python value for an absent field of this kind, based on the default of its type.
    fn absent(&self, py: Python<'_>, kind: &Kind) -> Absent {
        match kind {
            // Use `None` for an absent value if the wire format can represent absence.
            Kind::Optional(_) | Kind::Member { .. } => Absent::Value(py.None()),
            Kind::Plain(Item::Scalar(Element::Enum(indexes))) => match self.member(py, indexes, 0) {
                Ok(member) => Absent::Value(member.unbind()),
                // The Python enum has no member for 0, so the field is required.
                Err(_) => Absent::Required,
            },
            _ => Absent::Default,
        }
    }

    fn item(&self, of: &Element) -> PyResult<Item> {
        Ok(match of {
            Element::Message(message) => {
                let index = self.by_name.get(message.full_name()).copied();
                Item::Message(index.ok_or_else(|| PyKeyError::new_err(message.full_name().to_owned()))?)
            }
            scalar => Item::Scalar(scalar.clone()),
        })
    }

    /// Returns whether a message is, or contains in its Python object, a well-known type with a special JSON mapping.
    pub(crate) fn has_well_known(&self, index: usize) -> bool {
        let (mut open, mut seen) = (vec![index], HashSet::from([index]));
        while let Some(plan) = open.pop().and_then(|index| self.messages.get(index)) {
            let is_well_known = plan.name.starts_with("google.protobuf.") && plan.name != "google.protobuf.Empty";
            if is_well_known && matches!(plan.form, PyForm::Object(_)) {
                return true;
            }
            open.extend(plan.fields.iter().filter_map(FieldPlan::message).filter(|inner| seen.insert(*inner)));
        }
        false
    }

    /// Returns the plan index of the message with this full name.
    pub(crate) fn index_of(&self, name: &str) -> PyResult<usize> {
        self.by_name.get(name).copied().ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// Returns the conversion plan with this index.
    pub(crate) fn get(&self, index: usize) -> PyResult<&Plan> {
        self.messages.get(index).ok_or_else(|| PyKeyError::new_err(index))
    }
}
