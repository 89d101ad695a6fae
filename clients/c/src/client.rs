//! [`frisbee_client`]: a connection to a server, and unary calls.

use crate::handle::{self, handle};
use crate::payload::{Format, Payload, frisbee_codec};
use crate::raw::{
    UserData, bytes, caught, check_reserved, frisbee_code, frisbee_error, frisbee_metadata, guarded, metadata,
    milliseconds, optional_text, put, text,
};
use crate::reply::{free, frisbee_reply};
use crate::runtime::{self, in_completion, wait};
use crate::schema::{FIRST_OPERATION, Schema};
use bytes::Bytes;
use frpc::tls::{Authorities, ClientTls, Identity, TlsError};
use frpc::{Channel, ChannelBuilder, Metadata, Request, Status};
use frpc_reflection::ServerSchema;
use parking_lot::RwLock;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a server may take to describe itself. Peers without reflection do not answer.
const REFLECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of one server: a handle, which `frisbee_client_free` frees. It replaces its connection when that is lost.
pub struct frisbee_client {
    pub(crate) channel: Channel,
    schema: RwLock<Option<Arc<Schema>>>,
}

handle!(frisbee_client, 1, "client");

/// A request to cancel calls, from any thread: a handle, which `frisbee_cancel_free` frees.
pub struct frisbee_cancel {
    fired: watch::Sender<bool>,
}

handle!(frisbee_cancel, 3, "cancel");

/// The settings of a client. Initialise it with `{0}`: each field has a default.
#[repr(C)]
pub struct frisbee_client_options {
    /// The deadline of unary calls in milliseconds; 0 for 30 s.
    pub timeout_ms: u64,
    /// The time to connect in milliseconds; 0 for the default.
    pub connect_timeout_ms: u64,
    /// The longest message in bytes; 0 for 5 MiB.
    pub body_max: u32,
    /// The certificates of authorities as PEM, for TLS; NULL for plain connections.
    pub authorities: *const c_char,
    /// The certificate of the client as PEM; NULL for none.
    pub certificate: *const c_char,
    /// The key of the certificate as PEM.
    pub key: *const c_char,
    /// The name that the server has to have; NULL for the host of its address.
    pub server_name: *const c_char,
    /// Has to be 0.
    pub reserved: [u64; 4],
}

/// The settings of a call. Initialise it with `{0}`: each field has a default.
#[repr(C)]
pub struct frisbee_call_options {
    /// The deadline in milliseconds; 0 for that of the client.
    pub timeout_ms: u64,
    /// The metadata of the request; copied.
    pub metadata: *const frisbee_metadata,
    /// The number of entries.
    pub metadata_count: usize,
    /// Cancels the call when it is fired; NULL for none.
    pub cancel: *mut frisbee_cancel,
    /// Has to be 0.
    pub reserved: [u64; 4],
}

/// The settings of a call, checked.
#[derive(Default)]
pub(crate) struct CallOptions {
    timeout: Option<Duration>,
    metadata: Metadata,
    cancel: Option<Arc<frisbee_cancel>>,
}

impl CallOptions {
    /// # Safety
    /// `options` is null or valid, with its pointers.
    pub(crate) unsafe fn new(options: *const frisbee_call_options) -> Result<Self, Status> {
        if options.is_null() {
            return Ok(Self::default());
        }
        // SAFETY: it is valid, as the caller promises.
        let options = unsafe { &*options };
        check_reserved("frisbee_call_options", &options.reserved)?;
        let cancel = if options.cancel.is_null() { None } else { Some(handle::get(options.cancel)?) };
        // SAFETY: as above.
        let metadata = unsafe { metadata(options.metadata, options.metadata_count) }?;
        Ok(Self { timeout: milliseconds(options.timeout_ms), metadata, cancel })
    }

    pub(crate) fn request<T>(&mut self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(timeout) = self.timeout {
            request.set_timeout(timeout);
        }
        if !self.metadata.is_empty() {
            *request.metadata_mut() = std::mem::take(&mut self.metadata);
        }
        request
    }

