//! Tests that exchange `.npy` files with NumPy.
//!
//! `FRISBEE_PYTHON` names a Python with NumPy; the default is `python3`. Without NumPy, the test prints a message and
//! passes, unless `FRISBEE_REQUIRE_NUMPY` is set.

use frpc::tensor::{Tensor, TensorError};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Writes arrays of every type, byte order and memory layout to the given folder. For each array, another file contains
/// its elements in C order as little-endian bytes.
const WRITE: &str = r#"
import sys, numpy as np
folder = sys.argv[1]
kinds = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
arrays = {}
for kind in kinds:
    for order in "<>":
        dtype = np.dtype(order + kind)
        flat = (np.arange(24) % 2).astype(dtype) if kind == "b1" else np.arange(24).astype(dtype)
        name = kind + ("big" if order == ">" else "")
        arrays[name] = flat.reshape(2, 3, 4)
        arrays[name + "-fortran"] = np.asfortranarray(flat.reshape(2, 3, 4))
        arrays[name + "-scalar"] = np.array(flat[1])
        arrays[name + "-none"] = flat[:0].reshape(0, 5)
arrays["row"] = np.asfortranarray(np.arange(5.0).reshape(1, 5))
for name, array in arrays.items():
    np.save(f"{folder}/{name}.npy", array)
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    open(f"{folder}/{name}.raw", "wb").write(little.tobytes())
    open(f"{folder}/{name}.shape", "w").write(",".join(map(str, array.shape)))
for version in (2, 3):
    with open(f"{folder}/version{version}.npy", "wb") as file:
        np.lib.format.write_array(file, arrays["f4"], version=(version, 0))
    open(f"{folder}/version{version}.raw", "wb").write(arrays["f4"].tobytes())
    open(f"{folder}/version{version}.shape", "w").write("2,3,4")
np.save(f"{folder}/refused-objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
np.save(f"{folder}/refused-structures.npy", np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]))
np.save(f"{folder}/refused-text.npy", np.array(["a", "b"]))
np.save(f"{folder}/refused-times.npy", np.array(["2020-01-01"], dtype="M8[D]"))
"#;

/// Loads the given files and compares them with the arrays from which they were written.
const READ: &str = r#"
import sys, glob, numpy as np
folder, count = sys.argv[1], 0
for path in glob.glob(folder + "/*.again"):
    ours, theirs = np.load(path), np.load(path.removesuffix(".again") + ".npy")
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (path, ours.dtype, theirs.dtype)
    assert np.array_equal(ours, theirs), path
    count += 1
print(count)
"#;

fn python(program: &str, folder: &Path) -> Option<String> {
    let python = env::var_os("FRISBEE_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python).args(["-c", program]).arg(folder).output().ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("No module named 'numpy'") {
        return None;
    }
    assert!(output.status.success(), "{stderr}");
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn numpy_files_round_trip_with_numpy() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    if python(WRITE, folder.path()).is_none() {
        assert!(
            env::var_os("FRISBEE_REQUIRE_NUMPY").is_none(),
            "NumPy should be installed, because FRISBEE_REQUIRE_NUMPY is set"
        );
        eprintln!("skipped: there is no Python with NumPy");
        return;
    }
    let mut count = 0;
    for entry in fs::read_dir(folder.path()).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        let name = path.file_stem().expect("file should have a name").to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "npy") {
            continue;
        }
        let file = fs::read(&path).expect("file should be readable");
        let read = Tensor::from_npy(file.into());
        if let Some(kind) = name.strip_prefix("refused-") {
            let error = read.expect_err(kind);
            let is_named = matches!(error, TensorError::Dtype(_)) || error.to_string().contains(kind);
            assert!(is_named, "{kind}: {error}");
            continue;
        }
        let tensor = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        let shape = fs::read_to_string(path.with_extension("shape")).expect("file should be readable");
        let sizes: Vec<_> = tensor.shape.iter().map(ToString::to_string).collect();
        assert_eq!(sizes.join(","), shape, "{name}");
        let dtype = tensor.check().expect("tensor should be valid");
        let mut little = tensor.data.to_vec();
        if dtype.is_big_endian {
            let parts = if tensor.dtype.contains('c') { 2 } else { 1 };
            little.chunks_exact_mut(dtype.element.size() / parts).for_each(<[u8]>::reverse);
        }
        assert_eq!(little, fs::read(path.with_extension("raw")).expect("file should be readable"), "{name}");
        fs::write(path.with_extension("again"), tensor.to_npy().expect("NumPy should support the type"))
            .expect("file should be written");
        count += 1;
    }
    assert!(count > 100, "only {count} files were compared");
    assert_eq!(python(READ, folder.path()), Some(count.to_string()));
}
