//! [`Schema`]: creates layout descriptions from the descriptors of `.proto` files.

use super::description::{Description, Field, Method, Shape, Type, TypeLayout};
use prost_types::field_descriptor_proto::{Label, Type as Declared};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
};
use std::collections::HashMap;
use std::fmt;

/// Messages and enums of a protobuf schema, indexed by full name.
#[derive(Debug, Default)]
pub struct Schema<'a> {
    declared: HashMap<String, Declaration<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Declaration<'a> {
    /// A message, and whether its fields have explicit presence by default as in proto2.
    Message(&'a DescriptorProto, bool),
    Enum(&'a EnumDescriptorProto),
}

/// A layout description, with a list of the names that it does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Layout of a message or service, and of all types that it uses. It contains no names of fields and types.
    pub description: Description,
    /// Names of the description's types, one per line. The line of a message also contains the names of its fields in
    /// wire order.
    pub names: String,
}

/// Error returned when a type that should be described does not exist in the schema or has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

impl<'a> Schema<'a> {
    /// Collects the messages and enums of `files`. Type references must be full names with a leading dot, as protobuf
    /// compilers produce them.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = &'a FileDescriptorProto>) -> Self {
        let mut schema = Self::default();
        for file in files {
            let scope = if file.package().is_empty() { String::new() } else { format!(".{}", file.package()) };
            let mut open: Vec<(String, &DescriptorProto)> =
                file.message_type.iter().map(|message| (scope.clone(), message)).collect();
            schema.add_enums(&scope, &file.enum_type);
            while let Some((scope, message)) = open.pop() {
                let name = format!("{scope}.{}", message.name());
                schema.add_enums(&name, &message.enum_type);
                open.extend(message.nested_type.iter().map(|nested| (name.clone(), nested)));
                schema.declared.insert(name, Declaration::Message(message, file.syntax() != "proto3"));
            }
        }
        schema
    }

    fn add_enums(&mut self, scope: &str, enums: &'a [EnumDescriptorProto]) {
        for found in enums {
            self.declared.insert(format!("{scope}.{}", found.name()), Declaration::Enum(found));
        }
    }

    /// Describes the layout of the service with this full name. Its methods must be given in the order of their
    /// operation numbers.
    ///
    /// # Errors
    ///
    /// If the schema lacks a type, or a type is a group.
    pub fn service(
        &self,
        name: &str,
        methods: impl IntoIterator<Item = &'a MethodDescriptorProto>,
    ) -> Result<Described, SchemaError> {
        let mut types = Types { schema: self, names: Vec::new(), indices: HashMap::new() };
        let mut found = Vec::new();
        for method in methods {
            found.push(Method {
                name: method.name().to_owned(),
                client_streams: method.client_streaming(),
                server_streams: method.server_streaming(),
                request: types.message(method.input_type())?,
                reply: types.message(method.output_type())?,
            });
        }
        types.describe(name, found)
    }

    /// Describes the layout of the message with this full name.
    ///
    /// # Errors
    ///
    /// If the schema lacks the message or a type that it contains, or a type is a group.
    ///
    /// ```
    /// use polyglot::layout::Schema;
    /// use prost_types::{DescriptorProto, FileDescriptorProto};
    ///
    /// let message = DescriptorProto { name: Some("Empty".to_owned()), ..DescriptorProto::default() };
    /// let file = FileDescriptorProto { message_type: vec![message], ..FileDescriptorProto::default() };
    /// let described = Schema::new([&file]).message("Empty")?;
    /// assert_eq!(described.description.encode(), b"\x01\x01\x00\x00\x00\x05Empty");
    /// assert_eq!(described.names, "Empty\n");
    /// # Ok::<(), polyglot::layout::SchemaError>(())
    /// ```
    pub fn message(&self, name: &str) -> Result<Described, SchemaError> {
        let mut types = Types { schema: self, names: Vec::new(), indices: HashMap::new() };
        types.message(&format!(".{name}"))?;
        types.describe(name, Vec::new())
    }

    /// Describes the layouts of the messages with these full names. Returns the description with the type index of each
    /// message.
    ///
    /// # Errors
    ///
    /// If the schema lacks a message or a type that it contains, or a type is a group.
    ///
    /// ```
    /// use polyglot::layout::Schema;
    /// use prost_types::{DescriptorProto, FileDescriptorProto};
    ///
    /// let message = |name: &str| DescriptorProto { name: Some(name.to_owned()), ..DescriptorProto::default() };
    /// let message_type = vec![message("One"), message("Other")];
    /// let file = FileDescriptorProto { message_type, ..FileDescriptorProto::default() };
    /// let (description, indices) = Schema::new([&file]).messages(["One", "Other", "One"])?;
    /// assert_eq!((description.types.len(), indices), (2, vec![0, 1, 0]));
    /// # Ok::<(), polyglot::layout::SchemaError>(())
    /// ```
    pub fn messages<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(Description, Vec<u32>), SchemaError> {
        let mut types = Types { schema: self, names: Vec::new(), indices: HashMap::new() };
        let names = names.into_iter();
        let indices = names.map(|name| types.message(&format!(".{name}"))).collect::<Result<_, _>>()?;
        Ok((types.describe("", Vec::new())?.description, indices))
    }

    fn get(&self, name: &str) -> Result<Declaration<'a>, SchemaError> {
        self.declared.get(name).copied().ok_or_else(|| SchemaError(format!("type {name:?} not found in the schema")))
    }
}

