//! Tests of the texts that benchmarks send.

use benches::text::Text;
use bytes::Bytes;

fn next(text: &mut Text) -> Bytes {
    text.advance();
    text.to_bytes()
}

#[test]
fn texts_are_unique_with_given_length() {
    for make in [Text::owned, Text::shared] {
        for length in [32, 100_000] {
            let (mut one, mut other) = (make(1, length), make(2, length));
            let first = next(&mut one);
            assert_eq!(first.len(), length);
            assert_ne!(first, next(&mut one));
            assert_ne!(first, next(&mut other));
        }
    }
}
