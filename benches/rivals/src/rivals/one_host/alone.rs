//! Texts echoed between two dedicated threads, one at a time: a lower bound for the cost of a call within a host.
//! Implemented by a bare ring, which trusts its peer and never sleeps, and by frisbee's blocking streams.

use super::{SPIN, keep, name, path};
use crate::BoxError;
use crate::background::Bound;
use crate::contest::{Contestant, Load};
use crate::rivals::Setup;
use crate::text::Text;
use frpc::shm::{BlockingStream, Connector, Listener};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Sends and receives texts, for one thread.
trait Line: Send + 'static {
    fn put(&mut self, text: &[u8]) -> Result<(), BoxError>;

    /// Receives a text into a buffer.
    fn take(&mut self, text: &mut Vec<u8>) -> Result<(), BoxError>;
}

/// Echoes all input.
fn echo(mut line: impl Line) -> Result<(), BoxError> {
    let mut text = Vec::new();
    loop {
        line.take(&mut text)?;
        line.put(&text)?;
    }
}

/// Sends texts sequentially, and checks the echoes.
async fn drive(mut line: impl Line, load: Load) -> Result<u64, BoxError> {
    let driven = tokio::task::spawn_blocking(move || {
        let (mut text, mut came) = (Text::owned(load.number, load.length), Vec::new());
        let mut tally = load.meter.tally(load.number);
        while tally.runs() {
            let begun = tally.begin();
            text.advance();
            line.put(text.as_bytes()).and_then(|()| line.take(&mut came)).map_err(|error| error.to_string())?;
            if came != text.as_bytes() {
                return Err("an echo differs from its text".to_owned());
            }
            tally.end(begun);
        }
        Ok(tally.counted())
    });
    Ok(driven.await??)
}

/// Texts through a blocking stream, with spinning ends.
#[derive(Debug)]
pub struct Blocking;

impl Contestant for Blocking {
    const NAME: &'static str = "raw-shm-threads";
    type Connection = BlockingStream;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let (_kept, address) = keep()?;
        let listener = Listener::builder().spin(SPIN).bind(path(address))?;
        bound.at(address);
        let stream = listener.accept().await?.into_blocking().await?;
        let served = tokio::task::spawn_blocking(move || echo(stream).map_err(|error| error.to_string()));
        // It ends with the client, which is not an error.
        let _ = served.await?;
        std::future::pending().await
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<BlockingStream, BoxError> {
        Ok(Connector::new().spin(SPIN).connect(path(address)).await?.into_blocking().await?)
    }

    async fn drive(stream: BlockingStream, load: Load) -> Result<u64, BoxError> {
        drive(stream, load).await
    }
}

impl Line for BlockingStream {
    fn put(&mut self, text: &[u8]) -> Result<(), BoxError> {
        self.write_all(&text.len().to_le_bytes())?;
        Ok(self.write_all(text)?)
    }

    fn take(&mut self, text: &mut Vec<u8>) -> Result<(), BoxError> {
        let mut length = [0; size_of::<usize>()];
        self.read_exact(&mut length)?;
        text.resize(usize::from_le_bytes(length), 0);
        Ok(self.read_exact(text)?)
    }
}

/// Texts through a bare ring in each direction.
#[derive(Debug)]
pub struct Bare;

impl Contestant for Bare {
    const NAME: &'static str = "bare-ring";
    type Connection = Ends;

    async fn serve(_setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let (_kept, address) = keep()?;
        let file = File::create_new(memory(address))?;
        file.set_len((2 * RING * size_of::<u64>()) as u64)?;
        let [there, back] = rings(&memory(address))?;
        bound.at(address);
        echo(Ends { reads: there, writes: back })
    }

    async fn connect(address: SocketAddr, _setup: Setup, _load: Load) -> Result<Ends, BoxError> {
        let [there, back] = rings(&memory(address))?;
        std::fs::remove_file(memory(address))?;
        Ok(Ends { reads: back, writes: there })
    }

    async fn drive(ends: Ends, load: Load) -> Result<u64, BoxError> {
        drive(ends, load).await
    }
}

/// The two rings of one end.
#[derive(Debug)]
pub struct Ends {
    reads: Ring,
    writes: Ring,
}

impl Line for Ends {
    fn put(&mut self, text: &[u8]) -> Result<(), BoxError> {
        let words = text.chunks(size_of::<u64>()).map(|bytes| {
            let mut word = [0; size_of::<u64>()];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        self.writes.put(std::iter::once(text.len() as u64).chain(words));
        Ok(())
    }

    fn take(&mut self, text: &mut Vec<u8>) -> Result<(), BoxError> {
        let length = self.reads.take() as usize;
        text.clear();
        for _ in 0..length.div_ceil(size_of::<u64>()) {
            text.extend_from_slice(&self.reads.take().to_le_bytes());
        }
        self.reads.taken();
        text.truncate(length);
        Ok(())
    }
}

/// One end of a ring of words between two processes. A text fits into it.
#[derive(Debug)]
struct Ring {
    /// The number of words written, the number of words read, and the words.
    put: &'static AtomicU64,
    taken: &'static AtomicU64,
    words: &'static [AtomicU64],
    /// The position of this end, and how far it may proceed without a check.
    at: u64,
    until: u64,
}

/// Size of a ring with its two counters, which are far enough apart not to share a cache line.
const RING: usize = 2 * APART + WORDS;
const APART: usize = 128 / size_of::<u64>();
const WORDS: usize = 64 * 1024 / size_of::<u64>();

impl Ring {
    fn put(&mut self, words: impl Iterator<Item = u64>) {
        for word in words {
            while self.at == self.until {
                self.until = self.taken.load(Ordering::Acquire) + WORDS as u64;
                std::hint::spin_loop();
            }
            self.words[self.at as usize % WORDS].store(word, Ordering::Relaxed);
            self.at += 1;
        }
        self.put.store(self.at, Ordering::Release);
    }

    fn take(&mut self) -> u64 {
        while self.at == self.until {
            self.until = self.put.load(Ordering::Acquire);
            std::hint::spin_loop();
        }
        let word = self.words[self.at as usize % WORDS].load(Ordering::Relaxed);
        self.at += 1;
        word
    }

    /// Releases the space of read items.
    fn taken(&self) {
        self.taken.store(self.at, Ordering::Release);
    }
}

/// Returns the path of a server's memory.
fn memory(address: SocketAddr) -> PathBuf {
    Path::new("/dev/shm").join(name(address))
}

/// Maps the two rings in a file. They stay mapped for the life of the process.
#[allow(unsafe_code)] // Nothing that the standard library has shares memory.
fn rings(path: &Path) -> Result<[Ring; 2], BoxError> {
    let file = File::options().read(true).write(true).open(path)?;
    let (words, flags) = (2 * RING, MapFlags::SHARED);
    // SAFETY: The system chooses the address of the mapping.
    let begin = unsafe {
        mmap(std::ptr::null_mut(), words * size_of::<u64>(), ProtFlags::READ | ProtFlags::WRITE, flags, &file, 0)
    }?;
    // SAFETY: The mapping has this length, is page-aligned and never unmapped, and both processes access its words only
    // as atomics.
    let words = unsafe { std::slice::from_raw_parts(begin.cast::<AtomicU64>(), words) };
    let (there, back) = words.split_at(RING);
    Ok([there, back].map(|of| {
        let (counts, words) = of.split_at(2 * APART);
        Ring { put: &counts[0], taken: &counts[APART], words, at: 0, until: 0 }
    }))
}
