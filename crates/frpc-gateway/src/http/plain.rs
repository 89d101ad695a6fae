//! The short path: requests of HTTP/1.1 whose body has a known length and whose response is made as a whole, one read
//! and one write for all that have come together. Other requests go to `rest.rs`, with the connection.

use super::answer::{self, Answer};
use super::fields::{self, Known};
use super::head::{self, FIELDS_MAX, Framing, HTTP2, Head, Malformed};
use super::route::{Asked, Protocol, Route, probe, route};
use super::upgrade;
use crate::connect::{get, unary};
use crate::locks::Pass;
use crate::timed::{Alarm, Timed, now};
use crate::web_socket::Upgrade;
use crate::{Gateway, Http, json_rpc};
use bytes::{BufMut as _, Bytes, BytesMut};
use frisbee::RawTransport;
use frisbee_core::Pace;
use frpc::{ForeignContext, Metadata};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, IoSlice, Write as _};
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _, ReadBuf};

/// For how long a client may still send what is not read any more, so that the system does not take back the last
/// response. A connection of native clients has as long to close.
const LINGER: Duration = Duration::from_secs(1);

/// The bytes that are read at once, as native connections do.
const READ_MAX: usize = 64 * 1024;

/// When so many bytes of responses wait, they are written before the next request is looked at.
const OUTPUT_MAX: usize = 64 * 1024;

/// A body of at least so many bytes is not copied behind its head.
const APART_MIN: usize = 16 * 1024;

/// As much of a body is allocated in advance; then as much again as has come.
const BODY_BEGINS: usize = 64 * 1024;

thread_local! {
    /// The buffer into which all connections of a thread read.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_MAX].into_boxed_slice());
}

/// What the short path leaves to others.
#[derive(Debug)]
pub(crate) enum Left {
    Nothing,
    /// A connection of HTTP/1 that begins with these bytes.
    Http1(BytesMut),
    /// A connection of HTTP/2.
    Http2(BytesMut),
    /// A connection that becomes one of WebSocket, and what has come behind the head.
    Socket(Upgrade, Metadata, BytesMut),
}

/// What follows a request.
enum Step {
    Next,
    Close,
    Leave(Left),
}

/// The end of a wait for bytes.
enum Came {
    Bytes,
    End,
    /// The server stops.
    Stopping,
    /// The client took too long.
    Late,
}

/// What is waited for.
enum Wait {
    /// The next request, until then.
    Request(Instant),
    /// The rest of a head, until then.
    Head(Instant),
}