    /// Runs a call until it ends or is cancelled. The call is pinned by its caller: an argument that is a future would be
    /// copied, and twice a part of the task.
    pub(crate) async fn run<T>(
        cancel: Option<Arc<frisbee_cancel>>,
        call: Pin<&mut impl Future<Output = Result<T, Status>>>,
    ) -> Result<T, Status> {
        let Some(cancel) = cancel else { return call.await };
        let mut fired = cancel.fired.subscribe();
        tokio::select! {
            biased;
            // The sender lives as long as `cancel`.
            _ = fired.wait_for(|fired| *fired) => Err(Status::cancelled("the call was cancelled by its caller")),
            outcome = call => outcome,
        }
    }

    pub(crate) fn take_cancel(&mut self) -> Option<Arc<frisbee_cancel>> {
        self.cancel.take()
    }
}

/// A method of a client, which may have to fetch the schema first.
pub(crate) struct Target {
    pub(crate) client: Arc<frisbee_client>,
    method: TargetMethod,
}

enum TargetMethod {
    /// A schema, and the index of the method.
    Known(Arc<Schema>, usize),
    Named(String),
}

impl Target {
    /// # Errors
    /// If the schema is known and has no such method.
    pub(crate) fn new(client: Arc<frisbee_client>, name: &str) -> Result<Self, Status> {
        let schema = client.schema.read().clone();
        let method = match schema {
            Some(schema) => {
                let index = schema.method_index(name)?;
                TargetMethod::Known(schema, index)
            }
            None => TargetMethod::Named(name.to_owned()),
        };
        Ok(Self { client, method })
    }

    /// A name that the schema has.
    pub(crate) fn name(&self) -> String {
        match &self.method {
            TargetMethod::Known(schema, index) => schema.at(*index).name(),
            TargetMethod::Named(name) => name.clone(),
        }
    }

    /// The schema and the index of the method in it; fetched from the server if there is none yet.
    pub(crate) async fn resolve(&self) -> Result<(Arc<Schema>, usize), Status> {
        match &self.method {
            TargetMethod::Known(schema, index) => Ok((schema.clone(), *index)),
            TargetMethod::Named(name) => {
                // The future is large and rarely needed: it does not belong into the task of each call.
                let schema = Box::pin(self.client.fetch_schema()).await?;
                let index = schema.method_index(name)?;
                Ok((schema, index))
            }
        }
    }
}

impl frisbee_client {
    async fn fetch_schema(&self) -> Result<Arc<Schema>, Status> {
        if let Some(schema) = self.schema.read().clone() {
            return Ok(schema);
        }
        let refused = |reason: &str| {
            let text =
                format!("the server does not describe itself ({reason}): name its schema by frisbee_client_proto");
            Status::failed_precondition(text)
        };
        let fetched = timeout(REFLECTION_TIMEOUT, ServerSchema::fetch(&self.channel)).await;
        let shown = fetched.map_err(|_| refused("no answer within 5 s"))?;
        // Several threads may fetch at once: the first stores its schema.
        let shown = shown.map_err(|status| match status.code() {
            frpc::Code::Unimplemented => refused(status.message()),
            _ => status,
        })?;
        let schema = Arc::new(Schema::of_server(&shown)?);
        Ok(self.schema.write().get_or_insert(schema).clone())
    }
}

/// Makes a unary call.
pub(crate) async fn unary(target: Target, format: Format, message: Bytes, mut options: CallOptions) -> frisbee_reply {
    let cancel = options.take_cancel();
    let is_sent = AtomicBool::new(false);
    let call = pin!(async {
        let (schema, index) = target.resolve().await?;
        let callable = schema.at(index);
        if callable.descriptor.is_client_streaming() || callable.descriptor.is_server_streaming() {
            let text = format!("{} has streams: use frisbee_client_open", callable.name());
            return Err(Status::invalid_argument(text));
        }
        let payload = callable.request.to_native(&schema.codec, format, message)?;
        let request = options.request(payload);
        is_sent.store(true, Ordering::Relaxed);
        let reply = target.client.channel.unary::<Payload, Payload>(callable.method, request).await?;
        let metadata = Some(reply.metadata()).filter(|metadata| !metadata.is_empty());
        Ok(frisbee_reply::new(&callable.reply, &schema.codec, format, &reply.get_ref().bytes, metadata))
    });
    CallOptions::run(cancel, call).await.unwrap_or_else(|status| match is_sent.load(Ordering::Relaxed) {
        true => frisbee_reply::failure(&status),
        false => frisbee_reply::refused(&status),
    })
}

