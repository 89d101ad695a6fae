//! Extraction of names from a peer's certificate. The certificate has already been verified by rustls, so this module
//! only parses it.

use crate::{CertificateNames, Principal, Proof};
use frpc::tls::CertificateDer;
use webpki::EndEntityCert;

/// URI scheme of SPIFFE IDs, including the slashes.
const SPIFFE: &str = "spiffe://";

/// Maximum length of a SPIFFE ID in bytes, as defined by the SPIFFE specification.
const SPIFFE_MAX: usize = 2048;

/// DER-encoded object identifier of the common name attribute, with tag and length.
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];

/// Returns the principal that a certificate names. Returns `None` if the certificate has no name. Also returns `None`
/// if its SPIFFE ID is invalid, because the certificate's other names must not be used for authentication then.
pub(super) fn principal(certificate: &CertificateDer<'_>) -> Option<Principal> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    let uris: Vec<&str> = certificate.valid_uri_names().collect();
    let has_scheme = |uri: &&str| uri.get(..SPIFFE.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SPIFFE));
    let spiffe = match uris[..] {
        [one] if is_spiffe_id(one) => Some(one.to_owned()),
        _ if uris.iter().any(has_scheme) => return None,
        _ => None,
    };
    let hosts = certificate.valid_dns_names().map(str::to_owned).collect();
    let names = CertificateNames { spiffe, hosts, common_name: common_name(certificate.subject()) };
    let name = names.spiffe.as_ref().or(names.hosts.first()).or(names.common_name.as_ref())?.clone();
    Some(Principal::new(name, Proof::Certificate(names)))
}

/// Returns whether a URI is the SPIFFE ID of a workload, which has a trust domain and a path of at least one segment.
fn is_spiffe_id(uri: &str) -> bool {
    let Some((domain, path)) = uri.strip_prefix(SPIFFE).and_then(|rest| rest.split_once('/')) else { return false };
    let is_mark = |byte: u8| matches!(byte, b'-' | b'.' | b'_');
    let in_domain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || is_mark(byte);
    let in_path = |byte: u8| byte.is_ascii_alphanumeric() || is_mark(byte);
    let is_segment = |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(in_path);
    uri.len() <= SPIFFE_MAX && !domain.is_empty() && domain.bytes().all(in_domain) && path.split('/').all(is_segment)
}

/// Returns the first common name in a DER-encoded certificate subject. The subject consists of sets of attributes with
/// an identifier and a text.
fn common_name(subject: &[u8]) -> Option<String> {
    let mut rest = subject;
    while let Some((set, behind)) = value(rest) {
        rest = behind;
        let (attribute, _) = value(set)?;
        if let Some(text) = attribute.strip_prefix(&COMMON_NAME) {
            let (text, _) = value(text)?;
            let text = str::from_utf8(text).ok()?;
            return Some(text.to_owned()).filter(|text| !text.is_empty() && !text.contains(char::is_control));
        }
    }
    None
}

/// Returns the content of the first DER value, and the bytes that follow the value. Lengths of more than two bytes are
/// not supported, because they do not occur in names.
fn value(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match der.get(1..)? {
        [length @ 0..=0x7F, rest @ ..] => (usize::from(*length), rest),
        [0x81, length, rest @ ..] => (usize::from(*length), rest),
        [0x82, high, low, rest @ ..] => (usize::from(u16::from_be_bytes([*high, *low])), rest),
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spiffe_ids_follow_standard() {
        for id in ["spiffe://example.org/billing", "spiffe://a/b/C-1_2.x", "spiffe://1.2.3.4/x"] {
            assert!(is_spiffe_id(id), "{id}");
        }
        let long = format!("{SPIFFE}a/{}", "b".repeat(SPIFFE_MAX));
        for other in [
            "",
            "spiffe://",
            "spiffe://example.org",
            "spiffe://example.org/",
            "spiffe:///billing",
            "SPIFFE://example.org/billing",
            "spiffe://Example.org/billing",
            "spiffe://example.org:1/billing",
            "spiffe://me@example.org/billing",
            "spiffe://example.org/billing/",
            "spiffe://example.org//billing",
            "spiffe://example.org/./billing",
            "spiffe://example.org/../billing",
            "spiffe://example.org/billing?a=b",
            "spiffe://example.org/billing#a",
            "spiffe://example.org/%62illing",
            "https://example.org/billing",
            &long,
        ] {
            assert!(!is_spiffe_id(other), "{other}");
        }
    }

    #[test]
    fn malformed_subject_has_no_common_name() {
        let attribute = |oid: u8, text: &[u8]| {
            let text = [&[0x0C, text.len() as u8][..], text].concat();
            let inner = [&[0x06, 0x03, 0x55, 0x04, oid][..], &text].concat();
            let sequence = [&[0x30, inner.len() as u8][..], &inner].concat();
            [&[0x31, sequence.len() as u8][..], &sequence].concat()
        };
        let subject = [attribute(0x0A, b"Acme"), attribute(0x03, b"till 3")].concat();
        assert_eq!(common_name(&subject).as_deref(), Some("till 3"));
        for end in 0..subject.len() {
            assert_eq!(common_name(&subject[..end]), None, "name truncated at {end} should be rejected");
        }
        assert_eq!(common_name(&attribute(0x03, b"a\nb")), None);
        assert_eq!(common_name(&attribute(0x03, b"\xFF")), None);
        assert_eq!(common_name(&[0x31, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
