//! Requests that are written as an earlier one of the same connection was, but for the id and the params. Clients write
//! all requests in one way, so that what stands between these has to be read once.

use super::envelope::{Cursor, Plain};
use std::ops::Range;

/// How long the text between the values may be, in bytes: the names of methods are not longer.
const LENGTH_MAX: usize = 512;

/// After so many requests that were written otherwise, the next one is what others are compared with.
const MISSES_MAX: u8 = 8;

/// How the requests of a connection are written.
#[derive(Debug, Default)]
pub(super) struct Usual {
    pattern: Option<Pattern>,
    misses: u8,
}

/// The text around the values of a request.
#[derive(Debug)]
struct Pattern {
    parts: [Box<[u8]>; 3],
    is_id_first: bool,
    /// The place of its method.
    method: usize,
}

/// What differs between requests.
#[derive(Debug, PartialEq)]
pub(super) struct Values<'a> {
    pub(super) id: &'a [u8],
    /// Their place in the input.
    pub(super) params: Range<usize>,
    /// The end of the request.
    pub(super) end: usize,
    /// The place of its method.
    pub(super) method: usize,
}

impl Usual {
    /// Reads the request at the beginning of the input, if it is written as usual and complete. It is then what
    /// [`Plain::read`] would read. Params nest to this depth.
    #[inline]
    pub(super) fn read<'a>(&self, input: &'a [u8], depth_max: u32) -> Option<Values<'a>> {
        let Pattern { parts: [before, between, behind], is_id_first, method } = self.pattern.as_ref()?;
        let mut cursor = Cursor::new(input);
        cursor.take(before)?;
        let (id, params);
        if *is_id_first {
            id = cursor.id()?;
            cursor.take(between)?;
            params = cursor.params(depth_max)?;
        } else {
            params = cursor.params(depth_max)?;
            cursor.take(between)?;
            id = cursor.id()?;
        }
        cursor.take(behind)?;
        Some(Values { id: input.get(id)?, params, end: cursor.at(), method: *method })
    }

    /// Learns of a request that was written otherwise, whose method has this place.
    pub(super) fn learn(&mut self, input: &[u8], plain: &Plain<'_>, method: usize) {
        self.misses = self.misses.saturating_add(1);
        if self.pattern.is_some() && self.misses < MISSES_MAX {
            return;
        }
        let Plain { id: Some(id), params: Some(params), end, .. } = plain else { return };
        let is_id_first = id.start < params.start;
        let (first, second) = if is_id_first { (id, params) } else { (params, id) };
        let parts = [0..first.start, first.end..second.start, second.end..*end].map(|part| input.get(part));
        let [Some(before), Some(between), Some(behind)] = parts else { return };
        if before.len() + between.len() + behind.len() > LENGTH_MAX {
            return;
        }
        let parts = [before, between, behind].map(Box::from);
        (self.pattern, self.misses) = (Some(Pattern { parts, is_id_first, method }), 0);
    }

    /// A request was written as usual.
    #[inline]
    pub(super) fn hit(&mut self) {
        self.misses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::framing::Bounds;
    use super::*;

    const BOUNDS: Bounds = Bounds { depth_max: 5, batch_max: 3 };

    fn learned(request: &str, method: usize) -> Usual {
        let mut usual = Usual::default();
        learn(&mut usual, request, method);
        usual
    }

    fn learn(usual: &mut Usual, request: &str, method: usize) {
        let plain = Plain::read(request.as_bytes(), BOUNDS).expect("it is plain");
        usual.learn(request.as_bytes(), &plain, method);
    }

    #[test]
    fn requests_that_are_written_as_usual_are_read_as_plain_ones_are() {
        for (first, others) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a.B/C","params":{}}"#,
                [
                    r#"{"jsonrpc":"2.0","id":"x\u","method":"a.B/C","params":{}}"#,
                    r#"{"jsonrpc":"2.0","id":"x","method":"a.B/C","params":{"a":["}"]}}"#,
                    r#"{"jsonrpc":"2.0","id":01,"method":"a.B/C","params":{}}"#,
                    r#"{"jsonrpc":"2.0","id":77,"method":"a.B/C","params":[[[[]]]]}"#,
                    r#"{"jsonrpc":"2.0","id":7,"method":"a.B/C","params":[[[[[]]]]]}"#,
                ],
            ),
            (
                r#"{ "params":[ ], "method":"m","id":"1" ,"jsonrpc":"2.0"}"#,
                [
                    r#"{ "params":{"\"":"\\"}, "method":"m","id":7 ,"jsonrpc":"2.0"}"#,
                    r#"{ "params":{"\"":"\"}, "method":"m","id":7 ,"jsonrpc":"2.0"}"#,
                    r#"{ "params":7, "method":"m","id":7 ,"jsonrpc":"2.0"}"#,
                    r#"{ "params":[ ], "method":"m","id":7.5 ,"jsonrpc":"2.0"}"#,
                    r#"{ "params":[ ], "method":"m","id":7,"jsonrpc":"2.0"}"#,
                ],
            ),
        ] {
            let usual = learned(first, 3);
            for other in others.into_iter().chain([first]) {
                let plain = Plain::read(other.as_bytes(), BOUNDS);
                let as_usual = usual.read(other.as_bytes(), BOUNDS.depth_max - 1);
                let Some(values) = as_usual else {
                    assert!(plain.is_none() || other.contains("7,\"json"), "{other}");
                    continue;
                };
                let plain = plain.expect("it is plain");
                assert_eq!(plain.id.map(|id| &other.as_bytes()[id]), Some(values.id), "{other}");
                assert_eq!((plain.params, plain.end, 3), (Some(values.params), values.end, values.method), "{other}");
                for length in 0..other.len() {
                    assert_eq!(usual.read(&other.as_bytes()[..length], BOUNDS.depth_max - 1), None);
                }
            }
        }
    }

    #[test]
    fn another_way_of_writing_becomes_usual_when_it_has_come_often() {
        let [first, second] =
            ["a", "b"].map(|method| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#));
        let mut usual = learned(&first, 0);
        let method = |usual: &Usual, request: &str| usual.read(request.as_bytes(), 4).map(|values| values.method);
        for _ in 1..MISSES_MAX {
            learn(&mut usual, &second, 1);
            assert_eq!((method(&usual, &first), method(&usual, &second)), (Some(0), None));
        }
        learn(&mut usual, &second, 1);
        assert_eq!((method(&usual, &first), method(&usual, &second)), (None, Some(1)));
        // One that comes now and then does not displace what is usual.
        for _ in 0..3 * MISSES_MAX {
            usual.hit();
            learn(&mut usual, &first, 0);
        }
        assert_eq!(method(&usual, &second), Some(1));
    }

    #[test]
    fn notifications_requests_without_params_and_long_names_do_not_become_usual() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{}}}}"#, "m".repeat(LENGTH_MAX));
        let notification = r#"{"jsonrpc":"2.0","method":"m","params":{}}"#;
        for request in [notification, r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, &long] {
            assert!(learned(request, 0).pattern.is_none(), "{request}");
        }
    }
}
