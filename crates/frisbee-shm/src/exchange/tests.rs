use super::*;
use crate::memory::HEAD;
use crate::ring_socket;
use std::cell::RefCell;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// A link to the peer that calls a function instead of writing to a wake-up pipe.
struct TestLink<'a> {
    socket: UnixStream,
    on_bell: Box<dyn Fn() + 'a>,
}

impl PeerLink for TestLink<'_> {
    fn ring_bell(&self) -> io::Result<()> {
        (self.on_bell)();
        Ok(())
    }

    fn send_ring(&self, size: u32) -> io::Result<Memory> {
        ring_socket::send_ring(self.socket.as_fd(), size)
    }

    fn receive_ring(&self, ring_max: u32) -> io::Result<Option<Memory>> {
        ring_socket::receive_ring(self.socket.as_fd(), ring_max)
    }
}

/// Two ends of a connection with their links. When the reader wakes the writer, `on_bell` is called with the writer and
/// its link.
struct Ends<'a> {
    writer: Rc<RefCell<Exchange>>,
    reader: Exchange,
    to_reader: Rc<TestLink<'a>>,
    to_writer: TestLink<'a>,
}

impl<'a> Ends<'a> {
    fn new(ring_max: u32, on_bell: impl Fn(&mut Exchange, &TestLink<'a>) + 'a) -> Self {
        let (head, file) = Memory::create(HEAD).expect("shared memory should be created");
        let mapped = Memory::map(&file, HEAD).expect("shared memory should be mapped");
        let (here, there) = UnixStream::pair().expect("socket pair should be created");
        let writer = Rc::new(RefCell::new(Exchange::new(End::Client, head, ring_max)));
        let to_reader = Rc::new(TestLink { socket: here, on_bell: Box::new(|| {}) });
        let on_bell = Box::new({
            let (writer, link) = (writer.clone(), to_reader.clone());
            move || on_bell(&mut writer.borrow_mut(), &link)
        });
        let to_writer = TestLink { socket: there, on_bell };
        Self { writer, reader: Exchange::new(End::Server, mapped, ring_max), to_reader, to_writer }
    }

    fn write(&self, bytes: &[u8]) -> usize {
        self.writer
            .borrow_mut()
            .write(&*self.to_reader, &[IoSlice::new(bytes)])
            .expect("writer should see no protocol violation")
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        let mut space = vec![0; most];
        let mut into = ReadBuf::new(&mut space);
        self.reader.read(&self.to_writer, &mut into).expect("reader should see no protocol violation");
        into.filled().to_vec()
    }
}

/// Fills exactly one part of the first ring. Once that part is read, and still within the same read, the writer
/// continues in a larger ring with `more` bytes.
fn ring_changes_during_a_read(more: usize) {
    let (first, second) = (vec![1; 16 * 1024], vec![2; more]);
    let mut ends = Ends::new(1 << 20, |writer, link| {
        writer.write(link, &[IoSlice::new(&second)]).expect("writer should see no protocol violation");
    });
    assert_eq!((ends.write(&first), ends.write(&second)), (first.len(), 0), "rest should go to a larger ring");
    assert!(ends.writer.borrow_mut().may_sleep(WaitEvent::Room));
    assert_eq!(ends.writer.borrow().writer.size(), 64 * 1024);
    assert!(ends.read(1 << 20) == first, "bytes of the first ring should be read unchanged");
    assert!(ends.writer.borrow().writer.size() > 64 * 1024, "ring should have been replaced while it was read");
    assert!(ends.read(1 << 20) == second);
}

#[test]
fn mid_read_ring_change_returns_fresh_bytes() {
    ring_changes_during_a_read(60_000);
}

#[test]
fn mid_read_ring_change_is_no_violation() {
    ring_changes_during_a_read(200_000);
}

#[test]
fn small_reads_are_not_idle_bells() {
    let mut ends = Ends::new(1 << 20, |writer, _| {
        writer.handle_bell().expect("wake-up pipe should announce the read");
        assert!(writer.may_sleep(WaitEvent::Room), "writer should be able to sleep while its ring is not empty");
    });
    assert_eq!((ends.write(&[1; 50_000]), ends.write(&[2; 100_000])), (50_000, 0));
    assert!(ends.writer.borrow_mut().may_sleep(WaitEvent::Room));
    for _ in 0..499 {
        assert_eq!(ends.read(100), [1; 100]);
    }
}

#[test]
fn bells_for_reverted_reads_are_idle() {
    let mut ends = Ends::new(1 << 20, |_, _| {});
    assert_eq!((ends.write(&[1; 1000]), ends.read(10).len()), (1000, 10));
    let read = |position| ends.writer.borrow().head.word(End::Server, Word::Read).store(position, Ordering::Release);
    let failed = (0..2 * IDLE_BELLS_MAX).find_map(|number| {
        read(10 + number % 2 * 10);
        ends.writer.borrow_mut().handle_bell().err()
    });
    assert!(
        failed
            .expect("peer should exceed its limit of spurious wake-ups")
            .to_string()
            .contains("too many spurious wake-ups")
    );
}

#[test]
fn nothing_is_read_after_error() {
    let mut ends = Ends::new(1 << 20, |_, _| {});
    ends.write(&[1; 10]);
    let written =
        |position| ends.writer.borrow().head.word(End::Client, Word::Written).store(position, Ordering::Release);
    written(5000);
    let mut space = [0; 100];
    let mut into = ReadBuf::new(&mut space);
    ends.reader.read(&ends.to_writer, &mut into).expect_err("impossible ring position should be rejected");
    written(10);
    let error = ends.reader.read(&ends.to_writer, &mut into).expect_err("read after a protocol violation should fail");
    assert_eq!((error.kind(), into.filled().len()), (io::ErrorKind::InvalidData, 0));
    assert!(
        ends.reader.is_ready(WaitEvent::Data) && ends.reader.write(&ends.to_writer, &[IoSlice::new(&[1])]).is_err()
    );
}
