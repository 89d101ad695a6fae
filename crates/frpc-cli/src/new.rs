//! `frpc new`: creates a project with a service, its server and client, a test and a Dockerfile.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::arguments::NewArguments;
use crate::failure::Failure;
use crate::show::Screen;

/// Files of a project template, each with its path and its text. In the text, `@word@` is a placeholder.
type Template = &'static [(&'static str, &'static str)];

/// Expands to the files of a template, listed as `path in the project = path of the template`.
macro_rules! template {
    ($($path:literal = $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $file)))),*]
    };
}

const RUST: Template = template!(
    // The extension hides the file from cargo, which would treat its folder as a package.
    "Cargo.toml" = "rust/Cargo.toml.txt",
    "build.rs" = "rust/build.rs",
    "proto/greet.proto" = "rust/proto/greet.proto",
    "src/lib.rs" = "rust/src/lib.rs",
    "src/main.rs" = "rust/src/main.rs",
    "src/bin/client.rs" = "rust/src/bin/client.rs",
    "tests/calls.rs" = "rust/tests/calls.rs",
    "Dockerfile" = "rust/Dockerfile",
    ".gitignore" = "rust/gitignore",
);

/// Files that are added to [`RUST`] for a client in Node.js. `build.rs` then also generates its code.
const TYPESCRIPT: Template = template!(
    "build.rs" = "typescript/build.rs",
    "web/package.json" = "typescript/package.json",
    "web/tsconfig.json" = "typescript/tsconfig.json",
    "web/src/client.ts" = "typescript/src/client.ts",
    "web/test/calls.test.ts" = "typescript/test/calls.test.ts",
    "web/.gitignore" = "typescript/gitignore",
);

const PYTHON: Template = template!(
    "requirements.txt" = "python/requirements.txt",
    "greeter.py" = "python/greeter.py",
    "server.py" = "python/server.py",
    "client.py" = "python/client.py",
    "test_calls.py" = "python/test_calls.py",
    "Dockerfile" = "python/Dockerfile",
    ".gitignore" = "python/gitignore",
);

/// Maximum length of a project name. crates.io limits package names to 64 characters and npm to 214.
const NAME_MAX: usize = 64;

/// Names that a program of a cargo package must not have: the project's other program, and folders of cargo.
const PROGRAMS: [&str; 5] = ["build", "client", "deps", "examples", "incremental"];

pub(crate) fn new(arguments: &NewArguments, screen: &Screen) -> Result<(), Failure> {
    let name = name_of(&arguments.path)?;
    let invalid = |text: &str| Failure::new(format!("invalid project name `{name}`: {text}; choose another name"));
    if !arguments.python && PROGRAMS.contains(&name) {
        return Err(invalid("cargo permits no program of this name beside the project's client"));
    }
    if !arguments.python && ["frisbee-", "frpc-"].iter().any(|prefix| name.starts_with(prefix)) {
        return Err(invalid("names that start with `frisbee-` or `frpc-` are reserved for the libraries"));
    }
    let source = Source::parse(&arguments.from)?;
    let mut replacements = vec![("@name@", name.to_owned())];
    let (templates, steps): (&[Template], &[&str]) = if arguments.python {
        replacements.push(("@frisbee-rpc@", source.python()?));
        (&[PYTHON], &["python3 -m venv .venv", ".venv/bin/pip install -r requirements.txt", ".venv/bin/pytest"])
    } else if arguments.typescript {
        replacements.push(("@frpc@", source.cargo("frpc")?));
        replacements.push(("@build-dependencies@", source.cargo_lines(&["frpc-build", "frpc-languages"])?));
        replacements.push(("@frisbee-rpc@", source.npm()?));
        (&[RUST, TYPESCRIPT], &["cargo test", "cd web", "npm install", "npm test"])
    } else {
        replacements.push(("@frpc@", source.cargo("frpc")?));
        replacements.push(("@build-dependencies@", source.cargo_lines(&["frpc-build"])?));
        (&[RUST], &["cargo test", "cargo run"])
    };
    if arguments.path.exists() {
        return Err(Failure::new(format!("{} exists; choose another name", arguments.path.display())));
    }
    for (path, text) in templates.iter().copied().flatten() {
        let path = arguments.path.join(path);
        let folder = path.parent().unwrap_or(&arguments.path);
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
        let text = replacements.iter().fold((*text).to_owned(), |text, (word, value)| text.replace(word, value));
        fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
    }
    screen.line(&format!("created {}; continue with", arguments.path.display()))?;
    let enter = format!("cd {}", arguments.path.display());
    [&*enter].iter().chain(steps).try_for_each(|step| screen.line(&format!("    {step}")))
}

