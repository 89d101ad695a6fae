//! Output of one end of a WebSocket connection: control frames, and a data frame for each write.

use super::frame::{CloseCode, HEAD_MAX, Opcode, Role, head, unmask};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// Maximum number of queued bytes of control frames. Beyond this, PINGs are not answered. RFC 6455, section 5.5.3,
/// permits answering only the latest one.
const CONTROL_WAITS_MAX: usize = 512;

/// Maximum payload size of a data frame, which is a whole message. A web page is notified only of whole messages, and
/// considers the server dead after 10 s of silence. At the minimum rate of 16 KiB/s, a message of this size takes 4 s.
/// This is also the maximum number of bytes that a client copies and masks at once.
const DATA_MAX: usize = 64 * 1024;

/// Maximum length in bytes of the reason in a CLOSE frame, which follows the close code.
const REASON_MAX: usize = 123;

/// Maximum number of slices per vectored write: a frame header and the slices that a connection driver writes at once.
const SLICES_MAX: usize = 65;

/// Queue of frames to be sent, including a partially written one.
#[derive(Debug)]
pub(crate) struct FrameSender {
    end: Role,
    /// Queued frames.
    unsent: Vec<u8>,
    /// Number of bytes of `unsent` that were already written.
    written: usize,
    /// Number of bytes of control frames that were queued since all of them were last written, and the end of the last
    /// one in `unsent`.
    of_control: usize,
    control_end: usize,
    /// Frame header length of the last line, used as the estimate for the next line.
    head_len: usize,
    /// Data frame that was written only partially.
    open: Option<OpenFrame>,
    has_closed: bool,
}

/// Data frame with a sent header and an incomplete payload.
#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    head: [u8; HEAD_MAX],
    head_len: usize,
    head_written: usize,
    /// Number of payload bytes that were not written yet.
    missing: usize,
}

impl FrameSender {
    pub(crate) fn new(end: Role) -> Self {
        let (written, of_control, control_end) = (0, 0, 0);
        Self { end, unsent: Vec::new(), written, of_control, control_end, head_len: 2, open: None, has_closed: false }
    }

    /// Returns whether a CLOSE frame was queued or sent. No frame may follow it.
    pub(crate) fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// Returns the number of bytes that wait to be written.
    pub(crate) fn unsent(&self) -> usize {
        self.unsent.len() - self.written
    }

    /// Returns the memory in bytes that queued output takes.
    pub(crate) fn memory(&self) -> usize {
        self.unsent.capacity()
    }

    /// Queues a PONG with the payload of a received PING.
    pub(crate) fn pong(&mut self, payload: &[u8]) {
        self.put_control(Opcode::Pong, payload);
    }

    pub(crate) fn ping(&mut self) {
        self.put_control(Opcode::Ping, b"");
    }

    fn put_control(&mut self, opcode: Opcode, payload: &[u8]) {
        if self.of_control < CONTROL_WAITS_MAX {
            let before = self.unsent.len();
            self.put(opcode, payload);
            self.control_end = self.unsent.len();
            self.of_control += self.control_end - before;
        }
    }

