//! The parameters of the plugin: `key=value`, separated by commas, with the names of frpc-build's options.
//!
//! A comma or backslash within a value is escaped by a backslash. A switch without a value is enabled. Options that
//! take a path and another value have a second `=`: `extern_path=.a.B=::b::B`.

use std::path::{Component, Path};

use frpc_build::{Builder, Codec, Numbering};
use frpc_languages::{Python, TypeScript};

/// Creates a builder with the options given in `parameter`.
pub(crate) fn builder(parameter: &str) -> Result<Builder, String> {
    let mut languages = Languages::default();
    let pairs = split(parameter);
    let mut pairs = pairs.iter().map(|pair| pair.trim()).filter(|pair| !pair.is_empty());
    let builder = pairs.try_fold(frpc_build::configure(), |builder, pair| {
        let (name, value) = pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value)));
        let Some(found) = PARAMETERS.iter().find(|parameter| parameter.name == name) else {
            let names: Vec<_> = PARAMETERS.iter().map(|parameter| parameter.name).collect();
            return Err(format!("parameter `{pair}`: unknown option; use one of {}", names.join(", ")));
        };
        found.apply(builder, &mut languages, value).map_err(|problem| match problem {
            ParameterError::Form => format!("parameter `{pair}`: write `{}`", found.form()),
            ParameterError::Value(text) => format!("parameter `{pair}`: {text}"),
        })
    })?;
    Ok(match languages.selected {
        Language::Rust => builder,
        Language::TypeScript => builder.backend(languages.typescript),
        Language::Python => builder.backend(Python),
    })
}

/// Returns the help text for the plugin parameters, with one line for each.
pub(crate) fn help() -> String {
    let forms: Vec<_> = PARAMETERS.iter().map(Parameter::form).collect();
    let width = forms.iter().map(String::len).max().unwrap_or_default();
    let lines = forms.iter().zip(&PARAMETERS).map(|(form, it)| format!("  {form:width$}  {}\n", it.help));
    lines.collect()
}

/// The selected target language and the language-specific options.
#[derive(Default)]
struct Languages {
    selected: Language,
    typescript: TypeScript,
}

#[derive(Default)]
enum Language {
    #[default]
    Rust,
    TypeScript,
    Python,
}

struct Parameter {
    name: &'static str,
    /// Syntax of the parameter's value, shown in the help text.
    value: &'static str,
    help: &'static str,
    set: Setter,
}

/// Function that sets a builder option. The variant corresponds to the syntax of the value.
enum Setter {
    Language(fn(&mut Languages, Option<&str>) -> Result<(), ParameterError>),
    Switch(fn(Builder, bool) -> Builder),
    Path(fn(Builder, &str) -> Builder),
    Attribute(fn(Builder, &str, &str) -> Builder),
    Text(fn(Builder, &str) -> Outcome),
    /// Sets an option whose value is two texts separated by `=`.
    Pair(fn(Builder, &str, &str) -> Outcome),
}

type Outcome = Result<Builder, ParameterError>;

/// The reason why a plugin parameter is rejected.
enum ParameterError {
    /// The value of the parameter has invalid syntax.
    Form,
    Value(String),
}

/// Syntax of the value of a boolean parameter, for the help text.
const SWITCH: &str = "[=true|false]";