/// Types of a layout description under construction, in the order of their first use.
struct Types<'s, 'a> {
    schema: &'s Schema<'a>,
    /// Full names of the types, each with a leading dot.
    names: Vec<String>,
    indices: HashMap<String, u32>,
}

impl<'a> Types<'_, 'a> {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.indices.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }

    fn message(&mut self, name: &str) -> Result<u32, SchemaError> {
        match self.schema.get(name)? {
            Declaration::Message(..) => Ok(self.index(name)),
            Declaration::Enum(_) => Err(SchemaError(format!("type {name:?} is not a message"))),
        }
    }

    /// Describes the types collected so far, and all types that they refer to.
    fn describe(mut self, name: &str, methods: Vec<Method>) -> Result<Described, SchemaError> {
        let mut types = Vec::new();
        let mut names = String::new();
        while let Some(name) = self.names.get(types.len()).cloned() {
            names.push_str(name.trim_start_matches('.'));
            types.push(match self.schema.get(&name)? {
                Declaration::Enum(found) => {
                    TypeLayout::Enum(found.value.iter().map(prost_types::EnumValueDescriptorProto::number).collect())
                }
                Declaration::Message(message, has_presence) => {
                    let mut fields = self.fields(message, has_presence)?;
                    // The sort is stable, so each group keeps the order of declaration.
                    fields.sort_by_key(|(field, _)| field.group());
                    number_oneofs(&mut fields);
                    for (_, declared) in &fields {
                        names.push(' ');
                        names.push_str(declared.name());
                    }
                    // Assign type indexes in wire order, because that determines the first use.
                    let fields = fields.into_iter().map(|(field, declared)| self.with_index(field, declared));
                    TypeLayout::Message(fields.collect::<Result<_, _>>()?)
                }
            });
            names.push('\n');
        }
        Ok(Described { description: Description { name: name.to_owned(), types, methods }, names })
    }

    /// Returns the layout of a message's fields with their declarations, in the order of declaration. The indexes of
    /// message and enum types are assigned later.
    fn fields(&self, message: &'a DescriptorProto, has_presence: bool) -> Result<Vec<DeclaredField<'a>>, SchemaError> {
        let mut members: HashMap<i32, u16> = HashMap::new();
        let fields = message.field.iter().map(|declared| {
            let number = declared.number().cast_unsigned();
            let mut of = type_of(declared)?;
            let oneof = declared.oneof_index.filter(|_| !declared.proto3_optional());
            let shape = match (self.entry(declared)?, oneof) {
                (Some([key, value]), _) => {
                    of = type_of(value)?;
                    Shape::Map(type_of(key)?)
                }
                _ if declared.label() == Label::Repeated => Shape::Repeated,
                (_, Some(oneof)) => {
                    let member = members.entry(oneof).or_default();
                    *member = member.saturating_add(1);
                    Shape::Member { oneof: oneof as u16, member: *member }
                }
                _ if has_presence || declared.proto3_optional() || matches!(of, Type::Message(_)) => Shape::Optional,
                _ => Shape::Implicit,
            };
            Ok((Field { number, shape, of }, declared))
        });
        fields.collect()
    }

    /// Returns the key and the value field if `field` is a map, and `None` otherwise.
    fn entry(&self, field: &FieldDescriptorProto) -> Result<Option<[&'a FieldDescriptorProto; 2]>, SchemaError> {
        if field.r#type() != Declared::Message || field.label() != Label::Repeated {
            return Ok(None);
        }
        let Declaration::Message(message, _) = self.schema.get(field.type_name())? else { return Ok(None) };
        let is_entry = message.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry);
        Ok(match message.field.as_slice() {
            [key, value] if is_entry => Some([key, value]),
            _ => None,
        })
    }

    /// Assigns the type index of a field with a message or enum type.
    fn with_index(&mut self, field: Field, declared: &FieldDescriptorProto) -> Result<Field, SchemaError> {
        let of = self.entry(declared)?.map_or(declared, |[_, value]| value);
        let index = match field.of {
            Type::Message(_) => self.message(of.type_name())?,
            Type::Enum(_) => {
                self.schema.get(of.type_name())?;
                self.index(of.type_name())
            }
            _ => 0,
        };
        Ok(Field { of: field.of.with_index(index), ..field })
    }
}

type DeclaredField<'a> = (Field, &'a FieldDescriptorProto);

/// Renumbers the oneofs of a message in wire order.
fn number_oneofs(fields: &mut [DeclaredField<'_>]) {
    let mut numbers: HashMap<u16, u16> = HashMap::new();
    for (field, _) in fields {
        if let Shape::Member { oneof, .. } = &mut field.shape {
            let next = numbers.len() as u16;
            *oneof = *numbers.entry(*oneof).or_insert(next);
        }
    }
}

fn type_of(field: &FieldDescriptorProto) -> Result<Type, SchemaError> {
    let code = u8::try_from(field.r#type.unwrap_or_default()).ok();
    let unknown = || SchemaError(format!("field `{}` has no type with a layout", field.name()));
    code.and_then(Type::from_code).ok_or_else(unknown)
}