    /// Queues a text message as a single frame.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.put(Opcode::Text, text);
    }

    /// Like [`text`](Self::text), but for a binary message.
    pub(crate) fn binary(&mut self, bytes: &[u8]) {
        self.put(Opcode::Binary, bytes);
    }

    /// Queues the lines that `write` appends, each as a text message without its line feed. A single line is not
    /// copied.
    pub(crate) fn lines(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.unsent.len();
        let begin = start + self.head_len;
        self.unsent.resize(begin, 0);
        write(&mut self.unsent);
        let lines = self.unsent.get(begin..).unwrap_or_default();
        let first = memchr::memchr(b'\n', lines).filter(|_| !self.has_closed);
        let (length, further) = match first {
            Some(length) => (length, lines.get(length + 1..).unwrap_or_default().to_vec()),
            None => {
                self.unsent.truncate(start);
                if start == 0 {
                    // Free the buffer, so that an idle connection keeps none.
                    self.unsent = Vec::new();
                }
                return;
            }
        };
        self.unsent.truncate(begin + length);
        let mask = self.mask();
        unmask(&mut self.unsent[begin..], mask.unwrap_or_default(), 0);
        let (head, head_len) = head(Opcode::Text, length, mask);
        self.unsent.splice(start..begin, head[..head_len].iter().copied());
        self.head_len = head_len;
        self.texts(&further);
    }

    /// Like [`lines`](Self::lines), but for lines in another buffer.
    pub(crate) fn texts(&mut self, mut lines: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', lines) {
            self.text(&lines[..end]);
            lines = &lines[end + 1..];
        }
    }

    /// Queues a CLOSE frame, unless one was queued before.
    pub(crate) fn close(&mut self, code: Option<CloseCode>, reason: &str) {
        let mut payload = Vec::new();
        if let Some(code) = code {
            payload.extend_from_slice(&code.0.to_be_bytes());
            payload.extend_from_slice(cut(reason).as_bytes());
        }
        self.put(Opcode::Close, &payload);
        self.has_closed = true;
    }

    fn put(&mut self, opcode: Opcode, payload: &[u8]) {
        if self.has_closed {
            return;
        }
        let mask = self.mask();
        let (head, length) = head(opcode, payload.len(), mask);
        self.unsent.extend_from_slice(&head[..length]);
        let from = self.unsent.len();
        self.unsent.extend_from_slice(payload);
        unmask(&mut self.unsent[from..], mask.unwrap_or_default(), 0);
    }

    /// Returns a new random mask if this end is a client.
    fn mask(&self) -> Option<[u8; 4]> {
        // A weak random generator suffices. Masks prevent untrusted scripts from choosing the bytes that proxies see,
        // but this program is trusted.
        (self.end == Role::Client).then(|| fastrand::u32(1..).to_ne_bytes())
    }

    /// Writes queued frames, unless a partially written data frame must be completed first.
    pub(crate) fn poll_unsent(
        &mut self,
        context: &mut Context<'_>,
        mut io: Pin<&mut impl AsyncWrite>,
    ) -> Poll<io::Result<()>> {
        if self.open.is_some() {
            return Poll::Ready(Ok(()));
        }
        while let Some(rest @ [_, ..]) = self.unsent.get(self.written..) {
            match io.as_mut().poll_write(context, rest)? {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(count) => self.written += count,
                Poll::Pending => {
                    self.remove_written();
                    return Poll::Pending;
                }
            }
        }
        // Free the buffer, so that an idle connection keeps none.
        (self.unsent, self.written, self.of_control, self.control_end) = (Vec::new(), 0, 0, 0);
        Poll::Ready(Ok(()))
    }

    /// Removes the written bytes if they are more than half of the buffer. Fewer bytes are moved than were written, so
    /// the total cost is proportional to the output.
    fn remove_written(&mut self) {
        if self.written >= self.control_end {
            self.of_control = 0;
        }
        if self.written > self.unsent.len() / 2 {
            self.unsent.drain(..self.written);
            self.control_end = self.control_end.saturating_sub(self.written);
            self.written = 0;
        }
    }

    /// Writes the start of `data` as one frame and returns the number of bytes accepted. Later calls complete a
    /// partially written frame.
    ///
    /// # Errors
    /// Returns errors of the transport, and `BrokenPipe` after CLOSE.
    pub(crate) fn poll_data(
        &mut self,
        context: &mut Context<'_>,
        mut io: Pin<&mut impl AsyncWrite>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_unsent(context, io.as_mut()))?;
        if self.has_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let length = data.iter().map(|slice| slice.len()).sum::<usize>().min(DATA_MAX);
        if length == 0 {
            return Poll::Ready(Ok(0));
        }
        if self.end == Role::Client {
            let count = self.mask_data(data, length);
            // Ignore a pending write, because a flush waits for the rest.
            let _ = self.poll_unsent(context, io)?;
            return Poll::Ready(Ok(count));
        }
        loop {
            let mut open = self.open.unwrap_or_else(|| {
                let (head, head_len) = head(Opcode::Binary, length, None);
                OpenFrame { head, head_len, head_written: 0, missing: length }
            });
            let rest = &open.head[open.head_written..open.head_len];
            let written = {
                let mut slices = [IoSlice::new(&[]); SLICES_MAX];
                let count = with_head(&mut slices, rest, data, open.missing);
                ready!(io.as_mut().poll_write_vectored(context, &slices[..count]))?
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = written.min(rest.len());
            open.head_written += of_head;
            open.missing -= written - of_head;
            self.open = Some(open).filter(|open| open.missing > 0);
            if written > of_head {
                return Poll::Ready(Ok(written - of_head));
            }
        }
    }

    /// Masks up to `length` bytes of the data and queues them as a frame. Returns their number.
    fn mask_data(&mut self, data: &[IoSlice<'_>], length: usize) -> usize {
        let mask = self.mask();
        let (head, head_len) = head(Opcode::Binary, length, mask);
        self.unsent.reserve(head_len + length);
        self.unsent.extend_from_slice(&head[..head_len]);
        let from = self.unsent.len();
        for slice in data {
            let room = length - (self.unsent.len() - from);
            self.unsent.extend_from_slice(slice.get(..room).unwrap_or(slice));
        }
        unmask(&mut self.unsent[from..], mask.unwrap_or_default(), 0);
        length
    }
}

