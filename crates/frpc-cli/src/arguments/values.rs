//! Parsers of the values of arguments.

use crate::arguments::Ramp;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use frpc::HeaderForm;
use frpc_build::Numbering;
use frpc_gateway::ForwardFields;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Maximum rate in calls per second. At a higher rate, reading the clock would take longer than the interval between
/// two calls.
const RATE_MAX: f64 = 1e8;

/// Maximum number of connections to a server. A larger number, such as a mistyped one, would use up the file descriptors
/// of most systems.
pub(super) const CONNECTIONS_MAX: u64 = 10_000;

/// Maximum number of concurrent calls of a load test. A larger number would use up the memory, because each of them is a
/// task.
pub(super) const CALLERS_MAX: u64 = 100_000;

/// Returns the parser of a number from 1 to `max`.
pub(super) fn count(max: u64) -> impl TypedValueParser<Value = usize> {
    RangedU64ValueParser::<usize>::new().range(1..=max)
}

/// Parses the name of a service or method. Rejects addresses, because users of similar tools may pass the address of a
/// server as the first argument.
pub(super) fn name(text: &str) -> Result<String, String> {
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port || text.contains("://") || text.starts_with("unix:") {
        return Err(format!("this is an address: specify the server by --server {text}"));
    }
    Ok(text.to_owned())
}

/// Returns the parser of a header format.
pub(super) fn header_form() -> impl TypedValueParser<Value = HeaderForm> {
    let texts = PossibleValuesParser::new(["new", "old"]);
    texts.map(|text| if text == "old" { HeaderForm::Old } else { HeaderForm::Current })
}

/// Returns the parser of a numbering of methods.
pub(super) fn numbering() -> impl TypedValueParser<Value = Numbering> {
    let texts = PossibleValuesParser::new(["sequential", "go"]);
    texts.map(|text| if text == "go" { Numbering::Go } else { Numbering::Sequential })
}

/// Network in which proxies are trusted: an address, and the length of its prefix in bits.
pub(crate) type Network = (IpAddr, u8);

/// Parses an IP address or a network such as 10.0.0.0/8.
pub(super) fn network(text: &str) -> Result<Network, String> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().map_err(|_| format!("{address:?} is not an IP address"))?;
    let max = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Ok(max), str::parse).ok().filter(|bits| *bits <= max);
    Ok((address, bits.ok_or_else(|| format!("invalid prefix length: use 0 to {max} bits for this address"))?))
}

/// Parses the name and value of a header field that the gateway may set in requests.
pub(super) fn field(text: &str) -> Result<(String, String), String> {
    named(text, ForwardFields::set)
}

/// Parses the name and value of a header field that the gateway may set in replies.
pub(super) fn reply_field(text: &str) -> Result<(String, String), String> {
    named(text, ForwardFields::set_in_replies)
}

/// Splits a header field into its name and its value, and checks both by a setter of the gateway.
fn named(
    text: &str,
    set: fn(ForwardFields, String, String) -> io::Result<ForwardFields>,
) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("invalid header field: write NAME=VALUE")?;
    let (name, value) = (name.to_owned(), value.to_owned());
    let checked = set(ForwardFields::new(), name.clone(), value.clone()).map_err(|error| error.to_string());
    checked.map(|_| (name, value))
}

/// Parses the name of a header field that the gateway may set to a text.
pub(super) fn text_field(name: &str) -> Result<String, String> {
    let checked = ForwardFields::new().subject(name, |_| None).map_err(|error| error.to_string());
    checked.map(|_| name.to_owned())
}

/// Parses the name of any header field.
pub(super) fn any_field(name: &str) -> Result<String, String> {
    let (mut metadata, name) = (frpc::Metadata::new(), name.to_ascii_lowercase());
    let added = metadata.insert(&name, "").or_else(|_| metadata.insert_bin(&name, ""));
    added.map(|()| name).map_err(|error| error.to_string())
}