/// Returns the project's name, which is the last component of its path.
fn name_of(path: &Path) -> Result<&str, Failure> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_valid = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= NAME_MAX
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
    if is_valid {
        return Ok(name);
    }
    // A path such as `.` has no last component.
    let shown = path.file_name().unwrap_or(path.as_os_str()).display();
    Err(Failure::new(format!(
        "invalid project name `{shown}`: use a lower-case letter, then lower-case letters, digits, `-` and `_`, at most \
         {NAME_MAX} characters"
    )))
}

/// Source of the libraries that the project depends on.
enum Source {
    /// Root folder of a checkout, or path of a Python wheel.
    Path(PathBuf),
    /// URL of a repository.
    Git(String),
}

impl Source {
    fn parse(from: &str) -> Result<Self, Failure> {
        if from.contains("://") {
            return Ok(Self::Git(from.to_owned()));
        }
        if let Some((host, path)) = from.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
            // cargo and pip accept only URLs, unlike git.
            return Ok(Self::Git(format!("ssh://git@{host}/{path}")));
        }
        let path = fs::canonicalize(from).map_err(|error| Failure::file(Path::new(from), &error))?;
        Ok(Self::Path(path))
    }

    /// Returns the source of a crate in the syntax of `Cargo.toml`. JSON strings are used, because they are also valid
    /// in TOML.
    fn cargo(&self, name: &str) -> Result<String, Failure> {
        let root = match self {
            Self::Path(root) => root,
            Self::Git(url) => return Ok(format!("git = {}", Value::from(&**url))),
        };
        let folder = root.join("crates").join(name);
        if !folder.join("Cargo.toml").exists() {
            let text = format!("{} is not a checkout of frisbee: it has no folder crates/{name}", root.display());
            return Err(Failure::new(text));
        }
        Ok(format!("path = {}", Value::from(folder.display().to_string())))
    }

    /// Returns the lines of `Cargo.toml` that declare these crates as dependencies.
    fn cargo_lines(&self, names: &[&str]) -> Result<String, Failure> {
        let lines = names.iter().map(|name| Ok(format!("{name} = {{ {} }}", self.cargo(name)?)));
        Ok(lines.collect::<Result<Vec<_>, Failure>>()?.join("\n"))
    }

    /// Returns the line of `requirements.txt` that declares the library as a dependency.
    fn python(&self) -> Result<String, Failure> {
        let root = match self {
            Self::Path(path) if path.extension().is_some_and(|extension| extension == "whl") => {
                return Ok(format!("frisbee-rpc @ {}", file_url(path)));
            }
            Self::Path(root) => root,
            Self::Git(url) => return Ok(format!("frisbee-rpc @ git+{url}#subdirectory=clients/python")),
        };
        let folder = root.join("clients/python");
        if !folder.join("pyproject.toml").exists() {
            let text = "is neither a wheel nor a checkout of frisbee: it has no clients/python/pyproject.toml";
            return Err(Failure::new(format!("{} {text}", root.display())));
        }
        Ok(format!("frisbee-rpc @ {}", file_url(&folder)))
    }

    /// Returns the version of the library in the syntax of `package.json`. For a checkout, this is the packed library,
    /// because npm cannot install a subfolder of a repository.
    fn npm(&self) -> Result<String, Failure> {
        let packed = concat!("clients/typescript/frisbee-rpc-", env!("CARGO_PKG_VERSION"), ".tgz");
        match self {
            Self::Path(root) if root.join(packed).exists() => Ok(format!("file:{}", root.join(packed).display())),
            Self::Path(root) => Err(Failure::new(format!(
                "{} is missing; run `npm ci && npm pack` in {}",
                root.join(packed).display(),
                root.join("clients/typescript").display()
            ))),
            Self::Git(_) => Err(Failure::new(
                "npm cannot install a folder of a repository; clone it, and pass the path of the clone to --from",
            )),
        }
    }
}

/// Returns the URL of a file. pip requires percent-encoding, for example of spaces.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(*byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}
