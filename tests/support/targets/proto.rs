//! A fuzz target for the code generator, with an arbitrary .proto file.

use frpc_build::{Codec, Output};
use prost_types::FileDescriptorSet;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// Name of the schema file.
const NAME: &str = "test.proto";

/// A virtual folder with a single file.
struct Single(String);

impl FileResolver for Single {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == NAME { File::from_source(name, &self.0) } else { Err(protox::Error::file_not_found(name)) }
    }
}

/// Parses text as a schema.
fn parse(text: &str) -> Result<FileDescriptorSet, protox::Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Single(text.to_owned()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).include_source_info(true);
    compiler.open_file(NAME)?;
    Ok(compiler.file_descriptor_set())
}

/// Generates code from a schema file. Checks that the result is an error, or files that are directly in the output
/// folder. The length of the text selects other options.
pub fn proto(data: &[u8]) {
    let Ok(schema) = str::from_utf8(data).map_err(drop).and_then(|text| parse(text).map_err(drop)) else {
        return;
    };
    let builder = frpc_build::configure();
    let builder = match data.len() % 4 {
        0 => builder,
        1 => builder.views(true),
        2 => builder.codec(Codec::Protobuf),
        _ => builder.compile_well_known_types(true),
    };
    match builder.generate(schema, &[NAME]) {
        Ok(Output { files, .. }) => {
            // If the package and its module have different names, a second file has the same content under the other
            // name.
            assert!(
                files.len() <= 2 && files.windows(2).all(|two| two[0].text == two[1].text),
                "one file makes one file"
            );
            for file in &files {
                assert!(!file.name.contains(['/', '\\']) && !file.name.starts_with('.'), "{:?}", file.name);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
