//! The parameters of the plugin: `key=value`, separated by commas, with the names of frpc-build's options.
//!
//! A comma or backslash within a value is written with a backslash before it. A switch alone is on. Options that take
//! a path and something else have a second `=`: `extern_path=.a.B=::b::B`.

use std::path::{Component, Path};

use frpc_build::{Builder, Codec, Language, Numbering};

/// Sets all options that `parameter` names.
pub(crate) fn apply(builder: Builder, parameter: &str) -> Result<Builder, String> {
    let pairs = split(parameter);
    pairs.iter().map(|pair| pair.trim()).filter(|pair| !pair.is_empty()).try_fold(builder, |builder, pair| {
        let (name, value) = pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value)));
        let Some(found) = PARAMETERS.iter().find(|parameter| parameter.name == name) else {
            let names: Vec<_> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
            return Err(format!("parameter `{pair}`: unknown option; use one of {}", names.join(", ")));
        };
        (found.set)(builder, value).map_err(|problem| match problem {
            ParameterError::Form => format!("parameter `{pair}`: write `{}`", found.form()),
            ParameterError::Value(text) => format!("parameter `{pair}`: {text}"),
        })
    })
}

/// What `--help` says of the parameters, a line each.
pub(crate) fn help() -> String {
    let forms: Vec<_> = PARAMETERS.iter().map(Parameter::form).collect();
    let width = forms.iter().map(String::len).max().unwrap_or_default();
    let lines = forms.iter().zip(&PARAMETERS).map(|(form, it)| format!("  {form:width$}  {}\n", it.help));
    lines.collect()
}

struct Parameter {
    name: &'static str,
    /// How its value is written.
    value: &'static str,
    help: &'static str,
    set: fn(Builder, Option<&str>) -> Result<Builder, ParameterError>,
}

/// An error in a parameter.
enum ParameterError {
    /// It is not written as it should be.
    Form,
    Value(String),
}

const SWITCH: &str = "[=true|false]";

