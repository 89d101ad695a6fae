//! The generic encoder in Go. The test builds it once and communicates with it through pipes.

use std::fs;
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use conformance::InJson;

/// A running Go encoder. It exits when its standard input is closed.
pub(crate) struct Encoder {
    child: Child,
    stdin: Option<BufWriter<ChildStdin>>,
    stdout: BufReader<ChildStdout>,
}

impl Encoder {
    /// Starts the Go encoder for the messages of a descriptor set. Returns `None` if Go is not installed.
    pub(crate) fn start(descriptors: &[u8]) -> Option<Self> {
        if Command::new("go").arg("version").output().is_err() {
            assert!(
                std::env::var_os("FRISBEE_REQUIRE_GO").is_none(),
                "Go should be installed, because FRISBEE_REQUIRE_GO is set"
            );
            // Written to the terminal directly, because captured output is shown only for failed tests.
            let _ = std::io::stderr()
                .lock()
                .write_all(b"\nSKIPPED: Go is not installed, so no bytes were compared with those of Go\n");
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join("conformance-go");
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/go"))
            .output()
            .expect("Go compiler should start");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let set = folder.join("conformance.bin");
        fs::write(&set, descriptors).expect("file should be written");
        let mut child = Command::new(&program)
            .arg(&set)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("encoder should start");
        let stdin = child.stdin.take().map(BufWriter::new);
        let stdout = BufReader::new(child.stdout.take().expect("stdout should be piped"));
        Some(Self { child, stdin, stdout })
    }

    /// Encodes a protobuf message in the flat form of Polyglot, and as JSON if it can be represented. Also passes
    /// `json` to the encoder, which must decode it to the same message.
    pub(crate) fn encode(
        &mut self,
        name: &str,
        protobuf: &[u8],
        json: Option<&[u8]>,
    ) -> (Vec<u8>, Result<InJson, String>) {
        let stdin = self.stdin.as_mut().expect("stdin should be open until the end");
        for part in [name.as_bytes(), protobuf, json.unwrap_or_default()] {
            let len = u32::try_from(part.len()).expect("length should fit u32");
            stdin
                .write_all(&len.to_be_bytes())
                .and_then(|()| stdin.write_all(part))
                .expect("encoder should read its input");
        }
        stdin.flush().expect("flush should succeed");
        let (polyglot, json, error) = (self.read(), self.read(), self.read());
        if error.is_empty() {
            return (polyglot, Ok(Some(json).filter(|json| !json.is_empty())));
        }
        (polyglot, Err(String::from_utf8_lossy(&error).into_owned()))
    }

    fn read(&mut self) -> Vec<u8> {
        let mut len = [0; 4];
        self.stdout.read_exact(&mut len).expect("encoder should send the length of its result");
        let mut answer = vec![0; usize::try_from(u32::from_be_bytes(len)).expect("value should fit usize")];
        self.stdout.read_exact(&mut answer).expect("encoder should send its result");
        answer
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
