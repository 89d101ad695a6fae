//! Targets of the generator: a .proto file, and a lock with it, from any source.

use frpc_build::{Builder, Codec, LockUpdate, Numbering, Output};
use prost_types::FileDescriptorSet;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use std::cell::LazyCell;
use std::fs;
use tempfile::TempDir;

/// The name of the only file, as a build names it.
const NAME: &str = "test.proto";

/// A folder that has one file, which is on no disk.
struct Single(String);

impl FileResolver for Single {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == NAME { File::from_source(name, &self.0) } else { Err(protox::Error::file_not_found(name)) }
    }
}

/// The schema of a text, if it is one.
fn parse(text: &str, with_source_info: bool) -> Result<FileDescriptorSet, protox::Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Single(text.to_owned()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).include_source_info(with_source_info);
    compiler.open_file(NAME)?;
    Ok(compiler.file_descriptor_set())
}

/// Generates from a file of that text: an error or code, in files directly inside the output folder. The length of the
/// text chooses the other options.
pub fn proto(data: &[u8]) {
    let Ok(schema) = str::from_utf8(data).map_err(drop).and_then(|text| parse(text, true).map_err(drop)) else {
        return;
    };
    let builder = frpc_build::configure().lock_update(LockUpdate::Never);
    let builder = match data.len() % 4 {
        0 => builder,
        1 => builder.views(true),
        2 => builder.codec(Codec::Protobuf),
        _ => builder.compile_well_known_types(true),
    };
    match builder.generate(schema, &[NAME]) {
        Ok(Output { files, .. }) => {
            // A second one is the same by another name, where the package's is not the module's.
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

/// The schema that locks are compared with.
const SHOP: &str = r#"
    syntax = "proto3";
    package shop;
    enum Color { RED = 0; BLUE = 1; }
    message Item {
        string name = 1;
        Color color = 2;
        repeated int64 sizes = 3;
        map<string, Item> parts = 6;
        oneof more { string text = 4; Item next = 5; }
    }
    message Empty {}
    service Shop {
        rpc Buy(Item) returns (Empty);
        rpc Watch(Empty) returns (stream Item);
    }
"#;

/// What cannot be seen in the text of a lock: where it is.
struct Shop {
    schema: FileDescriptorSet,
    folder: TempDir,
}

impl Shop {
    /// Compares the schema with a lock: the lock that is to be written, if there is one, or an error.
    fn compare(&self, lock: &[u8], builder: Builder, update: LockUpdate) -> Result<Option<String>, String> {
        let path = self.folder.path().join("shop.frpc.lock");
        fs::write(&path, lock).expect("file should be written");
        let builder = builder.lock_dir(self.folder.path()).lock_update(update);
        let output = builder.generate(self.schema.clone(), &[NAME]).map_err(|error| error.to_string())?;
        assert!(output.locks.len() <= 1, "one package has one lock");
        Ok(output.locks.into_iter().next().map(|lock| lock.text))
    }
}

thread_local! {
    static OPEN_SHOP: LazyCell<Shop> = LazyCell::new(|| Shop {
        schema: parse(SHOP, false).expect("schema should parse"),
        folder: tempfile::tempdir().expect("temporary folder should be created"),
    });
}

/// The lock of the schema that [`lock`] compares with.
pub fn lock_that_fits() -> String {
    let written = OPEN_SHOP.with(|shop| shop.compare(b"frpc-lock 1\n", frpc_build::configure(), LockUpdate::Breaking));
    written.expect("all changes should be recorded").expect("first lock should be written")
}

/// A lock that is compared with a schema is an error, or is kept, or makes a lock that is kept.
pub fn lock(data: &[u8]) {
    let Some((&manner, text)) = data.split_first() else { return };
    let builder = || {
        let numbering = if manner & 4 == 0 { Numbering::Go } else { Numbering::Lock };
        let codec = if manner & 8 == 0 { Codec::Polyglot } else { Codec::Protobuf };
        frpc_build::configure().build_client(false).build_server(false).numbering(numbering).codec(codec)
    };
    let update = [LockUpdate::Never, LockUpdate::Safe, LockUpdate::Breaking][usize::from(manner & 3) % 3];
    let head = if manner & 16 == 0 { &[][..] } else { b"frpc-lock 1\n" };
    OPEN_SHOP.with(|shop| match shop.compare(&[head, text].concat(), builder(), update) {
        Err(error) => assert!(!error.is_empty()),
        Ok(None) => {}
        Ok(Some(written)) => {
            assert!(update > LockUpdate::Never, "it was not to be written");
            let again = shop.compare(written.as_bytes(), builder(), LockUpdate::Never);
            assert_eq!(again, Ok(None), "the lock file is not kept");
            let again = shop.compare(written.as_bytes(), builder(), LockUpdate::Breaking);
            assert_eq!(again, Ok(None), "the lock file is written differently");
        }
    });
}
