//! Compiles and runs the C programs of the tests.

use rcgen::{CertificateParams, KeyPair};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs};
use tempfile::TempDir;

/// A compiled program.
pub(crate) struct Program {
    path: PathBuf,
    _folder: TempDir,
}

/// Returns the compiler flags for the library. If `FRISBEE_C_INSTALLED` is set, they come from pkg-config, for an
/// installed library.
fn flags() -> Vec<String> {
    let library = match env::var_os("FRISBEE_C_INSTALLED") {
        Some(_) => {
            let found = Command::new("pkg-config").args(["--cflags", "--libs", "frisbee"]).output().unwrap();
            assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
            String::from_utf8(found.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
        }
        None => {
            let (root, library) = (env!("CARGO_MANIFEST_DIR"), library());
            vec![format!("-I{root}/include"), format!("-L{}", library.display()), "-lfrisbee_c".to_owned()]
        }
    };
    let paths: Vec<_> =
        library.iter().filter_map(|flag| flag.strip_prefix("-L")).map(|path| format!("-Wl,-rpath,{path}")).collect();
    [library, paths].concat()
}

/// Returns the folder of the library: `FRISBEE_C_LIBRARY`, for example with a sanitizer build, or the folder of the
/// test programs.
fn library() -> PathBuf {
    if let Some(folder) = env::var_os("FRISBEE_C_LIBRARY") {
        return folder.into();
    }
    let program = env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// The self-signed certificate and the key of a server named `localhost`, as PEM.
pub(crate) struct Authority {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        Self { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

impl Program {
    /// Compiles `source`, a path in the package, with `FRISBEE_CC` or `FRISBEE_CXX`, or the system's compiler. The
    /// variable is not `CC`, because setting that makes cargo rebuild the C libraries of dependencies.
    /// `FRISBEE_C_FLAGS` contains further flags, such as those of sanitizers.
    pub(crate) fn new(source: &str) -> Self {
        Self::with_standard(source, if source.ends_with(".cpp") { "-std=c++17" } else { "-std=c11" })
    }

    /// Like [`new`](Self::new), with flags that select the language standard.
    pub(crate) fn with_standard(source: &str, standard: &str) -> Self {
        // Run one compiler at a time, because it takes as long as the tests.
        static COMPILER: Mutex<()> = Mutex::new(());
        let _one = COMPILER.lock();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let (variable, compiler) = if source.ends_with(".cpp") { ("FRISBEE_CXX", "c++") } else { ("FRISBEE_CC", "cc") };
        let mut command = Command::new(env::var_os(variable).unwrap_or_else(|| compiler.into()));
        command.args(standard.split_whitespace()).args([
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
            "-D_GNU_SOURCE",
        ]);
        if let Ok(flags) = env::var("FRISBEE_C_FLAGS") {
            command.args(flags.split_whitespace());
        }
        command.arg(root.join(source)).arg("-o").arg(&path).args(flags());
        let compiled = command.output().expect("process should start");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Self { path, _folder: folder }
    }

    /// Returns a command that runs the program with arguments.
    pub(crate) fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.path);
        // Remove the variable, because cargo sets it to the folder of the last `cargo build`, whose library may be
        // older.
        command.env_remove("LD_LIBRARY_PATH").args(arguments);
        command
    }

    /// Runs the program, which has to succeed, and returns its output.
    pub(crate) fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        let ran = self.command(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{}: {text}{}", ran.status, String::from_utf8_lossy(&ran.stderr));
        text
    }
}

/// Reads a file of the repository.
#[allow(dead_code, reason = "not all tests read files")]
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}
