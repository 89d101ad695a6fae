//! Heads that were there before on the same connection. Most clients send the same one with each call, but for the length
//! of the body, so that what it means has to be found once.

use super::head::Head;
use frpc::Metadata;
use std::time::Duration;

/// How many heads of a connection are kept. A client with more is a proxy, or changes them each time.
const KEPT: usize = 4;

/// The longest head that is kept, in bytes: those of browsers have some seven hundred.
const LENGTH_MAX: usize = 1024;

/// The most digits of a length. Longer bodies do not come in one read.
const DIGITS_MAX: usize = 5;

/// The heads of one connection, with what each means.
#[derive(Debug)]
pub(crate) struct Usual<T> {
    heads: Vec<Kept<T>>,
}

#[derive(Debug)]
struct Kept<T> {
    /// The bytes in front of the digits of the length, and those behind.
    before: Box<[u8]>,
    behind: Box<[u8]>,
    meaning: T,
}

/// What the head of a call says about it.
#[derive(Debug)]
pub(crate) struct Terms<C> {
    pub(crate) callee: C,
    pub(crate) metadata: Metadata,
    pub(crate) timeout: Option<Duration>,
}

/// A head at the beginning of an input.
#[derive(Debug, PartialEq)]
pub(crate) struct Found<'a, T> {
    pub(crate) meaning: &'a T,
    /// The length of the head.
    pub(crate) head: usize,
    /// The length of the body, as the head states it.
    pub(crate) body: usize,
}

impl<T> Usual<T> {
    pub(crate) fn new() -> Self {
        Self { heads: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Keeps a head, which consists of these bytes, if there is room. `meaning` must not depend on the length of the body.
    pub(crate) fn keep(&mut self, bytes: &[u8], head: &Head<'_, '_>, meaning: impl FnOnce() -> T) {
        if self.heads.len() >= KEPT || bytes.len() > LENGTH_MAX {
            return;
        }
        let Some((before, behind)) = around_length(bytes, head) else { return };
        if self.heads.iter().any(|kept| *kept.before == *before && *kept.behind == *behind) {
            return;
        }
        self.heads.push(Kept { before: before.into(), behind: behind.into(), meaning: meaning() });
    }

    /// The head at the beginning of the input, if it is kept and there as a whole.
    #[inline]
    pub(crate) fn find(&self, input: &[u8]) -> Option<Found<'_, T>> {
        self.heads.iter().find_map(|Kept { before, behind, meaning }| {
            let rest = input.strip_prefix(&**before)?;
            let mut body = 0;
            let mut digits = 0;
            for digit in rest.iter().take(DIGITS_MAX).map_while(|byte| char::from(*byte).to_digit(10)) {
                body = 10 * body + digit as usize;
                digits += 1;
            }
            let is_it = digits > 0 && rest.get(digits..)?.starts_with(behind);
            is_it.then(|| Found { meaning, head: before.len() + digits + behind.len(), body })
        })
    }
}

/// The bytes of a head in front of the digits of the length that it states, and those behind.
fn around_length<'a>(bytes: &'a [u8], head: &Head<'_, '_>) -> Option<(&'a [u8], &'a [u8])> {
    let field = head.fields.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"))?;
    let at = field.value.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
    let (before, rest) = bytes.split_at_checked(at)?;
    let behind = rest.strip_prefix(field.value)?;
    // What would go on as a number has to be something else.
    (!field.value.is_empty() && behind.starts_with(b"\r\n")).then_some((before, behind))
}

#[cfg(test)]
mod tests {
    use super::super::head::FIELDS_MAX;
    use super::*;
    use std::mem::MaybeUninit;

    fn keep(usual: &mut Usual<u32>, bytes: &str, meaning: u32) {
        let mut places = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let head = Head::parse(bytes.as_bytes(), &mut places).unwrap();
        usual.keep(bytes.as_bytes(), &head, || meaning);
    }

    fn head(path: &str, length: &str) -> String {
        format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nx: 12\r\n\r\n")
    }

    #[test]
    fn a_head_is_found_again_with_any_length_and_no_other_difference() {
        let mut usual = Usual::new();
        keep(&mut usual, &head("/a", "12"), 1);
        keep(&mut usual, &head("/b", "7"), 2);
        let found = |input: &str| usual.find(input.as_bytes()).map(|found| (*found.meaning, found.head, found.body));
        for (path, meaning) in [("/a", 1), ("/b", 2)] {
            for length in ["0", "7", "12", "007", "99999"] {
                let head = head(path, length);
                let expected = Some((meaning, head.len(), length.parse().unwrap()));
                assert_eq!(found(&head), expected, "{head}");
                assert_eq!(found(&format!("{head}body")), expected);
                for cut in 0..head.len() {
                    assert_eq!(found(&head[..cut]), None, "{cut} of {head}");
                }
            }
        }
        for other in ["", "-1", "+1", "1 ", " 1", "1,1", "1.0", "0x1", "100000", "12x"] {
            assert_eq!(found(&head("/a", other)), None, "{other:?}");
        }
        for (from, to) in [("/a", "/c"), ("Host", "host"), ("x: 12", "x: 13"), ("\r\n\r\n", "\r\ny: 1\r\n\r\n")] {
            assert_eq!(found(&head("/a", "12").replace(from, to)), None, "{to:?}");
        }
    }

    #[test]
    fn heads_that_state_no_length_or_are_too_many_or_too_long_are_not_kept() {
        let mut usual = Usual::new();
        keep(&mut usual, "POST / HTTP/1.1\r\nHost: a\r\n\r\n", 0);
        keep(&mut usual, &head(&format!("/{}", "a".repeat(LENGTH_MAX)), "1"), 0);
        keep(&mut usual, &head("/a", "1 "), 0);
        assert!(usual.is_empty());
        let paths: Vec<_> = (0..2 * KEPT).map(|number| format!("/{number}")).collect();
        paths.iter().for_each(|path| keep(&mut usual, &head(path, "1"), 0));
        let found = paths.iter().filter(|path| usual.find(head(path, "1").as_bytes()).is_some());
        assert_eq!(found.count(), KEPT);
    }
}
