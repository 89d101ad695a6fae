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
        let Some((_, form, _)) = PARAMETERS.iter().find(|parameter| parameter.0 == name) else {
            let names: Vec<_> = PARAMETERS.iter().map(|parameter| parameter.0).collect();
            return Err(format!("parameter `{pair}`: unknown option; use one of {}", names.join(", ")));
        };
        set(builder, &mut languages, name, value).map_err(|problem| match problem {
            ParameterError::Form => format!("parameter `{pair}`: write `{name}{form}`"),
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
    let lines = PARAMETERS.map(|(name, form, help)| (format!("{name}{form}"), help));
    let width = lines.iter().map(|(syntax, _)| syntax.len()).max().unwrap_or_default();
    lines.iter().map(|(syntax, help)| format!("  {syntax:width$}  {help}\n")).collect()
}

/// The selected target language and the language-specific options.
#[derive(Default)]
struct Languages {
    selected: Language,
    typescript: TypeScript,
}

impl Languages {
    /// Sets the target language or an option of TypeScript. Returns `false` for any other parameter, which then
    /// configures the builder.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<bool, ParameterError> {
        let typescript = self.typescript.clone();
        match (name, value) {
            ("lang", Some("rust")) => self.selected = Language::Rust,
            ("lang", Some("ts")) => self.selected = Language::TypeScript,
            ("lang", Some("py")) => self.selected = Language::Python,
            ("ts_numbers", _) => self.typescript = typescript.numbers(is_on(value)?),
            ("ts_import_extension", Some(extension @ ("js" | "ts"))) => {
                self.typescript = typescript.import_extension(extension);
            }
            ("ts_import_extension", Some("none")) => self.typescript = typescript.import_extension(""),
            ("ts_runtime", _) => self.typescript = typescript.runtime(text(value)?),
            ("lang" | "ts_import_extension", _) => return Err(ParameterError::Form),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
enum Language {
    #[default]
    Rust,
    TypeScript,
    Python,
}

type Outcome = Result<Builder, ParameterError>;

/// The reason why a plugin parameter is rejected.
enum ParameterError {
    /// The value of the parameter has invalid syntax.
    Form,
    Value(String),
}

/// Value of boolean parameters, as shown in the help text.
const SWITCH: &str = "[=true|false]";

const PATH: &str = "=PATH";

const ATTRIBUTE: &str = "=PATH=ATTRIBUTE";

/// The name of each parameter, the syntax of its value, and its help text.
const PARAMETERS: [(&str, &str, &str); 35] = [
    ("lang", "=rust|ts|py", "the language of the code; most other options are about Rust"),
    ("ts_numbers", SWITCH, "make integers of 64 bits `number` in TypeScript instead of `bigint`"),
    ("ts_import_extension", "=js|ts|none", "the extension of imported modules in TypeScript; `js` if absent"),
    ("ts_runtime", "=MODULE", "what TypeScript imports instead of `frisbee-rpc`"),
    ("build_client", SWITCH, "write clients (the default)"),
    ("build_server", SWITCH, "write servers and their traits (the default)"),
    ("dyn_traits", SWITCH, "write a trait for trait objects of each service too"),
    ("views", SWITCH, "write a borrowed view of each message too"),
    ("json", SWITCH, "write the JSON mapping of messages and enums too (needs the feature `json`)"),
    ("protobuf", SWITCH, "let gRPC and Connect call methods with protobuf's encoding"),
    ("reflection", SWITCH, "embed the schema of services, for reflection"),
    ("undecoded_requests", PATH, "hand the requests of methods to their handlers undecoded"),
    ("codec", "=polyglot|protobuf", "how messages are encoded in bodies"),
    ("numbering", "=sequential|go", "how methods get their operations"),
    ("operation_base", "=FILE=OPERATION", "the operation of the first method of a file"),
    ("include_file", "=NAME", "also write a file that includes all others, in modules named like the packages"),
    ("extern_path", "=PATH=RUST", "use a type of yours for a type or package of the schema"),
    ("compile_well_known_types", SWITCH, "generate protobuf's well-known types instead of using those of prost-types"),
    ("bytes", PATH, "make bytes fields `Bytes` instead of `Vec<u8>`"),
    ("utf8_bytes", PATH, "make string fields `Utf8Bytes` instead of `String`"),
    ("btree_map", PATH, "make map fields `BTreeMap` instead of `HashMap`"),
    ("boxed", PATH, "put message fields into boxes"),
    ("message_layouts", PATH, "mark stored and published messages with the fingerprint of their layout"),
    ("type_attribute", ATTRIBUTE, "add an attribute to messages, enums and oneofs"),
    ("message_attribute", ATTRIBUTE, "add an attribute to messages"),
    ("enum_attribute", ATTRIBUTE, "add an attribute to enums and oneofs"),
    ("field_attribute", ATTRIBUTE, "add an attribute to fields and enum values"),
    ("client_attribute", ATTRIBUTE, "add an attribute to clients"),
    ("server_attribute", ATTRIBUTE, "add an attribute to servers"),
    ("trait_attribute", ATTRIBUTE, "add an attribute to the traits of services"),
    ("disable_comments", PATH, "leave out comments of the schema"),
    ("skip_debug", PATH, "leave out `Debug`, for an implementation of yours"),
    ("lint_allows", SWITCH, "allow lints in generated code (the default)"),
    ("enable_type_names", SWITCH, "implement prost's `Name` for messages"),
    ("retain_enum_prefix", SWITCH, "keep the name of an enum before those of its values"),
];

/// Applies one plugin parameter, such as `codec=protobuf`, to the builder or to the language options.
fn set(builder: Builder, languages: &mut Languages, name: &str, value: Option<&str>) -> Outcome {
    let on = || is_on(value);
    let text = || text(value);
    let pair = || text()?.split_once('=').ok_or(ParameterError::Form);
    if languages.set(name, value)? {
        return Ok(builder);
    }
    Ok(match name {
        "codec" => builder.codec(match value {
            Some("polyglot") => Codec::Polyglot,
            Some("protobuf") => Codec::Protobuf,
            _ => return Err(ParameterError::Form),
        }),
        "numbering" => builder.numbering(match value {
            Some("sequential") => Numbering::Sequential,
            Some("go") => Numbering::Go,
            _ => return Err(ParameterError::Form),
        }),
        "operation_base" => {
            let (file, base) = pair()?;
            let problem = |error| ParameterError::Value(format!("{base:?} is not an operation: {error}"));
            builder.operation_base(file, base.parse().map_err(problem)?)
        }
        "include_file" => builder.include_file(below(text()?)?),
        "enable_type_names" if !on()? => builder,
        "enable_type_names" => builder.enable_type_names(),
        "retain_enum_prefix" if !on()? => builder,
        "retain_enum_prefix" => builder.retain_enum_prefix(),
        "extern_path" => pair().map(|(path, rust)| builder.extern_path(path, rust))?,
        "build_client" => builder.build_client(on()?),
        "build_server" => builder.build_server(on()?),
        "dyn_traits" => builder.dyn_traits(on()?),
        "views" => builder.views(on()?),
        "json" => builder.json(on()?),
        "protobuf" => builder.protobuf(on()?),
        "reflection" => builder.reflection(on()?),
        "compile_well_known_types" => builder.compile_well_known_types(on()?),
        "lint_allows" => builder.lint_allows(on()?),
        "undecoded_requests" => builder.undecoded_requests(text()?),
        "bytes" => builder.bytes(text()?),
        "utf8_bytes" => builder.utf8_bytes(text()?),
        "btree_map" => builder.btree_map(text()?),
        "boxed" => builder.boxed(text()?),
        "message_layouts" => builder.message_layouts(text()?),
        "disable_comments" => builder.disable_comments(text()?),
        "skip_debug" => builder.skip_debug(text()?),
        "type_attribute" => pair().map(|(path, attribute)| builder.type_attribute(path, attribute))?,
        "message_attribute" => pair().map(|(path, attribute)| builder.message_attribute(path, attribute))?,
        "enum_attribute" => pair().map(|(path, attribute)| builder.enum_attribute(path, attribute))?,
        "field_attribute" => pair().map(|(path, attribute)| builder.field_attribute(path, attribute))?,
        "client_attribute" => pair().map(|(path, attribute)| builder.client_attribute(path, attribute))?,
        "server_attribute" => pair().map(|(path, attribute)| builder.server_attribute(path, attribute))?,
        "trait_attribute" => pair().map(|(path, attribute)| builder.trait_attribute(path, attribute))?,
        _ => unreachable!("each parameter of the table should be set here"),
    })
}

fn is_on(value: Option<&str>) -> Result<bool, ParameterError> {
    match value {
        None | Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) => Err(ParameterError::Form),
    }
}

/// Returns the value of a parameter, or an error if it is missing or empty.
fn text(value: Option<&str>) -> Result<&str, ParameterError> {
    value.filter(|value| !value.is_empty()).ok_or(ParameterError::Form)
}

/// Returns a relative path, or an error if it leads out of protoc's output folder.
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
