use super::*;

const MASK: [u8; 4] = [1, 2, 3, 4];
const LIMIT: u64 = 70_000;

/// Encodes a frame as a client. `first` replaces the first byte of its header.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let (head, length) = head(Opcode::Binary, payload.len(), Some(MASK));
    let mut frame = [&head[..length], payload].concat();
    unmask(&mut frame[length..], MASK, 0);
    frame[0] = first;
    frame
}

/// An event that the frame decoder returned.
#[derive(PartialEq, Eq, Debug)]
enum Read {
    Part(Kind, Vec<u8>, bool),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
}

/// Decodes `bytes` in pieces of `width` bytes, and joins the parts of each message.
fn read(bytes: &[u8], width: usize) -> Result<Vec<Read>, Fault> {
    let start = Instant::now();
    let mut decoder = Decoder::new(Role::Server, LIMIT, start);
    let mut all = Vec::new();
    for piece in bytes.chunks(width) {
        let (mut piece, mut at) = (piece.to_vec(), 0);
        while let Some(event) = decoder.next(&mut piece, &mut at, || start)? {
            match event {
                Event::Data { kind, range, ends } => {
                    if let Some(Read::Part(_, part, is_over @ false)) = all.last_mut() {
                        part.extend_from_slice(&piece[range]);
                        *is_over = ends;
                    } else {
                        all.push(Read::Part(kind, piece[range].to_vec(), ends));
                    }
                }
                Event::Ping => all.push(Read::Ping(decoder.control().to_vec())),
                Event::Pong => all.push(Read::Pong),
                Event::Close(code) => all.push(Read::Close(code.map(|code| code.0))),
            }
        }
    }
    Ok(all)
}

#[test]
fn frames_are_decoded_from_any_pieces() {
    let long: Vec<u8> = (0..66_000_u32).map(|number| number as u8).collect();
    let frames = [
        frame(0x82, b""),
        frame(0x82, b"short"),
        frame(0x82, &long[..126]),
        frame(0x89, b"how are you"),
        frame(0x82, &long),
        frame(0x8a, b""),
        frame(0x81, "text".as_bytes()),
        frame(0x88, &[3, 232, b'o', b'k']),
        frame(0x82, b"after the end"),
    ];
    let expected = vec![
        Read::Part(Kind::Binary, Vec::new(), true),
        Read::Part(Kind::Binary, b"short".to_vec(), true),
        Read::Part(Kind::Binary, long[..126].to_vec(), true),
        Read::Ping(b"how are you".to_vec()),
        Read::Part(Kind::Binary, long.clone(), true),
        Read::Pong,
        Read::Part(Kind::Text, b"text".to_vec(), true),
        Read::Close(Some(1000)),
    ];
    for width in [1, 2, 3, 7, 100, 1 << 20] {
        assert!(
            read(&frames.concat(), width).as_ref() == Ok(&expected),
            "decoding should be independent of the pieces of {width} bytes"
        );
    }
}

#[test]
fn fragments_form_message_despite_control_frames() {
    let frames = [frame(0x01, b"a"), frame(0x00, b""), frame(0x89, b"!"), frame(0x00, b"b"), frame(0x80, b"")];
    let expected = vec![
        Read::Part(Kind::Text, b"a".to_vec(), false),
        Read::Ping(b"!".to_vec()),
        Read::Part(Kind::Text, b"b".to_vec(), true),
    ];
    assert_eq!(read(&frames.concat(), 1).as_ref(), Ok(&expected));
}

#[test]
fn protocol_violation_is_rejected_with_code() {
    let with = |index: usize, byte: u8, mut frame: Vec<u8>| {
        frame[index] = byte;
        frame
    };
    let reserved = |bit: u8| frame(0x82 | bit, b"x");
    let cases = [
        (reserved(0x40), 1002),
        (reserved(0x20), 1002),
        (reserved(0x10), 1002),
        (frame(0x83, b""), 1002),
        (frame(0x8b, b""), 1002),
        (frame(0x09, b""), 1002),
        (frame(0x89, &[0; 126]), 1002),
        (frame(0x80, b"no message"), 1002),
        ([frame(0x02, b"a"), frame(0x82, b"b")].concat(), 1002),
        (with(1, 1, frame(0x82, b"x")), 1002),
        (vec![0x82, 0x80 | 126, 0, 125, 0, 0, 0, 0], 1002),
        (vec![0x82, 0x80 | 127, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0], 1002),
        (vec![0x82, 0x80 | 127, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0], 1009),
        ([frame(0x02, &[0; 40_000]), frame(0x80, &[0; 40_000])].concat(), 1009),
        (frame(0x88, b"x"), 1002),
        (frame(0x88, &1005_u16.to_be_bytes()), 1002),
        (frame(0x88, &999_u16.to_be_bytes()), 1002),
        (frame(0x88, &2000_u16.to_be_bytes()), 1002),
        (frame(0x88, &[3, 232, 0xff]), 1007),
        (frame(0x89, b"").repeat(1025), 1008),
        (frame(0x02, b"").into_iter().chain(frame(0x00, b"").repeat(1024)).collect(), 1008),
    ];
    for (number, (bytes, code)) in cases.into_iter().enumerate() {
        for width in [1, 3, bytes.len()] {
            let fault = read(&bytes, width).expect_err("decoder should reject the protocol violation");
            assert_eq!(fault.code, CloseCode(code), "case {number}: {fault}");
        }
    }
}

#[test]
fn masks_are_removed_at_any_offset() {
    let mut bytes: Vec<u8> = (0..100).collect();
    unmask(&mut bytes, MASK, 0);
    for cut in 0..bytes.len() {
        let mut copy = bytes.clone();
        let (first, second) = copy.split_at_mut(cut);
        unmask(first, MASK, 0);
        unmask(second, MASK, cut as u64);
        assert!(copy.iter().copied().eq(0..100), "cut at {cut}");
    }
}

#[test]
fn client_rejects_masked_frames() {
    let mut decoder = Decoder::new(Role::Client, LIMIT, Instant::now());
    let fault =
        decoder.next(&mut frame(0x82, b"x"), &mut 0, Instant::now).expect_err("masked server frame should be rejected");
    assert_eq!(fault.code, CloseCode::PROTOCOL_ERROR);
}
