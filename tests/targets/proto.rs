//! The target of the generator: a .proto file from anybody.

use std::cell::LazyCell;
use std::fs;
use tempfile::TempDir;

thread_local! {
    static FOLDER: LazyCell<TempDir> = LazyCell::new(|| tempfile::tempdir().expect("there is room for a folder"));
}

/// Generates from a file of that text: an error or code, and nothing outside of the output folder.
pub fn proto(data: &[u8]) {
    FOLDER.with(|folder| {
        let root = folder.path();
        let (source, out) = (root.join("in"), root.join("out"));
        for folder in [&source, &out] {
            fs::create_dir_all(folder).expect("a folder can be made");
        }
        let file = source.join("test.proto");
        fs::write(&file, data).expect("a file can be written");
        let generated = frpc_build::configure()
            .out_dir(&out)
            .emit_rerun_if_changed(false)
            .schema_lock(false)
            .compile_protos(&[&file], &[&source]);
        let outputs: Vec<_> = fs::read_dir(&out)
            .expect("it is a folder")
            .map(|entry| fs::read(entry.expect("it is an entry").path()).expect("it can be read"))
            .collect();
        match generated {
            Ok(()) => {
                // A second one is the same by another name, where the package's is not the module's.
                assert!(
                    outputs.len() <= 2 && outputs.windows(2).all(|two| two[0] == two[1]),
                    "one file makes one file"
                );
                fs::remove_dir_all(&out).expect("it can be emptied");
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(outputs.is_empty(), "a file in error makes nothing");
            }
        }
        assert_eq!(
            fs::read_dir(root).map(Iterator::count).unwrap_or_default().min(2),
            if out.exists() { 2 } else { 1 }
        );
    });
}
