//! [`FileResolver`], which reads endpoints from a text file and detects its changes.

use super::{ENDPOINTS_MAX, Endpoint, Resolver};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval at which the endpoint file is read. Reading a few kilobytes takes microseconds and, in contrast to change
/// notifications, works on every file system.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a changed file must stay unchanged before it is used, because a program may be writing it in place.
const SETTLES: Duration = Duration::from_millis(50);

/// Maximum length of the endpoint file in bytes, which is more than 100 for each of [`ENDPOINTS_MAX`] endpoints.
const LENGTH_MAX: u64 = 1 << 20;
const _: () = assert!(LENGTH_MAX > 100 * ENDPOINTS_MAX as u64);

/// A resolver that reads endpoints from a text file once a second.
///
/// A line is an [endpoint as text](Endpoint), empty, or a comment after `#`. Any other line makes the whole file an
/// error, so the last valid set remains in use.
///
/// ```text
/// # The shop's servers.
/// 10.0.0.1:8080 weight=2 zone=a
/// 10.0.0.2:8080 zone=b rack=7
/// ```
///
/// A change takes effect once the file has been stable for 50 ms. Programs should write a new file and rename it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use frpc_balance::resolve::{FileResolver, Resolver};
///
/// # let path = std::env::temp_dir().join(format!("frpc-endpoints-{}", std::process::id()));
/// std::fs::write(&path, "10.0.0.1:8080 weight=2\n")?;
/// let endpoints = FileResolver::new(&path).next().await?;
/// assert_eq!((endpoints[0].address(), endpoints[0].weight()), ("10.0.0.1:8080", 2));
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileResolver {
    path: PathBuf,
    /// Content of the file at the last successful read. The same content is not reported again.
    stated: Option<String>,
}

impl FileResolver {
    /// Creates a resolver that reads endpoints from a file, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), stated: None }
    }

    /// Returns the content of the file once it has stopped changing.
    async fn text(&self) -> io::Result<String> {
        let mut text = read(self.path.clone()).await?;
        while self.stated.as_ref() != Some(&text) {
            tokio::time::sleep(SETTLES).await;
            let again = read(self.path.clone()).await?;
            if again == text {
                break;
            }
            text = again;
        }
        Ok(text)
    }
}

impl Resolver for FileResolver {
    async fn next(&mut self) -> io::Result<Vec<Endpoint>> {
        loop {
            // Forget the content after an error, so that the endpoints are reported again even if the file has not
            // changed. The report clears the error that the channel has stored.
            let text = self.text().await.inspect_err(|_| self.stated = None)?;
            if self.stated.as_ref() != Some(&text) {
                let endpoints = parse(&text);
                self.stated = endpoints.is_ok().then_some(text);
                return endpoints;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

async fn read(path: PathBuf) -> io::Result<String> {
    let reading = tokio::task::spawn_blocking(move || read_now(&path));
    reading.await.unwrap_or_else(|ended| Err(io::Error::other(ended)))
}

fn read_now(path: &Path) -> io::Result<String> {
    use io::Read;
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    // Reject pipes. Opening one blocks this thread, and therefore the shutdown of the runtime, until another program
    // opens the pipe for writing.
    if !std::fs::metadata(path)?.is_file() {
        return Err(invalid("not a regular file".to_owned()));
    }
    let mut text = Vec::new();
    let length = std::fs::File::open(path)?.take(LENGTH_MAX + 1).read_to_end(&mut text)? as u64;
    match length {
        ..=LENGTH_MAX => String::from_utf8(text).map_err(|error| invalid(error.to_string())),
        _ => Err(invalid(format!("the file exceeds {LENGTH_MAX} bytes"))),
    }
}

fn parse(text: &str) -> io::Result<Vec<Endpoint>> {
    let lines = text.lines().zip(1_usize..).filter(|(line, _)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let endpoint = |(line, number): (&str, usize)| {
        line.parse().map_err(|why| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {why}")))
    };
    lines.map(endpoint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn same_set_is_returned_after_error() {
        let path = std::env::temp_dir().join(format!("frpc-endpoints-again-{}", std::process::id()));
        let mut resolver = FileResolver::new(&path);
        for spoil in [|path: &Path| std::fs::remove_file(path), |path: &Path| std::fs::write(path, "a:1 heavy")] {
            std::fs::write(&path, "a:1").expect("endpoint file should be written");
            let stated = tokio::time::timeout(2 * INTERVAL, resolver.next())
                .await
                .expect("resolver should read the file within the timeout");
            assert_eq!(stated.expect("file should contain valid endpoints"), [Endpoint::new("a:1")]);
            spoil(&path).expect("endpoint file should be changed");
            resolver.next().await.expect_err("next item should be an error");
        }
        std::fs::remove_file(&path).expect("endpoint file should be removed");
    }

    #[test]
    fn overlong_file_is_rejected_at_any_cut() {
        let path = std::env::temp_dir().join(format!("frpc-endpoints-long-{}", std::process::id()));
        // The length limit cuts the second and the third text within a character.
        for text in ["a", "é", "🦀"] {
            std::fs::write(&path, text.repeat(LENGTH_MAX as usize + 1)).expect("endpoint file should be written");
            let error = read_now(&path).expect_err("endpoint file should be rejected as too long");
            assert!(error.to_string().contains("exceeds"), "{error}");
        }
        std::fs::remove_file(&path).expect("endpoint file should be removed");
    }

    /// Regression test: reading a named pipe blocked a thread until a writer opened it, and the runtime waited for that
    /// thread at shutdown.
    #[cfg(unix)]
    #[test]
    fn pipe_is_rejected_without_blocking() {
        let path = std::env::temp_dir().join(format!("frpc-endpoints-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo should start");
        assert!(made.success());
        let (done, is_done) = std::sync::mpsc::channel();
        let of = path.clone();
        std::thread::spawn(move || done.send(read_now(&of)));
        let read =
            is_done.recv_timeout(Duration::from_secs(10)).expect("reading the named pipe should complete in time");
        assert!(read.is_err_and(|error| error.to_string().contains("regular file")));
        std::fs::remove_file(&path).expect("named pipe should be removed");
    }

    #[test]
    fn malformed_endpoint_line_rejects_file() {
        let text = "# all of them\n\n10.0.0.1:80 weight=3 zone=a rack=7=b # the old one\n[::1]:80 server_name=shop\n";
        let [one, other] =
            parse(text).expect("lines should be valid endpoints").try_into().expect("file should have two endpoints");
        let expected = Endpoint::new("10.0.0.1:80").with_weight(3).with_zone("a").with_metadata("rack", "7=b");
        assert_eq!((one, other), (expected, Endpoint::new("[::1]:80").with_server_name("shop")));
        for wrong in ["a:1 weight=x", "a:1 heavy", "a:1 weight=-1"] {
            let error = parse(&format!("b:1\n{wrong}\n")).expect_err(wrong);
            assert!(error.to_string().contains("line 2"), "{error}");
        }
    }
}