const PARAMETERS: [Parameter; 34] = [
    Parameter::language(
        "lang",
        "=rust|ts|py",
        "the language of the code; most other options are about Rust",
        |languages, value| {
            languages.selected = match value {
                Some("rust") => Language::Rust,
                Some("ts") => Language::TypeScript,
                Some("py") => Language::Python,
                _ => return Err(ParameterError::Form),
            };
            Ok(())
        },
    ),
    Parameter::language(
        "ts_numbers",
        SWITCH,
        "make integers of 64 bits `number` in TypeScript instead of `bigint`",
        |languages, value| {
            languages.typescript = languages.typescript.clone().numbers(is_on(value)?);
            Ok(())
        },
    ),
    Parameter::language(
        "ts_import_extension",
        "=js|ts|none",
        "the extension of imported modules in TypeScript; `js` if absent",
        |languages, value| {
            languages.typescript = languages.typescript.clone().import_extension(match value {
                Some(extension @ ("js" | "ts")) => extension,
                Some("none") => "",
                _ => return Err(ParameterError::Form),
            });
            Ok(())
        },
    ),
    Parameter::language(
        "ts_runtime",
        "=MODULE",
        "what TypeScript imports instead of `frisbee-rpc`",
        |languages, value| {
            languages.typescript = languages.typescript.clone().runtime(filled(value)?);
            Ok(())
        },
    ),
    Parameter::switch("build_client", "write clients (the default)", Builder::build_client),
    Parameter::switch("build_server", "write servers and their traits (the default)", Builder::build_server),
    Parameter::switch("dyn_traits", "write a trait for trait objects of each service too", Builder::dyn_traits),
    Parameter::switch("views", "write a borrowed view of each message too", Builder::views),
    Parameter::switch(
        "json",
        "write the JSON mapping of messages and enums too (needs the feature `json`)",
        Builder::json,
    ),
    Parameter::switch("protobuf", "let gRPC and Connect call methods with protobuf's encoding", Builder::protobuf),
    Parameter::switch("reflection", "embed the schema of services, for reflection", Builder::reflection),
    Parameter::path(
        "undecoded_requests",
        "hand the requests of methods to their handlers undecoded",
        |builder, path| builder.undecoded_requests(path),
    ),
    Parameter::text("codec", "=polyglot|protobuf", "how messages are encoded in bodies", |builder, value| {
        Ok(builder.codec(match value {
            "polyglot" => Codec::Polyglot,
            "protobuf" => Codec::Protobuf,
            _ => return Err(ParameterError::Form),
        }))
    }),
    Parameter::text("numbering", "=sequential|go", "how methods get their operations", |builder, value| {
        Ok(builder.numbering(match value {
            "sequential" => Numbering::Sequential,
            "go" => Numbering::Go,
            _ => return Err(ParameterError::Form),
        }))
    }),
    Parameter::pair(
        "operation_base",
        "=FILE=OPERATION",
        "the operation of the first method of a file",
        |builder, file, base| {
            let problem = |error| ParameterError::Value(format!("{base:?} is not an operation: {error}"));
            Ok(builder.operation_base(file, base.parse().map_err(problem)?))
        },
    ),
    Parameter::text(
        "include_file",
        "=NAME",
        "also write a file that includes all others, in modules named like the packages",
        |builder, value| Ok(builder.include_file(below(value)?)),
    ),
    Parameter::pair(
        "extern_path",
        "=PATH=RUST",
        "use a type of yours for a type or package of the schema",
        |builder, path, rust| Ok(builder.extern_path(path, rust)),
    ),
    Parameter::switch(
        "compile_well_known_types",
        "generate protobuf's well-known types instead of using those of prost-types",
        Builder::compile_well_known_types,
    ),
    Parameter::path("bytes", "make bytes fields `Bytes` instead of `Vec<u8>`", |builder, path| builder.bytes(path)),
    Parameter::path("utf8_bytes", "make string fields `Utf8Bytes` instead of `String`", |builder, path| {
        builder.utf8_bytes(path)
    }),
    Parameter::path("btree_map", "make map fields `BTreeMap` instead of `HashMap`", |builder, path| {
        builder.btree_map(path)
    }),
    Parameter::path("boxed", "put message fields into boxes", |builder, path| builder.boxed(path)),
    Parameter::attribute("type_attribute", "add an attribute to messages, enums and oneofs", |builder, path, text| {
        builder.type_attribute(path, text)
    }),
    Parameter::attribute("message_attribute", "add an attribute to messages", |builder, path, text| {
        builder.message_attribute(path, text)
    }),
    Parameter::attribute("enum_attribute", "add an attribute to enums and oneofs", |builder, path, text| {
        builder.enum_attribute(path, text)
    }),
    Parameter::attribute("field_attribute", "add an attribute to fields and enum values", |builder, path, text| {
        builder.field_attribute(path, text)
    }),
    Parameter::attribute("client_attribute", "add an attribute to clients", |builder, path, text| {
        builder.client_attribute(path, text)
    }),
    Parameter::attribute("server_attribute", "add an attribute to servers", |builder, path, text| {
        builder.server_attribute(path, text)
    }),
    Parameter::attribute("trait_attribute", "add an attribute to the traits of services", |builder, path, text| {
        builder.trait_attribute(path, text)
    }),
    Parameter::path("disable_comments", "leave out comments of the schema", |builder, path| {
        builder.disable_comments(path)
    }),
    Parameter::path("skip_debug", "leave out `Debug`, for an implementation of yours", |builder, path| {
        builder.skip_debug(path)
    }),
    Parameter::switch("lint_allows", "allow lints in generated code (the default)", Builder::lint_allows),
    Parameter::switch("enable_type_names", "implement prost's `Name` for messages", |builder, is_on| {
        if is_on { builder.enable_type_names() } else { builder }
    }),
    Parameter::switch("retain_enum_prefix", "keep the name of an enum before those of its values", |builder, is_on| {
        if is_on { builder.retain_enum_prefix() } else { builder }
    }),
];

