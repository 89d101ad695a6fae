//! A plugin for protoc and buf: the generator of frpc-build, for teams whose schemas are compiled that way already.
//!
//! ```text
//! protoc --frpc_out=src/generated --frpc_opt=build_client=false,bytes=. echo.proto
//! ```
//!
//! Owns the conversation with protoc: a `CodeGeneratorRequest` on the standard input, a `CodeGeneratorResponse` on the
//! standard output. Errors of the schema go into the response, warnings to the standard error; nothing is written to
//! disk. `parameters.rs` owns the options.

#![forbid(unsafe_code)]

mod parameters;

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use prost_types::compiler::code_generator_response::{Feature, File};
use prost_types::compiler::{CodeGeneratorRequest, CodeGeneratorResponse};

fn main() -> ExitCode {
    match converse() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "protoc-gen-frpc: {error}");
            ExitCode::FAILURE
        }
    }
}

fn converse() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let request = CodeGeneratorRequest::decode(&input[..]).map_err(|error| {
        format!("the standard input is not a CodeGeneratorRequest ({error}): this program is started by protoc")
    })?;
    let response = CodeGeneratorResponse {
        supported_features: Some(Feature::Proto3Optional as u64),
        ..match files(request) {
            Ok(file) => CodeGeneratorResponse { file, ..CodeGeneratorResponse::default() },
            Err(error) => CodeGeneratorResponse { error: Some(error), ..CodeGeneratorResponse::default() },
        }
    };
    io::stdout().lock().write_all(&response.encode_to_vec())?;
    Ok(())
}

/// The files to be written, or what is wrong with the schema or the parameters.
fn files(request: CodeGeneratorRequest) -> Result<Vec<File>, String> {
    let builder = parameters::apply(frpc_build::configure(), request.parameter())?;
    let set = FileDescriptorSet { file: request.proto_file };
    let output = builder.generate(set, &request.file_to_generate).map_err(|error| error.to_string())?;
    for warning in output.warnings {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    let file = |it: frpc_build::OutputFile| File { name: Some(it.name), content: Some(it.text), ..File::default() };
    Ok(output.files.into_iter().map(file).collect())
}
