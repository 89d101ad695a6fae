//! A plugin for protoc and buf with the generators of frpc-build and frpc-languages, for teams that already compile
//! their schemas with these tools.
//!
//! ```text
//! protoc --frpc_out=src/generated --frpc_opt=build_client=false,bytes=. echo.proto
//! ```
//!
//! It also works without protoc: `protoc-gen-frpc generate lang=ts src/generated proto/greet.proto`. For Python, use
//! `lang=py`.
//!
//! This module reads a `CodeGeneratorRequest` from standard input and writes a `CodeGeneratorResponse` to standard
//! output. Errors in the schema are part of the response, and warnings are written to standard error. `parameters.rs`
//! parses the options.

#![forbid(unsafe_code)]

mod parameters;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use prost_types::compiler::code_generator_response::{Feature, File};
use prost_types::compiler::{CodeGeneratorRequest, CodeGeneratorResponse};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let result = match &arguments[..] {
        [] if io::stdin().is_terminal() => Err("protoc starts this program; `--help` shows how".into()),
        [] => converse(),
        [argument] if argument == "--help" || argument == "-h" => print(&help()),
        [argument] if argument == "--version" || argument == "-V" => print(VERSION),
        [command, rest @ ..] if command == "generate" => generate(rest),
        [argument, ..] => {
            let text = format!("unexpected argument {argument:?}; there are `generate`, `--help` and `--version`");
            Err(text.into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "protoc-gen-frpc: {error}");
            ExitCode::FAILURE
        }
    }
}

const VERSION: &str = concat!("protoc-gen-frpc ", env!("CARGO_PKG_VERSION"), "\n");

fn help() -> String {
    format!(
        "{VERSION}
Generates frpc services, clients and codecs from proto3. protoc and buf start it and send it the schema:

  protoc --frpc_out=src/generated --frpc_opt=build_client=false,bytes=. echo.proto

Without protoc, from any number of files:

  protoc-gen-frpc generate lang=ts src/generated proto/greet.proto

Parameters (--frpc_opt, `opt` in buf.gen.yaml, and behind `generate`), separated by commas, with a backslash before a
comma in a value:

{}
A PATH names things of the schema: `.package.Message` and all in it, the end of such a path, or `.` for everything.
",
        parameters::help()
    )
}

fn print(text: &str) -> Result<(), Box<dyn std::error::Error>> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// Generates code without protoc. The arguments are the parameters (or `-` for none), the output folder, and the files.
/// Imports are searched in the folders of the files and in the current folder.
fn generate(arguments: &[OsString]) -> Result<(), Box<dyn std::error::Error>> {
    let [parameter, folder, files @ ..] = arguments else {
        return Err("`generate` needs parameters (or `-`), a folder and files".into());
    };
    if files.is_empty() {
        return Err("`generate` needs a file, such as proto/greet.proto".into());
    }
    let parameter = parameter.to_str().ok_or("the parameters are not UTF-8")?;
    let builder = parameters::builder(if parameter == "-" { "" } else { parameter })?;
    let mut includes: Vec<PathBuf> = Vec::new();
    let folders = files.iter().filter_map(|file| Path::new(file).parent()).chain([Path::new(".")]);
    for include in folders.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) {
        if !includes.iter().any(|known| known == include) {
            includes.push(include.to_path_buf());
        }
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot create the output folder {}: {error}", Path::new(folder).display()))?;
    // Emit no cargo instructions, because a protoc plugin does not run under cargo.
    Ok(builder.out_dir(folder).emit_rerun_if_changed(false).compile_protos(files, &includes)?)
}

fn converse() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let request = CodeGeneratorRequest::decode(&input[..]).map_err(|error| {
        format!("the standard input is not a CodeGeneratorRequest ({error}): protoc starts this program")
    })?;
    let response = CodeGeneratorResponse {
        supported_features: Some(Feature::Proto3Optional as u64),
        ..match files(request, &input) {
            Ok(file) => CodeGeneratorResponse { file, ..CodeGeneratorResponse::default() },
            Err(error) => CodeGeneratorResponse { error: Some(error), ..CodeGeneratorResponse::default() },
        }
    };
    io::stdout().lock().write_all(&response.encode_to_vec())?;
    Ok(())
}

/// The `.proto` files of a plugin request, each still encoded, so that options that prost-types does not know are kept.
#[derive(Clone, PartialEq, prost::Message)]
struct RawRequest {
    #[prost(bytes = "vec", repeated, tag = "15")]
    proto_file: Vec<Vec<u8>>,
}

/// Returns the generated files, or the text of an error in the schema or the parameters.
fn files(request: CodeGeneratorRequest, input: &[u8]) -> Result<Vec<File>, String> {
    let builder = parameters::builder(request.parameter())?;
    let mut set = FileDescriptorSet { file: request.proto_file };
    if let Ok(request) = RawRequest::decode(input) {
        let mut encoded = Vec::new();
        prost::encoding::bytes::encode_repeated(1, &request.proto_file, &mut encoded);
        frpc_build::keep_options(&mut set, &encoded);
    }
    let output = builder.generate(set, &request.file_to_generate).map_err(|error| error.to_string())?;
    for warning in output.warnings {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    let file = |it: frpc_build::OutputFile| File { name: Some(it.name), content: Some(it.text), ..File::default() };
    Ok(output.files.into_iter().map(file).collect())
}
