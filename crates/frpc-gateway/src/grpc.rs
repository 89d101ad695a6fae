//! Timeouts of gRPC calls, and the trailers with the status of a call.

use crate::http::fields;
use crate::http::head::number;
use frpc::{Metadata, Status};
use std::time::Duration;

/// Parses a `grpc-timeout` header: up to eight digits and a unit.
pub(crate) fn timeout(field: Option<&[u8]>) -> Result<Option<Duration>, ()> {
    let Some(field) = field else { return Ok(None) };
    let Some((unit, digits)) = field.split_last() else { return Err(()) };
    let number = number(digits).filter(|_| digits.len() <= 8).ok_or(())?;
    Ok(Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return Err(()),
    }))
}

/// Returns the gRPC trailers for the outcome of a call.
pub(crate) fn trailers(outcome: Result<(), &Status>, metadata: &Metadata) -> Vec<(String, String)> {
    let mut trailers = Vec::new();
    let mut add = |name: &str, value: String| trailers.push((name.to_owned(), value));
    match outcome {
        Ok(()) => add("grpc-status", "0".to_owned()),
        Err(status) => {
            // The status number of an error must not be OK.
            let number = match status.code() {
                frpc::Code::Ok => frpc::Code::Unknown as i32,
                code => code as i32,
            };
            add("grpc-status", number.to_string());
            if !status.message().is_empty() {
                add("grpc-message", percent_encoded(status.message()));
            }
            if !status.details().is_empty() {
                add("grpc-status-details-bin", crate::base64::encode(status.details()));
            }
        }
    }
    trailers.extend(fields::fields(metadata, ""));
    if let Err(status) = outcome {
        trailers.extend(fields::fields(status.metadata(), ""));
    }
    trailers
}

/// Percent-encodes a status message for a header field. This includes a space at either end, which a field value cannot
/// contain.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    let last = text.len().saturating_sub(1);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' if at == 0 || at == last => encoded.push_str("%20"),
            b' '..=b'~' if byte != b'%' => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_timeout_has_eight_digits_and_unit() {
        for (text, expected) in [
            ("99999999H", Ok(Duration::from_secs(99_999_999 * 3600))),
            ("2M", Ok(Duration::from_secs(120))),
            ("0S", Ok(Duration::ZERO)),
            ("1500m", Ok(Duration::from_millis(1500))),
            ("5u", Ok(Duration::from_micros(5))),
            ("7n", Ok(Duration::from_nanos(7))),
            ("123456789S", Err(())),
            ("S", Err(())),
            ("+1S", Err(())),
            ("1", Err(())),
            ("1x", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(timeout(Some(text.as_bytes())), expected.map(Some), "{text}");
        }
        assert_eq!(timeout(None), Ok(None));
    }

    #[test]
    fn status_text_is_escaped_in_trailers() {
        let mut metadata = Metadata::new();
        metadata.insert("retry", "no").unwrap();
        let status = Status::not_found("100 % weg: \u{fc}\n").with_details(vec![0, 1, 2]).with_metadata(metadata);
        let expected = [
            ("grpc-status", "5"),
            ("grpc-message", "100 %25 weg: %C3%BC%0A"),
            ("grpc-status-details-bin", "AAEC"),
            ("retry", "no"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(trailers(Err(&status), &Metadata::new()), expected);
        assert_eq!(trailers(Ok(()), &Metadata::new()), [("grpc-status".to_owned(), "0".to_owned())]);
    }
}
