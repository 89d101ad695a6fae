//! Selection of the I/O backend: the sockets of tokio, or io_uring if available.

use std::io;
use std::sync::Once;

/// Environment variable that overrides the configured I/O backend.
const VARIABLE: &str = "FRISBEE_IO_BACKEND";

/// I/O interface of connections.
///
/// The environment variable `FRISBEE_IO_BACKEND` takes precedence, because the operator of a program knows the machine.
/// Its value `off` selects [`Tokio`](Self::Tokio), `auto` selects [`Auto`](Self::Auto) and `require` selects
/// [`Uring`](Self::Uring). The default is `Auto` on Linux with the feature `uring`, and `Tokio` otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum IoBackend {
    /// Connections use tokio's sockets.
    Tokio,
    /// Connections use io_uring if it is available and faster, and tokio's sockets otherwise. It is faster for servers
    /// with their own threads. If it is not available, the reason is logged once.
    Auto,
    /// Connections use io_uring, and starting fails if it is not available. This requires Linux 6.1, the feature
    /// `uring`, and permission to use io_uring, which many container runtimes deny.
    Uring,
}

impl Default for IoBackend {
    fn default() -> Self {
        if cfg!(all(feature = "uring", target_os = "linux")) { Self::Auto } else { Self::Tokio }
    }
}

impl IoBackend {
    /// Returns the I/O backend to use. `variable` is the value of the environment variable.
    fn resolve(self, variable: Option<&str>) -> io::Result<Self> {
        match variable {
            None => Ok(self),
            Some("off") => Ok(Self::Tokio),
            Some("auto") => Ok(Self::Auto),
            Some("require") => Ok(Self::Uring),
            Some(other) => {
                let message = format!("{VARIABLE} is {other:?}; set it to \"auto\", \"require\" or \"off\"");
                Err(io::Error::new(io::ErrorKind::InvalidInput, message))
            }
        }
    }

    /// Calls `start` if io_uring should be used. Returns `None` if tokio should be used instead. `pays` states whether
    /// io_uring would be faster.
    pub(crate) fn start<T>(self, pays: bool, start: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        let variable = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        let wanted = self.resolve(variable.as_deref())?;
        if wanted == Self::Tokio || wanted == Self::Auto && !pays {
            return Ok(None);
        }
        match (start(), wanted) {
            (Ok(started), _) => Ok(Some(started)),
            (Err(error), Self::Uring) => {
                Err(io::Error::new(error.kind(), format!("io_uring is required but not available: {error}")))
            }
            (Err(error), _) => {
                static LOGGED: Once = Once::new();
                LOGGED.call_once(|| tracing::warn!(target: "frisbee::worker", %error, "io_uring is not available, falling back to tokio"));
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_overrides_requested_backend() {
        for requested in [IoBackend::Tokio, IoBackend::Auto, IoBackend::Uring] {
            assert_eq!(requested.resolve(None).unwrap(), requested);
            assert_eq!(requested.resolve(Some("off")).unwrap(), IoBackend::Tokio);
            assert_eq!(requested.resolve(Some("auto")).unwrap(), IoBackend::Auto);
            assert_eq!(requested.resolve(Some("require")).unwrap(), IoBackend::Uring);
        }
    }

    #[test]
    fn unknown_backend_error_lists_valid_values() {
        let error = IoBackend::Auto.resolve(Some("on")).unwrap_err().to_string();
        for part in ["FRISBEE_IO_BACKEND", "\"on\"", "auto", "require", "off"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