const PARAMETERS: [Parameter; 33] = [
    Parameter {
        name: "lang",
        value: "=rust|ts|py",
        help: "the language of the code; most other options are about Rust",
        set: |builder, value| {
            Ok(builder.language(match text(value)? {
                "rust" => Language::Rust,
                "ts" => Language::TypeScript,
                "py" => Language::Python,
                _ => return Err(ParameterError::Form),
            }))
        },
    },
    Parameter {
        name: "ts_numbers",
        value: SWITCH,
        help: "make integers of 64 bits `number` in TypeScript instead of `bigint`",
        set: |builder, value| Ok(builder.typescript_numbers(switch(value)?)),
    },
    Parameter {
        name: "ts_import_extension",
        value: "=js|ts|none",
        help: "the extension of imported modules in TypeScript; `js` if absent",
        set: |builder, value| {
            Ok(builder.typescript_import_extension(match text(value)? {
                extension @ ("js" | "ts") => extension,
                "none" => "",
                _ => return Err(ParameterError::Form),
            }))
        },
    },
    Parameter {
        name: "ts_runtime",
        value: "=MODULE",
        help: "what TypeScript imports instead of `frisbee-rpc`",
        set: |builder, value| Ok(builder.typescript_runtime(text(value)?)),
    },
    Parameter {
        name: "build_client",
        value: SWITCH,
        help: "write clients (the default)",
        set: |builder, value| Ok(builder.build_client(switch(value)?)),
    },
    Parameter {
        name: "build_server",
        value: SWITCH,
        help: "write servers and their traits (the default)",
        set: |builder, value| Ok(builder.build_server(switch(value)?)),
    },
    Parameter {
        name: "dyn_traits",
        value: SWITCH,
        help: "write a trait for trait objects of each service too",
        set: |builder, value| Ok(builder.dyn_traits(switch(value)?)),
    },
    Parameter {
        name: "views",
        value: SWITCH,
        help: "write a borrowed view of each message too",
        set: |builder, value| Ok(builder.views(switch(value)?)),
    },
    Parameter {
        name: "json",
        value: SWITCH,
        help: "write the JSON mapping of messages and enums too (needs the feature `json`)",
        set: |builder, value| Ok(builder.json(switch(value)?)),
    },
    Parameter {
        name: "reflection",
        value: SWITCH,
        help: "embed the schema of services, for reflection",
        set: |builder, value| Ok(builder.reflection(switch(value)?)),
    },
    Parameter {
        name: "undecoded_requests",
        value: "=PATH",
        help: "hand the requests of methods to their handlers undecoded",
        set: |builder, value| Ok(builder.undecoded_requests(text(value)?)),
    },
    Parameter {
        name: "codec",
        value: "=polyglot|protobuf",
        help: "how messages are encoded in bodies",
        set: |builder, value| {
            Ok(builder.codec(match text(value)? {
                "polyglot" => Codec::Polyglot,
                "protobuf" => Codec::Protobuf,
                _ => return Err(ParameterError::Form),
            }))
        },
    },
    Parameter {
        name: "numbering",
        value: "=sequential|go|lock",
        help: "how methods get their operations",
        set: |builder, value| {
            Ok(builder.numbering(match text(value)? {
                "sequential" => Numbering::Sequential,
                "go" => Numbering::Go,
                "lock" => Numbering::Lock,
                _ => return Err(ParameterError::Form),
            }))
        },
    },
    Parameter {
        name: "operation_base",
        value: "=FILE=OPERATION",
        help: "the operation of the first method of a file",
        set: |builder, value| {
            let (file, base) = pair(value)?;
            let problem = |error| ParameterError::Value(format!("{base:?} is not an operation: {error}"));
            Ok(builder.operation_base(file, base.parse().map_err(problem)?))
        },
    },
    Parameter {
        name: "lock_dir",
        value: "=FOLDER",
        help: "compare the schema with the locks in a folder; without it there are none",
        set: |builder, value| Ok(builder.lock_dir(text(value)?)),
    },
    Parameter {
        name: "include_file",
        value: "=NAME",
        help: "also write a file that includes all others, in modules named like the packages",
        set: |builder, value| Ok(builder.include_file(below(text(value)?)?)),
    },
    Parameter {
        name: "extern_path",
        value: "=PATH=RUST",
        help: "use a type of yours for a type or package of the schema",
        set: |builder, value| pair(value).map(|(path, rust)| builder.extern_path(path, rust)),
    },
    Parameter {
        name: "compile_well_known_types",
        value: SWITCH,
        help: "generate protobuf's well-known types instead of using those of prost-types",
        set: |builder, value| Ok(builder.compile_well_known_types(switch(value)?)),
    },
    Parameter {
        name: "bytes",
        value: "=PATH",
        help: "make bytes fields `Bytes` instead of `Vec<u8>`",
        set: |builder, value| Ok(builder.bytes(text(value)?)),
    },
    Parameter {
        name: "utf8_bytes",
        value: "=PATH",
        help: "make string fields `Utf8Bytes` instead of `String`",
        set: |builder, value| Ok(builder.utf8_bytes(text(value)?)),
    },
    Parameter {
        name: "btree_map",
        value: "=PATH",
        help: "make map fields `BTreeMap` instead of `HashMap`",
        set: |builder, value| Ok(builder.btree_map(text(value)?)),
    },
    Parameter {
        name: "boxed",
        value: "=PATH",
        help: "put message fields into boxes",
        set: |builder, value| Ok(builder.boxed(text(value)?)),
    },
    Parameter {
        name: "type_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to messages, enums and oneofs",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.type_attribute(path, attribute)),
    },
    Parameter {
        name: "message_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to messages",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.message_attribute(path, attribute)),
    },
    Parameter {
        name: "enum_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to enums and oneofs",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.enum_attribute(path, attribute)),
    },
    Parameter {
        name: "field_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to fields and enum values",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.field_attribute(path, attribute)),
    },
    Parameter {
        name: "client_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to clients",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.client_attribute(path, attribute)),
    },
    Parameter {
        name: "server_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to servers",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.server_attribute(path, attribute)),
    },
    Parameter {
        name: "trait_attribute",
        value: "=PATH=ATTRIBUTE",
        help: "add an attribute to the traits of services",
        set: |builder, value| pair(value).map(|(path, attribute)| builder.trait_attribute(path, attribute)),
    },
    Parameter {
        name: "disable_comments",
        value: "=PATH",
        help: "leave out comments of the schema",
        set: |builder, value| Ok(builder.disable_comments(text(value)?)),
    },
    Parameter {
        name: "skip_debug",
        value: "=PATH",
        help: "leave out `Debug`, for an implementation of yours",
        set: |builder, value| Ok(builder.skip_debug(text(value)?)),
    },
    Parameter {
        name: "enable_type_names",
        value: SWITCH,
        help: "implement prost's `Name` for messages",
        set: |builder, value| Ok(if switch(value)? { builder.enable_type_names() } else { builder }),
    },
    Parameter {
        name: "retain_enum_prefix",
        value: SWITCH,
        help: "keep the name of an enum before those of its values",
        set: |builder, value| Ok(if switch(value)? { builder.retain_enum_prefix() } else { builder }),
    },
];

impl Parameter {
    /// How it is written.
    fn form(&self) -> String {
        format!("{}{}", self.name, self.value)
    }
}

fn switch(value: Option<&str>) -> Result<bool, ParameterError> {
    match value {
        None | Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) => Err(ParameterError::Form),
    }
}

fn text(value: Option<&str>) -> Result<&str, ParameterError> {
    value.filter(|value| !value.is_empty()).ok_or(ParameterError::Form)
}

fn pair(value: Option<&str>) -> Result<(&str, &str), ParameterError> {
    text(value)?.split_once('=').ok_or(ParameterError::Form)
}

/// A name below the folder that protoc writes to.
fn below(name: &str) -> Result<&str, ParameterError> {
    let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let is_plain = !name.contains(['\\', ':']);
    let leads_out = || ParameterError::Value("it leads out of the output folder".to_owned());
    if is_below && is_plain { Ok(name) } else { Err(leads_out()) }
}

fn split(parameter: &str) -> Vec<String> {
    let mut pairs = vec![String::new()];
    let mut letters = parameter.chars();
    while let Some(letter) = letters.next() {
        let last = pairs.last_mut().expect("there is always one");
        match letter {
            ',' => pairs.push(String::new()),
            '\\' => last.extend(letters.next()),
            _ => last.push(letter),
        }
    }
    pairs
}
