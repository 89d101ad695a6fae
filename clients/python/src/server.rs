//! [`Server`]: Python functions as services, called natively and through the gateway.

use crate::batch::Batch;
use crate::client::duration;
use crate::drive::{self, RuntimeGuard, Waiter};
use crate::encode::refused;
use crate::fork;
use crate::handler::{
    AsyncGenerated, Call, ContextParameter, Function, Generated, announce, run_elsewhere, run_in_loop,
};
use crate::inbox::Inbox;
use crate::payload::{Payload, json_format, protobuf_format};
use crate::reply::Reply;
use crate::schema::{Api, Callable, Schema};
use crate::status::failed;
use crate::topics::Topics;
use frpc::codegen::{Layout, Method, Methods, MethodsBuilder, Schema as Embedded, Service, ServiceHandle};
use frpc::pubsub::{Broker, History, OPERATIONS, check_pattern};
use frpc::tls::{Authorities, Identity, ServerTls};
use frpc::{Request, Response, ResponseStream, ServerBuilder, Status, Streaming, Workers};
use frpc_dynamic::layout::json_names;
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use frpc_reflection::{Health, Reflection};
use parking_lot::Mutex;
use prost_reflect::MethodDescriptor;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::FileDescriptorSet;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot, watch};

/// Maximum time for which a server that stops waits for the threads of its handlers.
const STOP: Duration = Duration::from_secs(2);

/// A server whose methods are Python functions.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Server {
    runtime: Mutex<Option<RuntimeGuard>>,
    address: String,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<Ended>,
    /// Broker of the server's topics, if it has any.
    broker: Option<Broker>,
    /// Maximum length of message bodies in bytes, or `None` for the default.
    body_max: Option<u32>,
    pool: Arc<Semaphore>,
    made: fork::Generation,
}

/// Settings of a server, as passed by the Python class.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    shows_errors: bool,
    threads: usize,
    workers: usize,
    protocols: Vec<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
    tls: Option<Tls>,
    has_topics: bool,
    /// Topic patterns, each with the number of messages that the broker keeps per topic and their maximum age in
    /// seconds.
    history: Vec<(String, usize, Option<f64>)>,
    body_max: Option<u32>,
    memory_max: Option<usize>,
    /// Maximum duration of a graceful shutdown in seconds.
    shutdown_timeout: f64,
}

/// The Python functions that serve the methods of a service.
pub(crate) struct Functions {
    documents: &'static Documents,
    served: Vec<Served>,
}

impl Functions {
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.served.iter().map(|served| &served.function)
    }
}

/// Documentation of a service's methods. Leaked once per schema, because methods require static references.
struct Documents {
    layout: &'static Layout,
    files: &'static [u8],
    schema: Embedded,
    /// JSON Schemas of the methods' messages, including nested ones, by full name.
    messages: &'static [(&'static str, &'static str)],
    methods: Vec<MethodDocuments>,
}

struct MethodDocuments {
    method: &'static Method,
    /// Full names of the request and the response.
    messages: [&'static str; 2],
    fields: &'static [&'static str],
    comment: &'static str,
}