/// Parses a host name as it occurs in the field `host` of a request.
pub(super) fn host(text: &str) -> Result<String, String> {
    let is_host =
        !text.is_empty() && !text.contains(|letter: char| "/@?#*".contains(letter) || !letter.is_ascii_graphic());
    is_host.then(|| text.to_owned()).ok_or_else(|| "invalid host name: write it without a scheme or path".to_owned())
}

/// Parses the origin of a web page: a scheme and a host, optionally with a port.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let is_origin = text
        .split_once("://")
        .is_some_and(|(scheme, authority)| !scheme.is_empty() && host(authority.trim_end_matches('/')).is_ok());
    is_origin
        .then(|| text.to_owned())
        .ok_or_else(|| "invalid origin: write SCHEME://HOST or SCHEME://HOST:PORT".to_owned())
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= RATE_MAX => Ok(rate),
        _ => Err(format!("invalid rate: use a number of calls per second above 0 and up to {RATE_MAX}")),
    }
}

pub(super) fn ramp(text: &str) -> Result<Ramp, String> {
    let mut parts = text.splitn(3, ':');
    let (Some(from), Some(to), Some(length)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("invalid ramp: write FROM:TO:TIME, such as 100:1000:10s".to_owned());
    };
    Ok(Ramp { from: rate(from)?, to: rate(to)?, length: duration(length)? })
}

/// Parses an interval that servers accept for reports.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let range = Duration::from_millis(100)..=Duration::from_secs(60);
    duration(text).and_then(|time| range.contains(&time).then_some(time).ok_or("use 100ms to 1m".to_owned()))
}

/// Maximum duration. Adding it to the current time cannot overflow.
const DURATION_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Parses a duration: a number followed by a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("invalid duration: use a number with a unit, such as 100ms, 2.5s, 1m or 1h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| format!("{number:?} is not a number"))?;
    let read = Duration::try_from_secs_f64(number * unit).ok().filter(|read| *read <= DURATION_MAX);
    read.ok_or_else(|| "the duration is too long: use a smaller number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_is_two_rates_and_duration() {
        let length = Duration::from_secs(10);
        assert_eq!(ramp("100:1000:10s"), Ok(Ramp { from: 100.0, to: 1000.0, length }));
        for text in ["100", "100:1000", "0:1:1s", "1:x:1s", "1:2:3", "1e9:1:1s", "nan:1:1s"] {
            assert!(ramp(text).is_err(), "{text}");
        }
    }

    #[test]
    fn field_must_be_free_for_gateway() {
        assert_eq!(field("x-gateway=a=b"), Ok(("x-gateway".to_owned(), "a=b".to_owned())));
        assert!(field("server=x").is_ok() && reply_field("x-server=x").is_ok() && text_field("x-subject").is_ok());
        for text in ["te=x", "x"] {
            assert!(field(text).is_err() && reply_field(text).is_err(), "{text}");
        }
        assert!(reply_field("server=x").is_err() && text_field("te").is_err() && text_field("x-subject=a").is_err());
        assert!(any_field("Cookie").is_ok() && any_field("x-bin").is_ok() && any_field("a b").is_err());
    }

    /// Regression test: an origin without a scheme was accepted, but no page has it.
    #[test]
    fn hosts_and_origins_are_checked() {
        assert!(host("shop.example.com").is_ok() && host("[::1]:80").is_ok());
        assert!(
            ["", "a b", "https://shop.example.com", "shop/a", "user@shop", "*"].iter().all(|text| host(text).is_err())
        );
        assert!(["https://shop.example.com", "http://localhost:80/"].iter().all(|text| origin(text).is_ok()));
        assert!(["shop.example.com", "https://", "https://a/b", "://a"].iter().all(|text| origin(text).is_err()));
    }

    #[test]
    fn duration_is_number_with_unit() {
        for (text, millis) in [("100ms", 100), ("2.5s", 2500), ("1m", 60_000), ("1h", 3_600_000), ("1500us", 1)] {
            assert_eq!(duration(text).map(|read| read.as_millis()), Ok(millis), "{text}");
        }
        // Regression: a call with the last duration panicked.
        for text in ["", "5", "s", "1.2.3s", "1x", "-1s", "99999999999999999999999h", "10000000000000000000s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