impl Parameter {
    const fn switch(name: &'static str, help: &'static str, set: fn(Builder, bool) -> Builder) -> Self {
        Self { name, value: SWITCH, help, set: Setter::Switch(set) }
    }

    const fn language(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        set: fn(&mut Languages, Option<&str>) -> Result<(), ParameterError>,
    ) -> Self {
        Self { name, value, help, set: Setter::Language(set) }
    }

    const fn path(name: &'static str, help: &'static str, set: fn(Builder, &str) -> Builder) -> Self {
        Self { name, value: "=PATH", help, set: Setter::Path(set) }
    }

    const fn attribute(name: &'static str, help: &'static str, set: fn(Builder, &str, &str) -> Builder) -> Self {
        Self { name, value: "=PATH=ATTRIBUTE", help, set: Setter::Attribute(set) }
    }

    const fn text(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        set: fn(Builder, &str) -> Outcome,
    ) -> Self {
        Self { name, value, help, set: Setter::Text(set) }
    }

    const fn pair(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        set: fn(Builder, &str, &str) -> Outcome,
    ) -> Self {
        Self { name, value, help, set: Setter::Pair(set) }
    }

    /// Returns the parameter with the syntax of its value, for the help text.
    fn form(&self) -> String {
        format!("{}{}", self.name, self.value)
    }

    fn apply(&self, builder: Builder, languages: &mut Languages, value: Option<&str>) -> Outcome {
        let pair = || filled(value)?.split_once('=').ok_or(ParameterError::Form);
        match self.set {
            Setter::Language(set) => set(languages, value).map(|()| builder),
            Setter::Switch(set) => Ok(set(builder, is_on(value)?)),
            Setter::Path(set) => Ok(set(builder, filled(value)?)),
            Setter::Text(set) => set(builder, filled(value)?),
            Setter::Attribute(set) => pair().map(|(path, attribute)| set(builder, path, attribute)),
            Setter::Pair(set) => pair().and_then(|(first, second)| set(builder, first, second)),
        }
    }
}

fn filled(value: Option<&str>) -> Result<&str, ParameterError> {
    value.filter(|value| !value.is_empty()).ok_or(ParameterError::Form)
}

fn is_on(value: Option<&str>) -> Result<bool, ParameterError> {
    match value {
        None | Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) => Err(ParameterError::Form),
    }
}

/// Checks that a relative path stays within protoc's output folder.
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
        let last = pairs.last_mut().expect("list of pairs should not be empty");
        match letter {
            ',' => pairs.push(String::new()),
            '\\' => last.extend(letters.next()),
            _ => last.push(letter),
        }
    }
    pairs
}
