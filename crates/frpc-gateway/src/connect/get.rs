//! Unary Connect calls by GET, with the message in the query string.

use super::unary::{Format, invalid};
use crate::gzip;
use crate::http::answer::Answer;
use bytes::Bytes;
use frpc::Code;

/// Parsed query string of a Connect GET call.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) format: Format,
    pub(crate) message: Bytes,
}

impl Query {
    /// Parses the query string of a Connect GET call. Its message may have at most `limit` bytes.
    pub(crate) fn parse(query: &str, limit: u64) -> Result<Self, Answer> {
        let (mut format, mut message, mut is_base64, mut is_gzip) = (None, None, false, false);
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value).ok_or_else(|| invalid("the query is not valid percent encoding"))?;
            match name {
                "encoding" => {
                    let wrong =
                        || Answer::wrong_type("application/json, application/proto", "encoding is json or proto");
                    format = Some(Format::named(&value).ok_or_else(wrong)?);
                }
                "message" => message = Some(value),
                "base64" => is_base64 = value == b"1",
                "compression" => match &value[..] {
                    b"" | b"identity" => is_gzip = false,
                    b"gzip" => is_gzip = true,
                    _ => {
                        return Err(Answer::failure(501, Code::Unimplemented, "compression is gzip or identity"));
                    }
                },
                "connect" if value != b"v1" => return Err(invalid("the version of the Connect protocol is v1")),
                _ => {}
            }
        }
        let format = format.ok_or_else(|| invalid("the query needs \"encoding\", which is json or proto"))?;
        let mut message = message.ok_or_else(|| invalid("the query needs \"message\""))?;
        if is_base64 {
            message = crate::base64::decode_url(&message).ok_or_else(|| invalid("\"message\" is not base64"))?;
        }
        let message = Bytes::from(message);
        let message = match is_gzip {
            true => gzip::inflate(&message, limit).map_err(|status| super::unary::failure(&status))?,
            false => message,
        };
        Ok(Self { format, message })
    }
}

/// Decodes a percent-encoded query value. Returns `None` if the encoding is invalid.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                u8::try_from(16 * high + low).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(query: &str) -> Result<Vec<u8>, u16> {
        Query::parse(query, 1000).map(|query| query.message.to_vec()).map_err(|answer| answer.status)
    }

    #[test]
    fn query_message_is_decoded_per_encoding() {
        assert_eq!(message("encoding=json&message=%7B%22a%22%3a+1%7D&connect=v1").unwrap(), b"{\"a\": 1}");
        assert_eq!(message("message=AAEC&base64=1&encoding=proto").unwrap(), [0, 1, 2]);
        assert_eq!(message("message=-_8%3D&base64=1&encoding=proto").unwrap(), [251, 255]);
        assert_eq!(message("message=&encoding=proto").unwrap(), b"");
        for (wrong, status) in [
            ("", 400),
            ("encoding=json", 400),
            ("message=%7B%7D", 400),
            ("encoding=json&message=%7", 400),
            ("encoding=json&message=%zz", 400),
            ("encoding=json&message=%7B%7D&connect=v2", 400),
            ("encoding=xml&message=a", 415),
            ("encoding=proto&message=!&base64=1", 400),
            ("encoding=json&message=%7B%7D&compression=br", 501),
            ("encoding=json&message=%7B%7D&compression=gzip", 400),
        ] {
            assert_eq!(message(wrong), Err(status), "{wrong:?}");
        }
    }
}