/// # Safety
/// `options` is null or valid, with its pointers.
unsafe fn builder(options: *const frisbee_client_options) -> Result<ChannelBuilder, Status> {
    let mut builder = Channel::builder().workers(frpc::Workers::Caller);
    if options.is_null() {
        return Ok(builder);
    }
    // SAFETY: it is valid, as the caller promises.
    let options = unsafe { &*options };
    check_reserved("frisbee_client_options", &options.reserved)?;
    // SAFETY: as above.
    let [authorities, certificate, key, server_name] = unsafe {
        [
            optional_text("authorities", options.authorities)?,
            optional_text("certificate", options.certificate)?,
            optional_text("key", options.key)?,
            optional_text("server_name", options.server_name)?,
        ]
    };
    if let Some(timeout) = milliseconds(options.timeout_ms) {
        builder = builder.timeout(timeout);
    }
    if let Some(timeout) = milliseconds(options.connect_timeout_ms) {
        builder = builder.connect_timeout(timeout);
    }
    if options.body_max > 0 {
        builder = builder.config(frpc::frisbee::Config::default().body_max(options.body_max));
    }
    if let Some(name) = server_name {
        builder = builder.server_name(name);
    }
    let refused = |error: TlsError| Status::invalid_argument(error.to_string());
    match (authorities, certificate, key) {
        (None, None, None) => Ok(builder),
        (Some(authorities), None, None) => {
            Ok(builder.tls(ClientTls::new(Authorities::from_pem(authorities).map_err(refused)?).map_err(refused)?))
        }
        (Some(authorities), Some(certificate), Some(key)) => {
            let tls = ClientTls::new(Authorities::from_pem(authorities).map_err(refused)?).map_err(refused)?;
            let identity = Identity::from_pem(certificate, key).map_err(refused)?;
            Ok(builder.tls(tls.with_identity(identity).map_err(refused)?))
        }
        _ => Err(Status::invalid_argument("a certificate needs its key and authorities: set all three")),
    }
}

/// Connects to a server at `host:port` or `unix:/path`, and stores a client.
///
/// The texts and options are copied. The client is freed by `frisbee_client_free`. Any thread may call it; it blocks
/// until the connection is made or has failed.
///
/// # Safety
/// `address` ends with a NUL, `options` is NULL or valid, `client` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_connect(
    address: *const c_char,
    options: *const frisbee_client_options,
    client: *mut *mut frisbee_client,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            put("client", client, || {
                let address = text("address", address)?;
                let builder = builder(options)?;
                let connected = match address.strip_prefix("unix:") {
                    Some(path) => {
                        let path = path.to_owned();
                        wait(builder.connect_with_connector(move || UnixStream::connect(path.clone())))
                    }
                    None => wait(builder.connect(address)),
                };
                handle::insert(Arc::new(frisbee_client { channel: connected??, schema: RwLock::new(None) }))
            })
        })
    }
}

/// Names the schema of the server by the text of a `.proto` file, in place of reflection.
///
/// The text is copied; it may import the files of `google/protobuf` only. `codec` is a value of `frisbee_codec`. Any thread
/// may call it; calls that began earlier keep their schema.
///
/// # Safety
/// `proto` ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_proto(
    client: *mut frisbee_client,
    proto: *const c_char,
    codec: i32,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            let client = handle::get(client)?;
            let schema = Schema::parse(text("proto", proto)?, frisbee_codec::new(codec)?, FIRST_OPERATION)?;
            *client.schema.write() = Some(Arc::new(schema));
            Ok(())
        })
    }
}

/// Frees a client and closes its connection. Calls in flight fail. NULL is allowed.
///
/// Any thread may call it, also while others make calls.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_client_free(client: *mut frisbee_client) -> frisbee_code {
    if let Ok(client) = handle::get(client) {
        client.channel.close();
    }
    free(client)
}

/// The arguments of a call, checked.
///
/// # Safety
/// They are valid, as the exported functions demand.
pub(crate) unsafe fn arguments(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
) -> Result<(Target, Format, Bytes, CallOptions), Status> {
    let client = handle::get(client)?;
    let format = Format::new(format)?;
    // SAFETY: they are valid, as the caller promises.
    unsafe {
        let target = Target::new(client, text("method", method)?)?;
        Ok((target, format, bytes("data", data, len)?, CallOptions::new(options)?))
    }
}

