//! Models of a writer that changes its ring, or is killed, during reads.

use super::*;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Model of the wake-up pipes and the socket between two ends.
struct Link(Mutex<Line>, Condvar);

#[derive(Default)]
struct Line {
    /// Number of pending wake-ups of the writer and of the reader.
    bells: [u32; 2],
    rings: Vec<Memory>,
    is_closed: bool,
}

/// One end of a link.
struct Side {
    link: Arc<Link>,
    end: End,
}

impl PeerLink for Side {
    fn ring_bell(&self) -> io::Result<()> {
        self.change(|line| line.bells[self.end.other() as usize] += 1);
        Ok(())
    }

    fn send_ring(&self, size: u32) -> io::Result<Memory> {
        let ring = Memory::create(size);
        self.change(|line| line.rings.push(ring.clone()));
        Ok(ring)
    }

    fn receive_ring(&self, _: u32) -> io::Result<Option<Memory>> {
        Ok(self.change(|line| (!line.rings.is_empty()).then(|| line.rings.remove(0))))
    }
}

impl Side {
    fn change<T>(&self, change: impl FnOnce(&mut Line) -> T) -> T {
        let result = change(&mut self.link.0.lock().expect("lock should not be poisoned"));
        self.link.1.notify_all();
        result
    }

    /// Waits for an event like a stream does, by sleeping until the peer sends a wake-up.
    fn wait(&self, exchange: &mut Exchange, wait: WaitEvent) {
        if !exchange.may_sleep(wait) {
            return;
        }
        let mut line = self.link.0.lock().expect("lock should not be poisoned");
        while line.bells[self.end as usize] == 0 && !line.is_closed {
            line = self.link.1.wait(line).expect("lock should not be poisoned");
        }
        let (has_rung, is_closed) = (std::mem::take(&mut line.bells[self.end as usize]) > 0, line.is_closed);
        drop(line);
        if has_rung {
            exchange.handle_bell().expect("peer should set valid ring positions");
        } else if is_closed {
            exchange.handle_socket(self, Ok(0)).expect("peer should have closed its end");
        }
    }
}

/// Point at which the writing process is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CrashPoint {
    Never,
    /// The writer is killed after writing this number of messages.
    After(usize),
    /// The writer is killed after sending a new ring buffer, before announcing it.
    WithRing,
    /// The writer is killed after announcing a new ring buffer, before writing to it.
    InRing,
}

/// One thread writes messages of these lengths while another reads at most `most` bytes at a time. A thread is
/// preempted at most `preemptions` times, because unbounded models take more than ten minutes.
fn model(lengths: &'static [usize], most: usize, death: CrashPoint, preemptions: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.map_or(preemptions, |bound| bound.min(preemptions)));
    builder.check(move || {
        let head = Memory::create(2);
        let link = Arc::new(Link(Mutex::default(), Condvar::new()));
        let side = |end| Side { link: link.clone(), end };
        let (writing, reading) = (side(End::Client), side(End::Server));
        let (mut writer, mut reader) =
            (Exchange::new(End::Client, head.clone(), 4), Exchange::new(End::Server, head, 4));
        let writes = thread::spawn(move || {
            let mut next = 0_u8;
            for (number, length) in lengths.iter().enumerate() {
                if death == CrashPoint::After(number) {
                    break;
                }
                let message: Vec<u8> = (0..*length).map(|at| next + 1 + at as u8).collect();
                let mut rest = &message[..];
                while !rest.is_empty() {
                    let count =
                        writer.write(&writing, &[IoSlice::new(rest)]).expect("writer should see no protocol violation");
                    rest = &rest[count..];
                    if count == 0 {
                        writing.wait(&mut writer, WaitEvent::Room);
                    }
                }
                next += *length as u8;
            }
            if matches!(death, CrashPoint::WithRing | CrashPoint::InRing) {
                while writer.writer.used(&writer.head) != Ok(0) {
                    thread::yield_now();
                }
                let ring = writing.send_ring(4).expect("ring should be created");
                if death == CrashPoint::InRing {
                    writer.writer.take(&writer.head, Some(ring));
                }
            }
            if death == CrashPoint::Never {
                writer.close(&writing).expect("peer should accept the shutdown");
            } else {
                writing.change(|line| line.is_closed = true);
            }
            next
        });
        let mut received = Vec::new();
        loop {
            let is_over = reader.is_over();
            let mut space = [0; 8];
            let mut into = ReadBuf::new(&mut space[..most]);
            let has_read = reader.read(&reading, &mut into).expect("reader should see no protocol violation");
            received.extend_from_slice(into.filled());
            if !has_read {
                if is_over {
                    break;
                }
                reading.wait(&mut reader, WaitEvent::Data);
            }
        }
        let written = writes.join().expect("writer thread should not panic");
        assert!(received.iter().copied().eq(1..=written), "{received:?} of {written}");
    });
}

#[test]
fn bytes_survive_ring_change() {
    model(&[1, 2], 8, CrashPoint::Never, 3);
}

#[test]
fn bytes_survive_two_ring_changes() {
    model(&[1, 2, 4], 8, CrashPoint::Never, 1);
}

#[test]
fn short_reads_survive_ring_change() {
    model(&[2, 3], 1, CrashPoint::Never, 1);
}

#[test]
fn published_bytes_survive_writer_crash() {
    for death in [CrashPoint::After(1), CrashPoint::After(2), CrashPoint::WithRing, CrashPoint::InRing] {
        model(&[1, 2], 8, death, 2);
    }
}
