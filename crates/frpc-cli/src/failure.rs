//! Failures of a command and their exit codes.

use frpc::{Code, Status};
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// Offset that is added to a status code to obtain the exit code. Exit codes 1 and 2 stand for other failures, and
/// shells reserve some low codes.
pub(crate) const STATUS_BASE: u8 = 64;

/// Reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command was not executed, because its arguments, the schema or a file is invalid.
    Own(String),
    /// A call has failed.
    Status(Status),
    /// The reader of standard output has closed it.
    Closed,
}

impl Failure {
    pub(crate) fn new(text: impl fmt::Display) -> Self {
        Self::Own(text.to_string())
    }

    /// Creates a failure for an unreadable or invalid file.
    pub(crate) fn file(path: &Path, error: &dyn fmt::Display) -> Self {
        Self::new(format!("{}: {error}", path.display()))
    }

    /// Creates a failure to read standard input.
    pub(crate) fn stdin(error: impl fmt::Display) -> Self {
        Self::new(format!("standard input: {error}"))
    }

    /// Returns the exit code: 64 plus the number of the status code, or 1 for other failures.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Own(_) => 1,
            Self::Status(status) => STATUS_BASE + u8::try_from(status.code() as i32).unwrap_or(2),
            Self::Closed => 0,
        }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<frpc::Error> for Failure {
    fn from(error: frpc::Error) -> Self {
        match error {
            frpc::Error::Transport(error) => error.into(),
            frpc::Error::Call(status) => status.into(),
            error @ frpc::Error::NoEndpoint { .. } => Self::Status(Status::unavailable(error.to_string())),
            error => Self::Own(error.to_string()),
        }
    }
}

impl From<frisbee::Error> for Failure {
    fn from(error: frisbee::Error) -> Self {
        let text = error.to_string();
        // Another attempt with the same arguments would fail too.
        let is_invalid = match &error {
            frisbee::Error::Mount(_) | frisbee::Error::Setting(_) => true,
            frisbee::Error::Bind { source, .. } | frisbee::Error::Connect { source, .. } => {
                source.kind() == ErrorKind::InvalidInput
            }
            _ => false,
        };
        if is_invalid {
            return Self::Own(text);
        }
        Self::Status(match Status::from(error) {
            // Keep the text, because it already states that the call has not run.
            status if status.code() == Code::Unavailable => status,
            _ => Status::unavailable(text),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(text) => f.write_str(text),
            Self::Status(status) => {
                let text = by_options(status.message());
                write!(f, "{} ({}): {text}", status.code().name(), status.code() as i32)
            }
            Self::Closed => f.write_str("standard output is closed"),
        }
    }
}

/// Replaces the names of settings in an error message from a library by the command-line options that set them.
pub(crate) fn by_options(text: &str) -> String {
    // Add the cause and its remedy, because the text of the library only states that a reply is missing or invalid.
    if text.contains("the peer may not be a broker") {
        return format!("the server may have no broker; name another by --server, or mount a broker there: {text}");
    }
    let text =
        text.replace("set `tls` here", "use --tls").replace("set `tls` at both ends or neither", "leave out --tls");
    text.replace("set `header_form(HeaderForm::Old)`", "use --header old")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_errors_suggest_options() {
        let error = Failure::from(Status::unavailable(frisbee_core::ProtocolError::SpeaksTls.to_string()));
        assert!(error.to_string().contains("use --tls"), "{error}");
        let error = by_options("the peer speaks the older headers: set `header_form(HeaderForm::Old)`");
        assert!(error.ends_with("use --header old"), "{error}");
    }

    /// Regression test: `frpc pub` to a server without a broker stated only that a router had closed the connection.
    #[test]
    fn missing_broker_error_names_remedy() {
        let closed = "the connection has ended: closed by a router: invalid answer; the peer may not be a broker";
        let error = Failure::from(Status::unavailable(closed)).to_string();
        assert!(error.starts_with("UNAVAILABLE (14): the server may have no broker; name another by "), "{error}");
    }

    #[tokio::test]
    async fn call_over_refused_connection_never_runs() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback interface should have a free port");
        let address = listener.local_addr().expect("listener should have a local address");
        drop(listener);
        let error =
            frpc::Channel::connect(address.to_string()).await.expect_err("connecting to a closed port should fail");
        let Failure::Status(status) = Failure::from(error) else { panic!("failure should be a status") };
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false));
    }

    #[test]
    fn status_exit_code_is_64_plus_number() {
        for number in 1..=16_u8 {
            let code = Code::from_i32(number.into());
            assert_eq!(Failure::from(Status::new(code, "")).exit_code(), 64 + number);
        }
        assert_eq!(Failure::new("no such file").exit_code(), 1);
    }
}