impl Documents {
    fn of(schema: &Schema, layout: &'static Layout) -> &'static Self {
        static KNOWN: Mutex<Vec<&'static Documents>> = Mutex::new(Vec::new());
        // Hold the lock during construction, so that concurrent callers do not leak the documents twice.
        let mut known = KNOWN.lock();
        let is_it = |known: &&'static Self| std::ptr::eq(known.layout, layout) && known.files == schema.files;
        if let Some(found) = known.iter().copied().find(is_it) {
            return found;
        }
        let document = |callable: &Callable| {
            let names = json_names(&callable.descriptor.input()).into_iter().map(|name| &*name.leak());
            let messages = [callable.descriptor.input(), callable.descriptor.output()];
            MethodDocuments {
                method: callable.method,
                messages: messages.map(|message| &*message.full_name().to_owned().leak()),
                fields: names.collect::<Vec<_>>().leak(),
                comment: comment(&callable.descriptor).leak(),
            }
        };
        let served = || schema.methods.iter().filter(|callable| std::ptr::eq(callable.layout, layout));
        let (methods, files) = (served().map(document).collect(), &*schema.files.clone().leak());
        let messages = served().flat_map(|callable| [callable.descriptor.input(), callable.descriptor.output()]);
        let messages = messages.map(|message| format!(".{}", message.full_name()));
        let fds = FileDescriptorSet::decode(files).unwrap_or_default();
        let messages = frpc_build::json_schemas(fds, messages).into_iter();
        let messages: Vec<_> = messages.map(|(name, text)| (&*name.leak(), &*text.leak())).collect();
        let schema = Embedded::new(files);
        let made = &*Box::leak(Box::new(Self { layout, files, schema, messages: messages.leak(), methods }));
        known.push(made);
        made
    }
}

/// Returns the comment on a method in the schema.
fn comment(method: &MethodDescriptor) -> String {
    let file = method.parent_file();
    let info = file.file_descriptor_proto().source_code_info.iter().flat_map(|info| &info.location);
    let location = info.into_iter().find(|location| location.path == method.path());
    let comment = location.map(|location| location.leading_comments().to_owned()).unwrap_or_default();
    let lines: Vec<&str> = comment.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// A Python function with the documentation of the method that it serves.
struct Served {
    function: Arc<Function>,
    mode: Mode,
    documents: &'static MethodDocuments,
}

/// Where and how a Python function is called.
#[derive(Clone)]
enum Mode {
    /// The function is called on the thread that drives the connection.
    Here,
    /// The function is called on a pool thread, because it may block.
    Pool,
    /// The function is a coroutine, which runs in an event loop.
    Loop(crate::inbox::Sender, Arc<Py<PyAny>>),
    /// The function is a generator, which produces one message at a time on the thread that drives the connection.
    Generator,
    /// The function is a generator, which runs on a pool thread.
    PoolGenerator,
    /// The function is an asynchronous generator, which runs in an event loop.
    AsyncGenerator(crate::inbox::Sender, Arc<Py<PyAny>>),
    Batch(Arc<Batch>),
    /// The function runs in a worker process.
    Process,
}

/// A function as described by Python: the schema, the index of its method, the function, its mode, the parameter for
/// the context, and the maximum size and delay of a batch.
pub(crate) type Described = (Py<Api>, usize, Py<PyAny>, String, Option<ContextParameter>, Option<(usize, f64)>);

/// Creates a broker that keeps messages of the given topics.
fn broker(histories: Vec<(String, usize, Option<f64>)>) -> PyResult<Broker> {
    let mut builder = Broker::builder();
    for (pattern, count, seconds) in histories {
        check_pattern(pattern.as_bytes()).map_err(|error| PyValueError::new_err(format!("{pattern}: {error}")))?;
        if !(1..=65_536).contains(&count) {
            return Err(PyValueError::new_err(format!("history of {count} messages; it must have 1 to 65536")));
        }
        let mut history = History::last(count);
        if let Some(seconds) = seconds {
            history = history.for_time(duration("history", seconds)?);
        }
        builder = builder.history(&pattern, history);
    }
    Ok(builder.build())
}

/// Certificate chain and private key of the server, and the certificates of client authorities, all as PEM.
type Tls = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

#[pymethods]
impl Server {
    /// Binds an address and starts serving in the background.
    #[new]
    #[pyo3(signature = (address, functions, report, settings, event_loop = None))]
    fn new(
        py: Python<'_>,
        address: String,
        functions: Vec<Described>,
        report: &Bound<'_, PyAny>,
        mut settings: Settings,
        event_loop: Option<(Py<Inbox>, Py<PyAny>)>,
    ) -> PyResult<Self> {
        let threads = settings.threads;
        let runtime = RuntimeGuard::with_threads("frisbee-rpc-server", 2, threads)?;
        let mut builder = frpc::Server::builder().add_service(Reflection::new()).add_service(Health::new());
        let pool = Arc::new(Semaphore::new(threads.clamp(1, Semaphore::MAX_PERMITS)));
        for service in services(py, functions, report, settings.shows_errors, &pool, event_loop.as_ref())? {
            builder = builder.add_service(service);
        }
        let history = std::mem::take(&mut settings.history);
        let broker = settings.has_topics.then(|| broker(history)).transpose()?;
        if let Some(broker) = &broker {
            builder = builder.mount(OPERATIONS, broker.clone());
        }
        let body_max = settings.body_max;
        let builder = settings.apply(builder)?;
        let (stop, stopped) = oneshot::channel();
        let (ending, ended) = watch::channel(None);
        let bound = Waiter::Other(runtime.handle()).wait(py, serve(builder, address, stopped, ending))?;
        Ok(Self {
            address: bound.map_err(failed)?,
            runtime: Mutex::new(Some(runtime)),
            stop: Mutex::new(Some(stop)),
            ended,
            broker,
            body_max,
            pool,
            made: fork::Generation::current(),
        })
    }

    /// Returns the address that the server is bound to, including its port.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Returns the topics of the server's broker, for publishing and subscribing within this process.
    fn topics(&self) -> PyResult<Topics> {
        self.made.check()?;
        let broker = self.broker.as_ref().ok_or_else(|| PyRuntimeError::new_err("the server has no topics"))?;
        Topics::in_process(broker.clone(), self.body_max)
    }

    /// Returns whether this thread is running one of the server's functions. A shutdown would wait for that function.
    fn is_in_function(&self) -> bool {
        drive::is_in_handler(&self.pool)
    }

    /// Starts the shutdown. When all calls have ended, or after `limit` seconds, completes a [`Reply`] or
    /// returns. A server of the parent process is not affected after a fork.
    #[pyo3(signature = (inbox = None, future = None, limit = None))]
    fn stop(
        &self,
        py: Python<'_>,
        inbox: Option<&Inbox>,
        future: Option<Py<Reply>>,
        limit: Option<f64>,
    ) -> PyResult<()> {
        if self.made.check().is_err() {
            return Ok(());
        }
        let limit = limit.map(|limit| duration("limit", limit)).transpose()?.unwrap_or(Duration::MAX);
        // Dropping the sender starts the shutdown.
        self.stop.lock().take();
        let mut ended = self.ended.clone();
        let Some(handle) = self.runtime.lock().as_ref().map(|runtime| runtime.handle().clone()) else { return Ok(()) };
        match (inbox, future) {
            (Some(inbox), Some(future)) => {
                let sender = inbox.sender();
                handle.spawn(async move {
                    announce(&sender, future, outcome(&mut ended).await);
                });
            }
            _ => {
                let waited = Waiter::Other(&handle)
                    .wait(py, async move { tokio::time::timeout(limit, outcome(&mut ended)).await.unwrap_or(Ok(())) });
                // Release the GIL, because running handlers need it to return, and `end` waits for them.
                py.detach(|| self.end());
                waited?.map_err(PyRuntimeError::new_err)?;
            }
        }
        Ok(())
    }

    /// Joins the threads of a server that has stopped.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.made.check()?;
        py.detach(|| self.end());
        Ok(())
    }
}

impl Settings {
    /// Applies all settings except those of functions and topics.
    fn apply(self, builder: ServerBuilder) -> PyResult<ServerBuilder> {
        let mut builder = opened(builder, &self.protocols, self.hosts, self.origins)?
            .workers(Workers::Threads(self.workers))
            .shutdown_timeout(duration("shutdown_timeout", self.shutdown_timeout)?);
        if let Some(body_max) = self.body_max {
            builder = builder.config(frpc::frisbee::Config::default().body_max(body_max));
        }
        if let Some(memory_max) = self.memory_max {
            builder = builder.memory_max(memory_max);
        }
        let Some((chain, key, clients)) = self.tls else { return Ok(builder) };
        let wrong = |error: frpc::tls::TlsError| PyValueError::new_err(format!("tls: {error}"));
        let identity = Identity::from_pem(chain, key).map_err(wrong)?;
        let tls = match clients {
            Some(clients) => ServerTls::mutual(identity, Authorities::from_pem(clients).map_err(wrong)?),
            None => ServerTls::new(identity),
        };
        Ok(builder.tls(tls.map_err(wrong)?))
    }
}

/// Outcome of serving once the server has ended, with an error text if it failed.
type Ended = Option<Result<(), String>>;

/// Binds an address, and serves in the background until `stop` is sent or dropped. Returns the bound address.
async fn serve(
    builder: ServerBuilder,
    address: String,
    stop: oneshot::Receiver<()>,
    ended: watch::Sender<Ended>,
) -> Result<String, frpc::Error> {
    // The server also stops when the sender is dropped.
    let stopped = async move { stop.await.unwrap_or_default() };
    let end =
        move |served: Result<(), frpc::Error>| ended.send_replace(Some(served.map_err(|error| error.to_string())));
    if let Some(path) = address.strip_prefix("unix:") {
        let server = builder.bind_unix(path).await?;
        tokio::spawn(async move { end(server.serve_with_shutdown(stopped).await) });
        return Ok(address);
    }
    let server = builder.bind(&*address).await?;
    let bound = server.local_addr().to_string();
    tokio::spawn(async move { end(server.serve_with_shutdown(stopped).await) });
    Ok(bound)
}

/// Waits until the server has ended and returns its outcome.
async fn outcome(ended: &mut watch::Receiver<Ended>) -> Result<(), String> {
    match ended.wait_for(Option::is_some).await {
        Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
        Err(_) => Err("the server has ended with its threads".to_owned()),
    }
}

impl Server {
    fn end(&self) {
        // Take the runtime out, so that the lock is not held while it shuts down.
        let runtime = self.runtime.lock().take();
        if let Some(runtime) = runtime {
            runtime.shutdown_timeout(STOP);
        }
    }
}

/// Enables the protocols of `frpc-gateway` that the argument `protocols` names, such as `"http"`.
fn opened(
    builder: ServerBuilder,
    protocols: &[String],
    hosts: Vec<String>,
    origins: Vec<String>,
) -> PyResult<ServerBuilder> {
    if protocols.is_empty() {
        return Ok(builder);
    }
    let mut gateway = Gateway::new();
    let mut http = Http::new();
    for protocol in protocols {
        match &protocol[..] {
            "json-rpc" => gateway = gateway.json_rpc(),
            "http" => http = http.connect().health(),
            "grpc" => http = http.grpc(),
            "websocket" => gateway = gateway.web_socket(),
            other => {
                let text =
                    format!("protocol {other:?} is unknown: use \"json-rpc\", \"http\", \"grpc\" or \"websocket\"");
                return Err(PyValueError::new_err(text));
            }
        }
    }
    if !origins.is_empty() {
        http = http.cors();
    }
    http = hosts.into_iter().fold(http, Http::host);
    http = origins.into_iter().fold(http, Http::origin);
    // WebSocket needs the settings of HTTP too, which contain the hosts and origins that its requests are checked
    // against.
    if protocols.iter().any(|protocol| protocol != "json-rpc") {
        gateway = gateway.http(http);
    }
    Ok(builder.gateway(gateway))
}

/// Creates services from all functions that Python has registered.
pub(crate) fn services(
    py: Python<'_>,
    functions: Vec<Described>,
    report: &Bound<'_, PyAny>,
    shows_errors: bool,
    pool: &Arc<Semaphore>,
    event_loop: Option<&(Py<Inbox>, Py<PyAny>)>,
) -> PyResult<Vec<Functions>> {
    let event_loop = || {
        let (inbox, begin) = event_loop.ok_or_else(|| {
            PyRuntimeError::new_err("coroutine functions of a client need an event loop: make the client in it")
        })?;
        PyResult::Ok((inbox.get().sender(), Arc::new(begin.clone_ref(py))))
    };
    let mut services: Vec<Functions> = Vec::new();
    for (api, index, call, word, context, batch) in functions {
        let api = api.get();
        let schema = api.schema.get();
        let callable = schema.methods.get(index).ok_or_else(|| refused("the schema has no such method"))?;
        let endpoint = api.endpoint(index)?.clone();
        let has_well_known = |index| endpoint.plans.has_well_known(index);
        let function = Arc::new(Function {
            has_well_known: (has_well_known(endpoint.request), has_well_known(endpoint.reply)),
            endpoint,
            descriptors: (callable.descriptor.input(), callable.descriptor.output()),
            call,
            context,
            report: report.clone().unbind(),
            shows_errors,
            pool: pool.clone(),
        });
        let mode = Mode::parse(&word, &function, batch, event_loop)?;
        let documents = Documents::of(schema, callable.layout);
        let mut methods = documents.methods.iter();
        let of_method = methods.find(|documents| std::ptr::eq(documents.method, callable.method));
        let of_method = of_method.ok_or_else(|| refused("the service has no such method"))?;
        let served = Served { function, mode, documents: of_method };
        match services.iter_mut().find(|service| std::ptr::eq(service.documents.layout, callable.layout)) {
            Some(service) => service.served.push(served),
            None => services.push(Functions { documents, served: vec![served] }),
        }
    }
    Ok(services)
}

impl Mode {
    /// Parses the mode in which Python wants a function to be called. `event_loop` is used by asynchronous modes. Any
    /// other function that takes a stream occupies a pool thread while it runs, because it waits for requests.
    fn parse(
        word: &str,
        function: &Arc<Function>,
        batch: Option<(usize, f64)>,
        event_loop: impl FnOnce() -> PyResult<(crate::inbox::Sender, Arc<Py<PyAny>>)>,
    ) -> PyResult<Self> {
        let takes_stream = function.endpoint.takes_stream;
        Ok(match (word, batch) {
            ("here", _) if !takes_stream => Self::Here,
            ("here" | "pool", _) => Self::Pool,
            ("generator", _) if !takes_stream => Self::Generator,
            ("generator" | "pool generator", _) => Self::PoolGenerator,
            ("process", _) => Self::Process,
            ("loop", _) => event_loop().map(|(sender, begin)| Self::Loop(sender, begin))?,
            ("async generator", _) => event_loop().map(|(sender, begin)| Self::AsyncGenerator(sender, begin))?,
            ("batch", Some((size_max, delay))) => {
                Self::Batch(Arc::new(Batch::new(function.clone(), size_max.max(1), duration("max_delay", delay)?)?))
            }
            _ => return Err(PyValueError::new_err(format!("unknown mode {word:?}"))),
        })
    }
}

impl Service for Functions {
    const NAME: &'static str = "functions";