/// Makes a unary call and waits for its end.
///
/// `method` is `pkg.Service/Method`, or `Method` if the server has only one of that name. `format` is a value of
/// `frisbee_format`, for the request and for the reply. The arguments are copied. Returns a reply, also if the call has
/// failed, which is freed by `frisbee_reply_free`. Any thread may call it, except in a completion callback.
///
/// # Safety
/// `method` ends with a NUL, `data` has `len` bytes, `options` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_call(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
) -> *mut frisbee_reply {
    let called = caught(|| {
        // SAFETY: they are valid, as the caller promises.
        let (target, format, message, options) = unsafe { arguments(client, method, format, data, len, options) }?;
        wait(unary(target, format, message, options))
    });
    called.unwrap_or_else(|status| frisbee_reply::refused(&status)).into_handle()
}

/// A function that gets the reply of a call, which it has to free, and the `user` pointer of the call.
///
/// It runs in a thread of the library, where it must not block: functions that block return
/// `FRISBEE_FAILED_PRECONDITION`.
pub type frisbee_completion = Option<extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply)>;

/// Begins a unary call, and returns at once. `completion` gets the reply, exactly once, unless this function returns an
/// error.
///
/// The arguments are those of `frisbee_client_call`. Any thread may call it.
///
/// # Safety
/// As for `frisbee_client_call`; `user` is what `completion` expects, from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_client_start(
    client: *mut frisbee_client,
    method: *const c_char,
    format: i32,
    data: *const c_void,
    len: usize,
    options: *const frisbee_call_options,
    completion: frisbee_completion,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            let completion = completion.ok_or_else(|| Status::invalid_argument("completion is NULL"))?;
            let (target, format, message, options) = arguments(client, method, format, data, len, options)?;
            StartedCall { target, format, message, options, completion, user: UserData(user) }.start()
        })
    }
}

/// A call with a completion.
struct StartedCall {
    target: Target,
    format: Format,
    message: Bytes,
    options: CallOptions,
    completion: extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply),
    user: UserData,
}

/// The place for the first call that a completion begins: the task of the ended call makes it, without a task of its own.
#[derive(Default)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each thread, and a box would cost an allocation for each call"
)]
enum Successor {
    /// No completion of a call runs in this thread.
    #[default]
    Outside,
    Free,
    Call(StartedCall),
}

thread_local! {
    static SUCCESSOR: Cell<Successor> = const { Cell::new(Successor::Outside) };
}

impl StartedCall {
    fn start(self) -> Result<(), Status> {
        match SUCCESSOR.take() {
            Successor::Free => SUCCESSOR.set(Successor::Call(self)),
            other => {
                SUCCESSOR.set(other);
                runtime::handle()?.spawn(self.run());
            }
        }
        Ok(())
    }

    /// Makes the call, and those that succeed it.
    async fn run(self) {
        let mut started = self;
        loop {
            let Self { target, format, message, options, completion, user } = started;
            let reply = unary(target, format, message, options).await.into_handle();
            SUCCESSOR.set(Successor::Free);
            in_completion(|| completion(user.get(), reply));
            match SUCCESSOR.take() {
                Successor::Call(successor) => started = successor,
                Successor::Free | Successor::Outside => return,
            }
        }
    }
}

/// Makes a request to cancel, and stores it. It is freed by `frisbee_cancel_free`. Any thread may call it.
///
/// # Safety
/// `cancel` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_cancel_new(
    cancel: *mut *mut frisbee_cancel,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: the arguments are valid, as the caller promises.
    unsafe {
        guarded(error, || {
            put("cancel", cancel, || handle::insert(Arc::new(frisbee_cancel { fired: watch::Sender::new(false) })))
        })
    }
}

/// Cancels all calls with this request, present and future ones. They end with `FRISBEE_CANCELLED`, and their handlers
/// at the server end. Any thread may call it.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_cancel_fire(cancel: *mut frisbee_cancel, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: the argument is valid, as the caller promises.
    unsafe {
        guarded(error, || {
            handle::get(cancel)?.fired.send_replace(true);
            Ok(())
        })
    }
}

/// Frees a request to cancel. Calls that have it continue. NULL is allowed. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_cancel_free(cancel: *mut frisbee_cancel) -> frisbee_code {
    free(cancel)
}
