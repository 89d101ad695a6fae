//! The parameters of the plugin: `key=value`, separated by commas, with the names of frpc-build's options.
//!
//! A comma or backslash within a value is written with a backslash before it. A switch alone is on. Options that take
//! a path and something else have a second `=`: `extern_path=.a.B=::b::B`.

use std::path::{Component, Path};

use frpc_build::{Builder, Codec, Numbering};

/// Sets all options that `parameter` names.
pub(crate) fn apply(builder: Builder, parameter: &str) -> Result<Builder, String> {
    let pairs = split(parameter);
    pairs.iter().map(|pair| pair.trim()).filter(|pair| !pair.is_empty()).try_fold(builder, |builder, pair| {
        let (key, value) = pair.split_once('=').map_or((pair, None), |(key, value)| (key, Some(value)));
        option(builder, key, value).map_err(|problem| format!("parameter `{pair}`: {problem}"))
    })
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

fn option(builder: Builder, key: &str, value: Option<&str>) -> Result<Builder, String> {
    let switch = || match value {
        None | Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) => Err("it can be `true` or `false`".to_owned()),
    };
    let text = || value.filter(|value| !value.is_empty()).ok_or_else(|| "it needs a value".to_owned());
    let pair = || text()?.split_once('=').ok_or_else(|| format!("it is written `{key}=PATH=VALUE`"));
    Ok(match key {
        "build_client" => builder.build_client(switch()?),
        "build_server" => builder.build_server(switch()?),
        "grpc" => builder.grpc(switch()?),
        "views" => builder.views(switch()?),
        "codec" => builder.codec(match text()? {
            "polyglot" => Codec::Polyglot,
            "protobuf" => Codec::Protobuf,
            _ => return Err("it can be `polyglot` or `protobuf`".to_owned()),
        }),
        "raw_requests" => builder.raw_requests(text()?),
        "compile_well_known_types" => builder.compile_well_known_types(switch()?),
        "enable_type_names" if switch()? => builder.enable_type_names(),
        "retain_enum_prefix" if switch()? => builder.retain_enum_prefix(),
        "enable_type_names" | "retain_enum_prefix" => builder,
        "bytes" => builder.bytes(text()?),
        "btree_map" => builder.btree_map(text()?),
        "boxed" => builder.boxed(text()?),
        "disable_comments" => builder.disable_comments(text()?),
        "skip_debug" => builder.skip_debug(text()?),
        "extern_path" => pair().map(|(path, rust)| builder.extern_path(path, rust))?,
        "type_attribute" => pair().map(|(path, attribute)| builder.type_attribute(path, attribute))?,
        "message_attribute" => pair().map(|(path, attribute)| builder.message_attribute(path, attribute))?,
        "enum_attribute" => pair().map(|(path, attribute)| builder.enum_attribute(path, attribute))?,
        "field_attribute" => pair().map(|(path, attribute)| builder.field_attribute(path, attribute))?,
        "client_attribute" => pair().map(|(path, attribute)| builder.client_attribute(path, attribute))?,
        "server_attribute" => pair().map(|(path, attribute)| builder.server_attribute(path, attribute))?,
        "trait_attribute" => pair().map(|(path, attribute)| builder.trait_attribute(path, attribute))?,
        "include_file" => builder.include_file(file_name(text()?)?),
        "lock_dir" => builder.lock_dir(text()?),
        "numbering" => builder.numbering(match text()? {
            "go" => Numbering::Go,
            "lock" => Numbering::Lock,
            _ => return Err("it can be `go` or `lock`".to_owned()),
        }),
        "operation_base" => {
            let (file, base) = pair()?;
            let base = base.parse().map_err(|error| format!("{base:?} is not an operation: {error}"))?;
            builder.operation_base(file, base)
        }
        _ => return Err("there is no such option".to_owned()),
    })
}

/// A name below the folder that protoc writes to.
fn file_name(name: &str) -> Result<&str, String> {
    let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let is_plain = !name.contains(['\\', ':']);
    if is_below && is_plain { Ok(name) } else { Err("it leads out of the output folder".to_owned()) }
}