    fn methods(&self) -> Methods {
        let mut builder = Methods::new(&Arc::new(()), self.documents.layout);
        for Served { function, mode, documents } in &self.served {
            let json = json_format(documents.fields).described(documents.comment, self.documents.messages);
            builder = add(builder, function.clone(), mode.clone()).messages(documents.messages);
            builder = builder.format(json).format(protobuf_format());
        }
        builder.schema(&self.documents.schema).done()
    }
}

type Outcome = Result<Response<Payload>, Status>;

/// Adds the method that a Python function serves.
fn add(builder: MethodsBuilder<()>, function: Arc<Function>, mode: Mode) -> MethodsBuilder<()> {
    type One = Request<Payload>;
    type Many = Request<Streaming<Payload>>;
    let method = *function.endpoint.method;
    if let Mode::Batch(batch) = mode {
        return builder.unary(method, move |_: ServiceHandle<()>, request: One| batch.call(request));
    }
    let is_in_loop = matches!(mode, Mode::Loop(..) | Mode::AsyncGenerator(..));
    let is_generator = matches!(mode, Mode::Generator | Mode::PoolGenerator | Mode::AsyncGenerator(..));
    match (function.endpoint.takes_stream, is_generator) {
        (false, false) => builder.unary(method, move |_: ServiceHandle<()>, request: One| {
            reply(function.clone(), mode.clone(), Call::new(&function, request))
        }),
        (false, true) => builder.server_streaming(method, move |_: ServiceHandle<()>, request: One| {
            replies(function.clone(), mode.clone(), Call::new(&function, request))
        }),
        (true, false) => builder.client_streaming(method, move |_: ServiceHandle<()>, request: Many| {
            reply(function.clone(), mode.clone(), Call::streaming(&function, request, is_in_loop))
        }),
        (true, true) => builder.streaming(method, move |_: ServiceHandle<()>, request: Many| {
            replies(function.clone(), mode.clone(), Call::streaming(&function, request, is_in_loop))
        }),
    }
}

/// Calls a function that has a single reply.
async fn reply(function: Arc<Function>, mode: Mode, call: Call) -> Outcome {
    match mode {
        Mode::Here => function.run(call),
        Mode::Loop(sender, begin) => run_in_loop(function, sender, begin, call).await,
        Mode::Process => run_elsewhere(function, call).await,
        _ => in_pool(function, call).await,
    }
}

/// Calls a function that has a stream of replies.
async fn replies(function: Arc<Function>, mode: Mode, call: Call) -> Result<Response<ResponseStream<Payload>>, Status> {
    Ok(Response::new(match mode {
        Mode::Generator => ResponseStream::new(Generated::new(function, call)?),
        Mode::AsyncGenerator(sender, begin) => ResponseStream::new(AsyncGenerated::new(function, sender, begin, call)),
        _ => pooled(function, call).await,
    }))
}

/// Runs a function on a pool thread. The call is passed on only once a thread is available, so a call that is cancelled
/// before does not run.
async fn in_pool(function: Arc<Function>, call: Call) -> Outcome {
    let taken = function.pool.clone().acquire_owned().await;
    let run = move || {
        let outcome = drive::in_pool(|| function.run(call));
        // Release the permit only after the function has returned: a cancelled call leaves it running on its thread.
        drop(taken);
        outcome
    };
    let ran = tokio::task::spawn_blocking(run).await;
    ran.unwrap_or_else(|_| Err(Status::internal("the thread of the handler has ended")))
}

/// Maximum number of messages that a generator on a pool thread may produce before they are sent.
const MESSAGES_AHEAD: usize = 16;

/// Returns the messages of a generator that occupies a pool thread while it runs. Waits for a thread like [`in_pool`].
async fn pooled(function: Arc<Function>, call: Call) -> ResponseStream<Payload> {
    let taken = function.pool.clone().acquire_owned().await;
    let (sender, stream) = ResponseStream::channel(MESSAGES_AHEAD);
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let _taken = taken;
        drive::in_pool(|| {
            let mut generated = match Generated::new(function, call) {
                Ok(generated) => generated,
                Err(status) => {
                    // The send fails only if the call has been cancelled.
                    let _ = handle.block_on(sender.send(Err(status)));
                    return;
                }
            };
            while let Some(next) = generated.next() {
                let is_last = next.is_err();
                if handle.block_on(sender.send(next)).is_err() || is_last {
                    return;
                }
            }
        });
    });
    stream
}