/// Fills `slices` with the rest of a frame header and up to `room` bytes of data. Returns the number of slices.
fn with_head<'a>(
    slices: &mut [IoSlice<'a>; SLICES_MAX],
    head: &'a [u8],
    data: &'a [IoSlice<'_>],
    mut room: usize,
) -> usize {
    let head = Some(head).filter(|head| !head.is_empty());
    let mut count = 0;
    for (slice, target) in head.into_iter().chain(data.iter().map(|slice| &**slice)).zip(slices) {
        let is_head = count == 0 && head.is_some();
        let part = if is_head { slice } else { slice.get(..room).unwrap_or(slice) };
        if !is_head {
            room -= part.len();
        }
        *target = IoSlice::new(part);
        count += 1;
    }
    count
}

/// Truncates a close reason to the maximum length.
fn cut(reason: &str) -> &str {
    let end = (0..=REASON_MAX.min(reason.len())).rev().find(|at| reason.is_char_boundary(*at));
    &reason[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web_socket::frame::{Decoder, Event, Kind};
    use std::task::Waker;
    use std::time::Instant;

    /// A writer that accepts `width` bytes on every other write, and is pending otherwise.
    #[derive(Debug)]
    struct Narrow {
        width: usize,
        turn: usize,
        written: Vec<u8>,
    }

    impl AsyncWrite for Narrow {
        fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let slices = [IoSlice::new(bytes)];
            self.as_mut().poll_write_vectored(context, &slices)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.turn += 1;
            if self.turn.is_multiple_of(2) {
                return Poll::Pending;
            }
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).take(self.width).collect();
            self.written.extend_from_slice(&bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Decodes frames. Returns the payloads of all messages and the number of PONGs.
    fn read(end: Role, mut bytes: Vec<u8>) -> (Vec<u8>, usize) {
        let mut decoder = Decoder::new(end, u64::MAX, Instant::now());
        let (mut at, mut data, mut pongs) = (0, Vec::new(), 0);
        while let Some(event) =
            decoder.next(&mut bytes, &mut at, Instant::now).expect("decoder should accept the frames of the sender")
        {
            match event {
                Event::Data { kind, range, .. } => {
                    assert_eq!(kind, Kind::Binary);
                    data.extend_from_slice(&bytes[range]);
                }
                Event::Pong => pongs += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(!decoder.is_mid_message());
        (data, pongs)
    }

    #[test]
    fn data_written_in_pieces_stays_contiguous() {
        let data: Vec<u8> = (0..70_000_u32).map(|number| (number * 7) as u8).collect();
        for (end, peer) in [(Role::Server, Role::Client), (Role::Client, Role::Server)] {
            for width in [1, 2, 3, 5, 64, 1000, 65_536] {
                let mut io = Narrow { width, turn: 0, written: Vec::new() };
                let mut sending = FrameSender::new(end);
                let mut context = Context::from_waker(Waker::noop());
                let (mut sent, mut pongs) = (0, 0);
                while sent < data.len() {
                    // Pass up to 40 000 bytes in two slices, which may exceed the rest of the current frame, as if
                    // the queue had grown.
                    let (first, second) = data[sent..(sent + 40_000).min(data.len())].split_at(1);
                    let slices = [IoSlice::new(first), IoSlice::new(second)];
                    match sending.poll_data(&mut context, Pin::new(&mut io), &slices) {
                        Poll::Ready(count) => sent += count.expect("write to a memory buffer should succeed"),
                        Poll::Pending if pongs < 3 => {
                            sending.pong(b"payload");
                            pongs += 1;
                        }
                        Poll::Pending => {}
                    }
                }
                while sending.unsent() > 0 {
                    let _ = sending.poll_unsent(&mut context, Pin::new(&mut io));
                }
                let (read, answers) = read(peer, io.written);
                assert!(read == data, "{end:?} {width}");
                assert_eq!(answers, pongs, "{end:?} {width}");
            }
        }
    }

    #[test]
    fn long_write_is_split_into_frames() {
        let data = vec![7; 3 * DATA_MAX + 1];
        for (end, peer) in [(Role::Server, Role::Client), (Role::Client, Role::Server)] {
            let mut io = Narrow { width: usize::MAX, turn: 0, written: Vec::new() };
            let mut sending = FrameSender::new(end);
            let mut context = Context::from_waker(Waker::noop());
            let mut sent = 0;
            while sent < data.len() || sending.unsent() > 0 {
                if let Poll::Ready(count) =
                    sending.poll_data(&mut context, Pin::new(&mut io), &[IoSlice::new(&data[sent..])])
                {
                    sent += count.expect("write to a memory buffer should succeed");
                }
            }
            let mut decoder = Decoder::new(peer, u64::MAX, Instant::now());
            let (mut at, mut longest) = (0, 0);
            while let Some(event) = decoder
                .next(&mut io.written, &mut at, Instant::now)
                .expect("decoder should accept the frames of the sender")
            {
                if let Event::Data { range, .. } = event {
                    longest = longest.max(range.len());
                }
            }
            assert_eq!(longest, DATA_MAX, "{end:?}");
        }
    }

    #[test]
    fn each_line_becomes_one_text_frame() {
        for (end, peer) in [(Role::Server, Role::Client), (Role::Client, Role::Server)] {
            let mut sending = FrameSender::new(end);
            let mut texts = Vec::new();
            for (turn, length) in [0, 1, 125, 126, 3, 65_535, 65_536, 65_537, 126, 2, 70_000].into_iter().enumerate() {
                let line = |number: usize| vec![b'a' + number as u8; length];
                sending.lines(|out| (0..turn % 4).for_each(|number| out.extend([&line(number)[..], b"\n"].concat())));
                texts.extend((0..turn % 4).map(line));
                sending.texts(&[&line(9)[..], b"\n"].concat());
                texts.push(line(9));
            }
            let mut io = Narrow { width: usize::MAX, turn: 0, written: Vec::new() };
            assert!(sending.poll_unsent(&mut Context::from_waker(Waker::noop()), Pin::new(&mut io)).is_ready());
            let mut decoder = Decoder::new(peer, u64::MAX, Instant::now());
            let (mut at, mut read) = (0, Vec::new());
            while let Some(event) = decoder
                .next(&mut io.written, &mut at, Instant::now)
                .expect("decoder should accept the frames of the sender")
            {
                match event {
                    Event::Data { kind: Kind::Text, range, ends: true } => read.push(io.written[range].to_vec()),
                    other => panic!("{other:?}"),
                }
            }
            assert!(read == texts, "{end:?}");
        }
    }

    /// Regression test: while a client read more slowly than the server sent, written frames stayed in memory, and no
    /// PING was answered any more after 512 bytes of PONGs.
    #[test]
    fn saturated_output_frees_written_frames() {
        let mut io = Narrow { width: 1000, turn: 0, written: Vec::new() };
        let mut sending = FrameSender::new(Role::Server);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..1000 {
            while sending.unsent() < 10_000 {
                sending.binary(&[7; 500]);
            }
            sending.pong(b"payload");
            assert!(sending.poll_unsent(&mut context, Pin::new(&mut io)).is_pending());
        }
        assert!(sending.memory() < 64_000, "output of 10 kB takes {} bytes", sending.memory());
        while sending.poll_unsent(&mut context, Pin::new(&mut io)).is_pending() {}
        let (_, pongs) = read(Role::Client, io.written);
        assert!(pongs > 700, "{pongs} of 1000 PINGs were answered");
    }

    #[test]
    fn unwritten_lines_leave_no_buffer() {
        let mut sending = FrameSender::new(Role::Server);
        sending.lines(|_| {});
        assert_eq!((sending.unsent(), sending.unsent.capacity()), (0, 0));
        sending.close(None, "");
        let closed = sending.unsent();
        sending.lines(|out| out.extend_from_slice(b"late\n"));
        assert_eq!(sending.unsent(), closed);
    }

    #[test]
    fn nothing_follows_close_with_truncated_reason() {
        let mut sending = FrameSender::new(Role::Server);
        sending.close(Some(CloseCode::NORMAL), &"ü".repeat(100));
        sending.close(Some(CloseCode::NORMAL), "again");
        sending.pong(b"");
        assert_eq!((sending.unsent(), sending.unsent[1]), (2 + 2 + 122, 124));
        let mut io = Narrow { width: 1000, turn: 0, written: Vec::new() };
        let sent =
            sending.poll_data(&mut Context::from_waker(Waker::noop()), Pin::new(&mut io), &[IoSlice::new(b"more")]);
        assert!(matches!(sent, Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe));
    }
}
