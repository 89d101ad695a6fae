//! Describes the machine and the versions for the report, and adjusts system settings.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Raises the limit of open files to the maximum that the system permits.
pub fn raise_file_limit() {
    let raised =
        getrlimit(Resource::RLIMIT_NOFILE).and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    match (raised, getrlimit(Resource::RLIMIT_NOFILE)) {
        (Ok(()), Ok((limit, _))) if limit > 12_000 => {}
        (_, limit) => println!("few files may be open ({limit:?}): cells with many connections will fail"),
    }
}

/// Describes the number and kind of the processors, and the memory.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    // Virtual machines often report only the manufacturer, which is the same for many generations.
    let of_processor = |name| line_of("/proc/cpuinfo", name).unwrap_or_else(|| "unknown".into());
    let [processor, family, model] = ["model name\t", "cpu family\t", "model\t"].map(of_processor);
    let memory = line_of("/proc/meminfo", "MemTotal").unwrap_or_default();
    format!("{cores} x {processor} (family {family}, model {model}), memory {memory}")
}

/// Describes the machine, the versions and the commands as Markdown.
pub fn describe(commands: &[String]) -> String {
    let mut text = String::new();
    let congestion = read("/proc/sys/net/ipv4/tcp_congestion_control");
    let lines = [
        ("Machine", machine()),
        ("System", format!("Linux {}, TCP over loopback with {congestion}", read("/proc/sys/kernel/osrelease"))),
        ("Rust", rust()),
        ("Go", output("go", &["version"])),
        ("Revision", revision()),
        ("Date", date()),
        ("Rivals", versions()),
    ];
    let commands = commands.iter().map(|command| ("Command", command.clone()));
    for (name, line) in lines.into_iter().chain(commands) {
        let _ = writeln!(text, "* {name}: {line}");
    }
    text
}

/// Returns the lines of a description that have this name.
pub fn described(text: &str, name: &str) -> Vec<String> {
    let start = format!("* {name}: ");
    text.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
}

/// Returns the command line of this program with its name and features.
pub fn command(program: &str, features: &[&str]) -> String {
    // Quoted for a shell.
    let quoted = |word: String| if word.contains(' ') { format!("\"{word}\"") } else { word };
    let arguments: Vec<_> = std::env::args().skip(1).map(quoted).collect();
    let features = features.join(",");
    let features = if features.is_empty() { features } else { format!(" --features {features}") };
    let arguments = arguments.join(" ");
    format!("`cargo run --release --manifest-path benches/rivals/Cargo.toml{features} --bin {program} -- {arguments}`")
}

/// Returns the revision of the code, ignoring changes of its report.
pub fn revision() -> String {
    let git = |arguments: &[&str]| output("git", &[&["-C", env!("CARGO_MANIFEST_DIR")], arguments].concat());
    let changes = git(&["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)docs/performance"]);
    git(&["rev-parse", "--short", "HEAD"]) + if changes.is_empty() { "" } else { "-dirty" }
}

/// Returns the version of the compiler.
pub fn rust() -> String {
    output("rustc", &["--version"])
}

/// Returns the date and time in UTC.
pub fn date() -> String {
    output("date", &["-u", "+%Y-%m-%d %H:%M UTC"])
}

/// Returns the versions of these packages in the lock file.
pub fn locked(names: &[&str]) -> Vec<String> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    let version = |name: &&str| {
        let package = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?.1;
        Some(format!("{name} {}", package.split('"').next()?))
    };
    names.iter().filter_map(version).collect()
}

/// Returns the versions of the rivals.
fn versions() -> String {
    let mut versions = locked(&["tokio", "tonic", "prost", "tarpc", "volo-thrift", "axum", "hyper"]);
    let modules = std::fs::read_to_string(go_folder().join("go.mod")).unwrap_or_default();
    for module in ["github.com/loopholelabs/frisbee-go", "google.golang.org/grpc", "github.com/twitchtv/twirp"] {
        let line = modules.lines().find_map(|line| line.trim().trim_start_matches("require ").strip_prefix(module));
        versions.extend(line.map(|version| format!("{module} {}", version.trim())));
    }
    versions.join(", ")
}

fn go_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("go")
}

/// Returns the program of the Go contestants, next to this one.
///
/// # Panics
/// If this program has no path.
pub fn go_program() -> PathBuf {
    std::env::current_exe().expect("program should have a path").with_file_name("compare-go")
}

/// Builds the program of the Go contestants.
///
/// # Errors
/// The output of the compiler.
pub fn build_go() -> Result<(), String> {
    let built = Command::new("go")
        .args(["build", "-buildvcs=false", "-o"])
        .arg(go_program())
        .arg(".")
        .current_dir(go_folder())
        .output();
    match built {
        Err(error) => Err(format!("go cannot be run: {error}")),
        Ok(built) if !built.status.success() => Err(String::from_utf8_lossy(&built.stderr).trim().to_owned()),
        Ok(_) => Ok(()),
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn line_of(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| "none".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
