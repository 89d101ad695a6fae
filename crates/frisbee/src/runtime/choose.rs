//! Which driver runs: tokio's, or io_uring where it works.

use std::io;
use std::sync::Once;

/// The environment variable that has the last word.
const VARIABLE: &str = "FRISBEE_IO_BACKEND";

/// The I/O interface of connections.
///
/// The environment variable `FRISBEE_IO_BACKEND` takes precedence, since the operator of a program knows the machine:
/// `off` is [`Tokio`](Self::Tokio), `auto` is [`Auto`](Self::Auto), `require` is [`Uring`](Self::Uring). The default is
/// `Auto` on Linux with the feature `uring`, and `Tokio` otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum IoBackend {
    /// tokio's sockets.
    Tokio,
    /// io_uring where it is cheaper and works, tokio otherwise: for servers that bring threads of their own. Why it
    /// does not work is logged, once.
    Auto,
    /// io_uring, or an error where it does not work. It takes Linux 6.1, the feature `uring`, and a system that does
    /// not forbid it, as many containers do.
    Uring,
}

impl Default for IoBackend {
    fn default() -> Self {
        if cfg!(all(feature = "uring", target_os = "linux")) { Self::Auto } else { Self::Tokio }
    }
}

impl IoBackend {
    /// The choice, with regard to the environment.
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

    /// The result of `start` with io_uring, or `None` if tokio is to be used. `pays` states whether io_uring is cheaper
    /// here.
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
    fn the_environment_has_the_last_word() {
        for requested in [IoBackend::Tokio, IoBackend::Auto, IoBackend::Uring] {
            assert_eq!(requested.resolve(None).unwrap(), requested);
            assert_eq!(requested.resolve(Some("off")).unwrap(), IoBackend::Tokio);
            assert_eq!(requested.resolve(Some("auto")).unwrap(), IoBackend::Auto);
            assert_eq!(requested.resolve(Some("require")).unwrap(), IoBackend::Uring);
        }
    }

    #[test]
    fn an_unknown_word_is_an_error_that_lists_the_valid_ones() {
        let error = IoBackend::Auto.resolve(Some("on")).unwrap_err().to_string();
        for part in ["FRISBEE_IO_BACKEND", "\"on\"", "auto", "require", "off"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