/// A connection on the short path.
pub(crate) struct Plain<'a> {
    gateway: &'a Gateway,
    http: &'a Http,
    context: &'a ForeignContext,
    transport: Timed<RawTransport>,
    alarm: Alarm,
    /// What has been read and not been looked at.
    input: BytesMut,
    /// Where no end of a head is in `input`.
    scanned: usize,
    /// The bytes that have been received.
    received: u64,
    /// Responses that have not been written.
    output: Vec<u8>,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(
        gateway: &'a Gateway,
        http: &'a Http,
        context: &'a ForeignContext,
        transport: RawTransport,
    ) -> Self {
        Self {
            gateway,
            http,
            context,
            transport: Timed::new(transport, context.config()),
            alarm: Alarm::default(),
            input: BytesMut::new(),
            scanned: 0,
            received: 0,
            output: Vec::new(),
        }
    }

    pub(crate) fn into_transport(self) -> Timed<RawTransport> {
        self.transport
    }

    /// Answers requests until the connection ends, or goes on elsewhere.
    pub(crate) async fn run(&mut self) -> io::Result<Left> {
        let context = self.context;
        let mut stopping = pin!(context.stopping());
        // The first head has to come in time even if its first byte came late.
        let mut begun = Some(now());
        loop {
            match head::end(&self.input, self.scanned) {
                Ok(Some(end)) => {
                    self.scanned = 0;
                    begun = None;
                    match self.request(end).await? {
                        Step::Next => {}
                        Step::Close => return self.close().await.map(|()| Left::Nothing),
                        Step::Leave(left) => {
                            self.flush(&[]).await?;
                            return Ok(left);
                        }
                    }
                    if self.output.len() >= OUTPUT_MAX {
                        self.flush(&[]).await?;
                    }
                    continue;
                }
                Ok(None) => self.scanned = self.input.len(),
                Err(malformed) => return self.refuse(malformed.status(), malformed.text()).await,
            }
            self.flush(&[]).await?;
            let wait = if self.input.is_empty() && begun.is_none() {
                // An idle connection holds no memory for what may come.
                (self.input, self.output) = (BytesMut::new(), Vec::new());
                Wait::Request(now() + self.gateway.idle_timeout)
            } else {
                Wait::Head(*begun.get_or_insert_with(now) + context.first_header_timeout())
            };
            let mut came = self.read(wait, stopping.as_mut()).await?;
            if matches!(came, Came::Late) && self.input.is_empty() {
                came = Came::End;
            }
            match came {
                Came::Bytes => {}
                Came::End | Came::Stopping => return self.close().await.map(|()| Left::Nothing),
                Came::Late => return self.refuse(408, "the head of the request took too long").await,
            }
        }
    }

    /// Waits for bytes, and adds them to the input.
    async fn read(&mut self, wait: Wait, mut stopping: Pin<&mut impl Future<Output = ()>>) -> io::Result<Came> {
        poll_fn(|task| {
            if let Poll::Ready(count) = self.poll_read(task)? {
                return Poll::Ready(Ok(if count == 0 { Came::End } else { Came::Bytes }));
            }
            match &wait {
                Wait::Request(due) => {
                    if stopping.as_mut().poll(task).is_ready() {
                        return Poll::Ready(Ok(Came::Stopping));
                    }
                    self.alarm.poll(task, *due).map(|()| Ok(Came::Late))
                }
                Wait::Head(due) => self.alarm.poll(task, *due).map(|()| Ok(Came::Late)),
            }
        })
        .await
    }

    /// Ready when a body comes too slowly.
    fn poll_pace(&mut self, task: &mut Context<'_>, pace: &mut Pace) -> Poll<()> {
        loop {
            pace.waiting(self.received, now());
            let Some(due) = pace.deadline() else { return Poll::Pending };
            ready!(self.alarm.poll(task, due));
            if pace.too_slow(self.received, now()) {
                return Poll::Ready(());
            }
        }
    }

    /// Reads once into the buffer of the thread.
    fn poll_read(&mut self, task: &mut Context<'_>) -> Poll<io::Result<usize>> {
        BUFFER.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(buffer);
            ready!(Pin::new(&mut self.transport).poll_read(task, &mut buffer))?;
            let read = buffer.filled();
            self.input.extend_from_slice(read);
            self.received = self.received.saturating_add(read.len() as u64);
            Poll::Ready(Ok(read.len()))
        })
    }

    /// Answers the request whose head is the first `end` bytes of the input.
    async fn request(&mut self, end: usize) -> io::Result<Step> {
        let bytes = self.input.split_to(end);
        if &bytes[..] == HTTP2 {
            return Ok(Step::Leave(Left::Http2(self.unread(bytes))));
        }
        let mut places = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let head = match Head::parse(&bytes, &mut places) {
            Ok(head) => head,
            Err(malformed) => return self.malformed(malformed),
        };
        let known = Known::of(head.fields.iter().map(|field| (field.name, field.value)));
        if upgrade::is_wanted(self.gateway, &head, &known) {
            let upgrade = match self.http.locks.admit_socket(&known, self.context) {
                Ok(()) => upgrade::parse(self.gateway, &head, &known),
                Err(answer) => Err(answer),
            };
            return match upgrade {
                Ok((upgrade, metadata)) => {
                    Ok(Step::Leave(Left::Socket(upgrade, metadata, std::mem::take(&mut self.input))))
                }
                Err(answer) => self.write(&answer, Pass::default(), true).await.map(|()| Step::Close),
            };
        }
        let Some((length, is_last)) = plain(&head, &known) else {
            return Ok(Step::Leave(Left::Http1(self.unread(bytes))));
        };
        let (path, query) = match head.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (head.target, None),
        };
        let (pass, route) = match probe(self.http, self.context, head.method, path) {
            Some(answer) => (Pass::default(), Route::Answer(answer)),
            None => match self.http.locks.admit(&known, self.context.local_addr()) {
                Ok(pass) => {
                    let asked = Asked { method: head.method, path, known: &known, is_http2: false };
                    (pass, route(self.gateway, self.http, self.context, asked))
                }
                Err(answer) => (Pass::default(), Route::Answer(answer)),
            },
        };
        if let Route::Call(_, Protocol::Stream(_) | Protocol::Grpc(_) | Protocol::Web(_) | Protocol::WebText(_))
        | Route::NoMethod(_) = route
        {
            return Ok(Step::Leave(Left::Http1(self.unread(bytes))));
        }
        let limit = u64::from(self.context.config().body_limit());
        if length > limit {
            self.write(&Answer::too_long(limit), pass, true).await?;
            return Ok(Step::Close);
        }
        let body = match self.body(usize::try_from(length).unwrap_or(usize::MAX)).await? {
            Ok(body) => body,
            Err(step) => return Ok(step),
        };
        let metadata = || fields::metadata(head.fields.iter().map(|field| (field.name, field.value)));
        let answer = match route {
            Route::Answer(answer) => answer,
            Route::JsonRpc => {
                let (gateway, context) = (self.gateway, self.context);
                let call = json_rpc::answer(gateway, context, metadata(), body);
                match self.attend(pin!(call)).await? {
                    Some(Some(reply)) => Answer::new(200, answer::JSON, reply),
                    Some(None) => Answer::empty(204),
                    None => return Ok(Step::Leave(Left::Nothing)),
                }
            }
            Route::Get(method) => match get::Query::parse(query.unwrap_or_default(), limit) {
                Ok(query) => {
                    let Ok(timeout) = known.connect_timeout() else {
                        self.write(&unary::wrong_timeout(), pass, is_last).await?;
                        return Ok(if is_last { Step::Close } else { Step::Next });
                    };
                    let call = unary::call(&method, query.format, metadata(), timeout, query.message);
                    match self.attend(pin!(call)).await? {
                        Some(answer) => answer,
                        None => return Ok(Step::Leave(Left::Nothing)),
                    }
                }
                Err(answer) => answer,
            },
            Route::Call(method, protocol) => match known.connect_timeout() {
                Ok(timeout) => {
                    let call = unary::call(&method, protocol.format(), metadata(), timeout, body);
                    match self.attend(pin!(call)).await? {
                        Some(answer) => answer,
                        None => return Ok(Step::Leave(Left::Nothing)),
                    }
                }
                Err(()) => unary::wrong_timeout(),
            },
            Route::NoMethod(_) => Answer::not_found(path),
        };
        // Requests that have come already are still answered.
        let is_last = is_last || self.input.is_empty() && self.context.is_stopping();
        self.write(&answer, pass, is_last).await?;
        Ok(if is_last { Step::Close } else { Step::Next })
    }

    /// The input with a head put back in front.
    fn unread(&mut self, mut head: BytesMut) -> BytesMut {
        head.unsplit(std::mem::take(&mut self.input));
        head
    }

    fn malformed(&mut self, malformed: Malformed) -> io::Result<Step> {
        let answer = Answer::refusal(malformed.status(), malformed.text());
        encode(&mut self.output, &answer, Pass::default(), true, true);
        Ok(Step::Close)
    }

    /// The body of a request, or the step that follows if it does not come.
    async fn body(&mut self, length: usize) -> io::Result<Result<Bytes, Step>> {
        if self.input.len() >= length {
            return Ok(Ok(self.input.split_to(length).freeze()));
        }
        // Until then the client may wait for responses.
        self.flush(&[]).await?;
        let config = self.context.config();
        let mut pace = Pace::new(config.least_rate_window, config.least_rate);
        let mut body = BytesMut::new();
        body.reserve(length.min(BODY_BEGINS.max(2 * self.input.len())));
        body.extend_from_slice(&self.input);
        self.input = BytesMut::new();
        let mut hold = self.context.hold(body.capacity());
        while body.len() < length {
            if body.capacity() == body.len() {
                let more = body.len().min(length - body.len());
                if !self.context.connection().has_room(more) {
                    self.context.connection().count_shed();
                    let text = "the server is short of memory; try again later";
                    let answer = Answer::failure(429, frpc::Code::ResourceExhausted, text);
                    self.write(&answer, Pass::default(), true).await?;
                    return Ok(Err(Step::Close));
                }
                body.reserve(more);
                drop(hold);
                hold = self.context.hold(body.capacity());
            }
            let room = (body.capacity() - body.len()).min(length - body.len());
            let read = poll_fn(|task| {
                let mut part = (&mut body).limit(room);
                let polled = pin!(self.transport.read_buf(&mut part)).poll(task);
                match polled {
                    Poll::Ready(read) => Poll::Ready(read.map(Some)),
                    Poll::Pending => self.poll_pace(task, &mut pace).map(|()| Ok(None)),
                }
            });
            match read.await? {
                Some(0) => return Ok(Err(Step::Leave(Left::Nothing))),
                Some(read) => self.received = self.received.saturating_add(read as u64),
                None => {
                    let answer = Answer::refusal(408, "the body of the request came too slowly");
                    self.write(&answer, Pass::default(), true).await?;
                    return Ok(Err(Step::Close));
                }
            }
        }
        // The call is charged for it from now on.
        drop(hold);
        Ok(Ok(body.freeze()))
    }

    /// The result of a call, `None` if the client has gone. Responses that wait are written before the call is waited
    /// for.
    async fn attend<T>(&mut self, mut call: Pin<&mut impl Future<Output = T>>) -> io::Result<Option<T>> {
        let first = poll_fn(|task| Poll::Ready(call.as_mut().poll(task))).await;
        if let Poll::Ready(done) = first {
            return Ok(Some(done));
        }
        self.flush(&[]).await?;
        poll_fn(|task| {
            if let Poll::Ready(done) = call.as_mut().poll(task) {
                return Poll::Ready(Ok(Some(done)));
            }
            while self.input.len() < READ_MAX {
                if ready!(self.poll_read(task))? == 0 {
                    return Poll::Ready(Ok(None));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Adds a response to the output, or writes it if it is long.
    async fn write(&mut self, answer: &Answer, pass: Pass<'_>, is_last: bool) -> io::Result<()> {
        let is_apart = answer.body.len() >= APART_MIN;
        encode(&mut self.output, answer, pass, is_last, !is_apart);
        if is_apart { self.flush(&answer.body).await } else { Ok(()) }
    }

    /// Writes the output, and `body` behind it.
    async fn flush(&mut self, body: &[u8]) -> io::Result<()> {
        let total = self.output.len() + body.len();
        if total == 0 {
            return Ok(());
        }
        let mut written = 0;
        let mut hold = None;
        let (output, transport, context) = (&self.output, &mut self.transport, self.context);
        poll_fn(|task| {
            while written < total {
                let first = output.get(written..).unwrap_or_default();
                let second = body.get(written.saturating_sub(output.len())..).unwrap_or_default();
                let polled = if second.is_empty() {
                    Pin::new(&mut *transport).poll_write(task, first)
                } else if first.is_empty() {
                    Pin::new(&mut *transport).poll_write(task, second)
                } else {
                    let slices = [IoSlice::new(first), IoSlice::new(second)];
                    Pin::new(&mut *transport).poll_write_vectored(task, &slices)
                };
                match polled? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(count) => written += count,
                    Poll::Pending => {
                        hold.get_or_insert_with(|| context.hold(total));
                        return Poll::Pending;
                    }
                }
            }
            Pin::new(&mut *transport).poll_flush(task)
        })
        .await?;
        self.output.clear();
        Ok(())
    }

    /// Answers a request that cannot be read, and ends the connection.
    async fn refuse(&mut self, status: u16, text: &str) -> io::Result<Left> {
        self.write(&Answer::refusal(status, text), Pass::default(), true).await?;
        self.close().await?;
        Ok(Left::Nothing)
    }

    /// Ends the connection behind the last response.
    async fn close(&mut self) -> io::Result<()> {
        self.flush(&[]).await?;
        self.transport.shutdown().await?;
        // A socket that is closed with bytes unread takes back what the client has not received.
        let due = now() + LINGER;
        poll_fn(|task| {
            loop {
                self.input.clear();
                match self.poll_read(task) {
                    Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
                    Poll::Ready(Ok(_)) if now() < due => {}
                    Poll::Ready(Ok(_)) => return Poll::Ready(()),
                    Poll::Pending => return self.alarm.poll(task, due),
                }
            }
        })
        .await;
        Ok(())
    }
}

/// The length of the body of a request that belongs to the short path, and whether the client wants no further one.
fn plain(head: &Head<'_, '_>, known: &Known<'_>) -> Option<(u64, bool)> {
    let Framing::Length(length) = head.framing else { return None };
    let is_usual = !head.is_old
        && head.method != "HEAD"
        && head.target.starts_with('/')
        && known.expect.is_none()
        && known.upgrade.is_none()
        && known.content_encoding.is_none_or(|encoding| encoding.eq_ignore_ascii_case(b"identity"));
    let is_last = match known.connection {
        None => false,
        Some(connection) if connection.eq_ignore_ascii_case(b"keep-alive") => false,
        Some(connection) if connection.eq_ignore_ascii_case(b"close") => true,
        Some(_) => return None,
    };
    is_usual.then_some((length, is_last))
}

/// Writes the last response of a connection that is not on the short path.
pub(crate) fn encode_last(out: &mut Vec<u8>, answer: &Answer) {
    encode(out, answer, Pass::default(), true, true);
}

/// Writes a response as HTTP/1.1 has it.
fn encode(out: &mut Vec<u8>, answer: &Answer, pass: Pass<'_>, is_last: bool, with_body: bool) {
    if answer.status == 200 {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    } else {
        // Writing to memory does not fail.
        let _ = write!(out, "HTTP/1.1 {} {}\r\n", answer.status, answer::reason(answer.status));
    }
    let mut field = |name: &str, value: &[u8]| {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            out.extend_from_slice(part);
        }
    };
    if let Some(content_type) = answer.content_type {
        field("content-type", content_type.as_bytes());
    }
    if answer.status != 204 {
        let mut digits = [0; 20];
        field("content-length", decimal(answer.body.len(), &mut digits));
    }
    if is_last {
        field("connection", b"close");
    }
    for (name, value) in pass.fields() {
        field(name, value.as_bytes());
    }
    for (name, value) in &answer.fields {
        field(name, value.as_bytes());
    }
    field("date", crate::http::date::now().as_bytes());
    out.extend_from_slice(b"\r\n");
    if with_body {
        out.extend_from_slice(&answer.body);
    }
}

/// The digits of a number.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut begin = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        begin -= 1;
        if number == 0 {
            break;
        }
    }
    digits.get(begin..).unwrap_or_default()
}
