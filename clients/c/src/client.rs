//! [`frisbee_client`]: a connection to a server, and the functions that make unary calls.

use crate::body::Body;
use crate::completion::start;
use crate::handle::{self, InUse, handle};
use crate::packets::{PacketRouter, frisbee_packet_function};
use crate::payload::{Encoding, Format, Payload, frisbee_codec};
use crate::raw::{
    UserData, c_str, caught, check_reserved, frisbee_code, frisbee_error, frisbee_metadata, guarded, guarded_put,
    metadata, milliseconds, optional_text, slice, text, utf8,
};
use crate::reply::{free, frisbee_reply};
use crate::running::RunningFunctions;
use crate::runtime::{self, may_block, wait, wait_at_exit};
use crate::schema::{Callable, FIRST_OPERATION, Schema};
use crate::unary::UnaryCall;
use frpc::codegen::Method;
use frpc::frisbee::{ClientBuilder, Config};
use frpc::pubsub::Client as Topics;
use frpc::tls::{Authorities, ClientTls, Identity, TlsError};
use frpc::{Channel, ChannelBuilder, Code, Request, Status};
use frpc_reflection::ServerSchema;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A client of one server. Lost connections are replaced. The handle is freed by `frisbee_client_free`.
pub struct frisbee_client {
    pub(crate) channel: Channel,
    /// Schema of the server's methods, set by the program or fetched for the first call.
    schema: Arc<OnceCell<Arc<Schema>>>,
    /// Pub/sub client of the server, which connects on first use to the address in `topics_at` with the settings stored
    /// there.
    topics: OnceCell<Topics>,
    topics_at: (ClientBuilder, String),
    /// Tracks the running functions that receive packets of this client.
    running: Arc<RunningFunctions>,
}

handle!(frisbee_client, 1, "client");

/// A token that cancels calls. The handle is freed by `frisbee_cancel_free`.
pub struct frisbee_cancel {
    fired: watch::Sender<bool>,
}

handle!(frisbee_cancel, 3, "cancel");

/// Settings of a client. Initialise the struct with `{0}` to use the defaults.
#[repr(C)]
pub struct frisbee_client_options {
    /// Timeout of unary calls in milliseconds. 0 selects 30 s.
    pub timeout_ms: u64,
    /// Timeout for connecting in milliseconds. 0 selects the default.
    pub connect_timeout_ms: u64,
    /// Maximum length of a message in bytes. 0 selects 5 MiB.
    pub body_max: u32,
    /// PEM certificates of the authorities that may sign the server's certificate. Setting them enables TLS, and NULL
    /// selects plaintext connections.
    pub authorities: *const c_char,
    /// PEM certificate that the client presents to the server, or NULL for none.
    pub certificate: *const c_char,
    /// PEM private key of the certificate.
    pub key: *const c_char,
    /// Name to verify against the server's certificate, or NULL for the host of the server's address.
    pub server_name: *const c_char,
    /// Function that receives packets of the server, or NULL for none. It is not called after the client was freed,
    /// unless the client was freed within a callback.
    pub packets: frisbee_packet_function,
    /// The `user` pointer of `packets`.
    pub packets_user: *mut c_void,
    /// First and last operation of the packets.
    pub packets_operations: [u16; 2],
    /// Must be 0.
    pub reserved: [u64; 1],
}

/// Settings of a call. Initialise the struct with `{0}` to use the defaults.
#[repr(C)]
pub struct frisbee_call_options {
    /// Timeout of the call in milliseconds. 0 selects the timeout of the client.
    pub timeout_ms: u64,
    /// Metadata entries of the request. The library copies them.
    pub metadata: *const frisbee_metadata,
    /// Number of metadata entries.
    pub metadata_count: usize,
    /// Token that cancels the call, or NULL for none.
    pub cancel: *mut frisbee_cancel,
    /// Must be 0.
    pub reserved: [u64; 4],
}

impl frisbee_call_options {
    /// Returns the call's timeout, or `None` if any other option is set. `Some(None)` stands for the client's timeout.
    fn only_timeout(&self) -> Option<Option<Duration>> {
        let Self { timeout_ms, metadata_count, cancel, reserved: [0, 0, 0, 0], .. } = self else { return None };
        (*metadata_count == 0 && cancel.is_null()).then(|| milliseconds(*timeout_ms))
    }

    /// Applies the options to a request and returns the cancellation token.
    ///
    /// # Safety
    /// The pointers are valid.
    unsafe fn apply<T>(&self, request: &mut Request<T>) -> Result<Option<InUse<frisbee_cancel>>, Status> {
        check_reserved("frisbee_call_options", &self.reserved)?;
        let cancel = if self.cancel.is_null() { None } else { Some(handle::get(self.cancel)?) };
        if let Some(timeout) = milliseconds(self.timeout_ms) {
            request.set_timeout(timeout);
        }
        if self.metadata_count > 0 {
            // SAFETY: The caller guarantees that the entries are valid.
            *request.metadata_mut() = unsafe { metadata(self.metadata, self.metadata_count) }?;
        }
        Ok(cancel)
    }
}

/// Arguments of a call as passed from C, whose method and options have not been checked yet.
pub(crate) struct CallArguments<'a> {
    pub(crate) client: InUse<frisbee_client>,
    pub(crate) format: Format,
    name: &'a CStr,
    pub(crate) data: &'a [u8],
    /// Options of the call, whose pointers are valid.
    options: Option<&'a frisbee_call_options>,
}

impl CallArguments<'_> {
    /// Checks the arguments of a call, starting with the client and the format.
    ///
    /// # Errors
    /// If an argument is invalid.
    ///
    /// # Safety
    /// The arguments are valid for the lifetime of this value, as the exported functions require.
    #[inline(always)] // Lets the arguments stay in registers.
    pub(crate) unsafe fn new(
        client: *mut frisbee_client,
        method: *const c_char,
        format: i32,
        data: *const c_void,
        len: usize,
        options: *const frisbee_call_options,
    ) -> Result<Self, Status> {
        let (client, format) = (handle::get(client)?, Format::new(format)?);
        // SAFETY: The caller guarantees that the arguments are valid.
        unsafe {
            let (name, data) = (c_str("method", method)?, slice("data", data, len)?);
            Ok(Self { client, format, name, data, options: options.as_ref() })
        }
    }

    /// Returns the index of the called method in the client's schema, or `None` if the client has no schema yet.
    ///
    /// # Errors
    /// If there is no such method.
    pub(crate) fn method_index(&self) -> Result<Option<usize>, Status> {
        self.client.schema.get().map(|schema| schema.method_index(self.name.to_bytes())).transpose()
    }

    /// Returns the call's timeout, or `None` if any other option is set. `Some(None)` stands for the client's timeout.
    pub(crate) fn only_timeout(&self) -> Option<Option<Duration>> {
        self.options.map_or(Some(None), frisbee_call_options::only_timeout)
    }

    /// Converts the arguments into a call that owns them.
    ///
    /// # Errors
    /// If there is no such method, or an option is invalid.
    pub(crate) fn prepare(self) -> Result<Prepared, Status> {
        let method = match self.method_index()? {
            Some(index) => Ok(self.client.method(index)?.clone()),
            None => Err(utf8("method", self.name)?.into()),
        };
        let mut request = Request::new(Payload::new(Body::copy(self.data), Encoding::Native));
        let cancel = match self.options {
            None => None,
            // SAFETY: The pointers in the options are valid.
            Some(options) => unsafe { options.apply(&mut request) }?,
        };
        Ok(Prepared { target: CallTarget { client: self.client, method, format: self.format }, request, cancel })
    }
}

/// A call whose arguments have been checked and copied.
pub(crate) struct Prepared {
    pub(crate) target: CallTarget,
    /// The request. Its message is in the caller's format until [`encode`](Self::encode) converts it.
    pub(crate) request: Request<Payload>,
    pub(crate) cancel: Option<InUse<frisbee_cancel>>,
}

/// Client, method and format of a call, which are still needed after its request was sent.
pub(crate) struct CallTarget {
    pub(crate) client: InUse<frisbee_client>,
    /// The method, or its name if the client has no schema yet.
    method: Result<Arc<Callable>, Box<str>>,
    pub(crate) format: Format,
}

impl Prepared {
    /// Fetches the schema from the server unless the client already has one. The timeout of the call starts here.
    pub(crate) async fn fetch_schema(&mut self) -> Result<(), Status> {
        if let Err(name) = &self.target.method {
            let fetched = until_cancelled(self.cancel.as_ref(), self.target.client.fetch_schema());
            let (began, limit) = (Instant::now(), self.request.timeout());
            let schema = match limit {
                None => fetched.await?,
                Some(limit) => timeout(limit, fetched).await.unwrap_or_else(|_| {
                    Err(Status::deadline_exceeded(format!("the server has not sent its schema within {limit:?}")))
                })?,
            };
            self.target.method = Ok(schema.at(schema.method_index(name.as_bytes())?).clone());
            if let Some(limit) = limit {
                self.request.set_timeout(limit.saturating_sub(began.elapsed()));
            }
        }
        Ok(())
    }

    /// Converts the request message to the native encoding.
    pub(crate) fn encode(&mut self) -> Result<(), Status> {
        if self.target.format != Format::Native {
            let message = std::mem::take(&mut self.request.get_mut().body);
            *self.request.get_mut() = self.target.callable()?.request.to_native(self.target.format, message)?;
        }
        Ok(())
    }

    pub(crate) fn has_message(&self) -> bool {
        !self.request.get_ref().body.is_empty()
    }

    /// Returns the method of a unary call whose request is ready to be sent.
    ///
    /// # Errors
    /// If the method streams, the call was cancelled, or the message is invalid.
    pub(crate) fn unary_method(&mut self) -> Result<&'static Method, Status> {
        let method = self.target.callable()?.unary_method()?;
        self.check_not_cancelled()?;
        self.encode()?;
        Ok(method)
    }

    /// Returns an error if the call was already cancelled by its token.
    pub(crate) fn check_not_cancelled(&self) -> Result<(), Status> {
        match &self.cancel {
            Some(cancel) if *cancel.fired.borrow() => Err(cancelled()),
            _ => Ok(()),
        }
    }
}

impl CallTarget {
    /// Returns the method, once the client has a schema.
    pub(crate) fn callable(&self) -> Result<&Arc<Callable>, Status> {
        self.method.as_ref().map_err(|_| unknown_schema())
    }
}

/// Runs a call until it completes or is cancelled by its token.
pub(crate) async fn until_cancelled<T>(
    cancel: Option<&InUse<frisbee_cancel>>,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    let Some(cancel) = cancel else { return call.await };
    let mut fired = cancel.fired.subscribe();
    tokio::select! {
        biased;
        // `cancel` owns the sender, so the wait cannot fail.
        _ = fired.wait_for(|fired| *fired) => Err(cancelled()),
        outcome = call => outcome,
    }
}

fn cancelled() -> Status {
    Status::cancelled("the call was cancelled by its caller")
}

/// Adds advice to the status of a schema fetch that failed because the server has no reflection. Servers in Go do not
/// reply in this case, so the fetch times out.
fn without_schema(status: Status) -> Status {
    let make = match status.code() {
        Code::Unimplemented => Status::failed_precondition,
        Code::DeadlineExceeded => Status::deadline_exceeded,
        _ => return status,
    };
    let reason = status.message();
    make(format!("the server does not describe itself ({reason}): name its schema by frisbee_client_proto"))
}

fn unknown_schema() -> Status {
    Status::internal("the schema of the client is not known yet")
}

impl frisbee_client {
    /// Returns the method with this index in the client's schema.
    pub(crate) fn method(&self, index: usize) -> Result<&Arc<Callable>, Status> {
        self.schema.get().map(|schema| schema.at(index)).ok_or_else(unknown_schema)
    }

    /// Fails if this thread is running a function that blocks the driver of the server's end of this connection. A call
    /// would then wait forever.
    pub(crate) fn check_not_held_up(&self) -> Result<(), Status> {
        if runtime::is_held_up(&self.channel) { Err(runtime::held_up()) } else { Ok(()) }
    }

    /// Fetches the schema from the server unless it is known. Concurrent calls wait for the same fetch.
    async fn fetch_schema(&self) -> Result<Arc<Schema>, Status> {
        let (schema, channel) = (self.schema.clone(), self.channel.clone());
        // Fetch in a task, because a call of a queue is polled only when the program takes events. Other calls would
        // wait for it forever. Dropping the set aborts the task.
        let mut task = JoinSet::new();
        task.spawn(async move {
            // `get_or_try_init` leaves the cell empty after a failure, so that the next call fetches again.
            let fetched = schema.get_or_try_init(async || {
                let shown = ServerSchema::fetch(&channel).await.map_err(without_schema)?;
                Schema::of_server(&shown).map(Arc::new)
            });
            fetched.await.cloned()
        });
        match task.join_next().await {
            Some(Ok(fetched)) => fetched,
            Some(Err(error)) => Err(Status::internal(format!("fetching the schema failed: {error}"))),
            None => Err(Status::internal("fetching the schema failed")),
        }
    }

    /// Returns the client of the server's topics. Its first use opens a connection, which is replaced if it is lost.
    pub(crate) async fn topics(&self) -> Result<&Topics, Status> {
        let (builder, address) = &self.topics_at;
        Ok(self.topics.get_or_try_init(|| Topics::connect_with(builder.clone(), address.as_str())).await?)
    }
}

/// Returns the settings of calls, and those of the connection for topics.
///
/// # Safety
/// `options` is null, or valid including its pointers.
unsafe fn builders(
    options: *const frisbee_client_options,
    running: &Arc<RunningFunctions>,
) -> Result<(ChannelBuilder, ClientBuilder), Status> {
    let mut builder = Channel::builder().workers(frpc::Workers::Caller);
    let mut topics = frpc::frisbee::Client::builder();
    if options.is_null() {
        return Ok((builder, topics));
    }
    // SAFETY: The caller guarantees that `options` is valid.
    let options = unsafe { &*options };
    check_reserved("frisbee_client_options", &options.reserved)?;
    // SAFETY: The caller guarantees that the texts are valid.
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
        (builder, topics) = (builder.connect_timeout(timeout), topics.connect_timeout(timeout));
    }
    if options.body_max > 0 {
        let config = Config::default().body_max(options.body_max);
        (builder, topics) = (builder.config(config.clone()), topics.config(config));
    }
    if let Some(name) = server_name {
        (builder, topics) = (builder.server_name(name), topics.server_name(name));
    }
    if options.packets.is_some() {
        let (function, user) = (options.packets, options.packets_user);
        let (operations, router) = PacketRouter::new(options.packets_operations, function, user, running)?;
        builder = builder.mount(operations, router);
    }
    if let Some(tls) = tls(authorities, certificate, key)? {
        (builder, topics) = (builder.tls(tls.clone()), topics.tls(tls));
    }
    Ok((builder, topics))
}

fn tls(authorities: Option<&str>, certificate: Option<&str>, key: Option<&str>) -> Result<Option<ClientTls>, Status> {
    let refused = |error: TlsError| Status::invalid_argument(error.to_string());
    let identity = match (authorities, certificate, key) {
        (_, None, None) => None,
        (Some(_), Some(certificate), Some(key)) => Some(Identity::from_pem(certificate, key).map_err(refused)?),
        _ => return Err(Status::invalid_argument("a certificate needs its key and authorities: set all three")),
    };
    let Some(authorities) = authorities else { return Ok(None) };
    let tls = ClientTls::new(Authorities::from_pem(authorities).map_err(refused)?).map_err(refused)?;
    Ok(Some(match identity {
        Some(identity) => tls.with_identity(identity).map_err(refused)?,
        None => tls,
    }))
}

/// Connects to a server at `host:port` or `unix:/path`, and stores a client.
///
/// The texts and options are copied. The caller owns the client and must free it with `frisbee_client_free`. Only
/// `error` and `options` may be NULL; without `options`, the defaults apply. Blocks until the connection is established
/// or has failed. May be called from any thread, but not in a completion callback.
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
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "client", client, || {
            let (address, running) = (text("address", address)?, Arc::default());
            let (builder, topics) = builders(options, &running)?;
            let channel = wait(builder.connect(address))?.inspect_err(|_| drop(end(&running)))?;
            handle::insert(Arc::new(frisbee_client {
                channel,
                schema: Arc::default(),
                topics: OnceCell::new(),
                topics_at: (topics, address.to_owned()),
                running,
            }))
        })
    }
}

/// Sets the schema of the server from the text of a `.proto` file, so that the client does not fetch the schema by
/// reflection. Must be called before the first call. Returns `FRISBEE_FAILED_PRECONDITION` if the client already has a
/// schema.
///
/// The text is copied. It may only import the files of `google/protobuf`, `frpc/agent.proto` and `frpc/tensor.proto`.
/// `codec` is a value of `frisbee_codec`. Only `error` may be NULL. May be called from any thread.
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
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let client = handle::get(client)?;
            let schema = Schema::parse(text("proto", proto)?, frisbee_codec::new(codec)?, FIRST_OPERATION)?;
            let known = |_| Status::failed_precondition("the client has a schema: name it once, before the first call");
            client.schema.set(Arc::new(schema)).map_err(known)
        })
    }
}

/// Frees a client. Calls and streams in progress continue, and the connection closes when the last of them has ended.
/// Unsent calls fail. NULL is allowed. Waits for a running function that receives packets, but not in a callback.
///
/// May be called from any thread, even while other threads make calls.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_client_free(client: *mut frisbee_client) -> frisbee_code {
    if let Ok(client) = handle::get(client) {
        // After a fork, there is nothing to wait for.
        let _ = caught(|| end(&client.running));
        client.channel.close();
    }
    free(client)
}

/// Prevents further functions that receive packets, and waits for the running ones, except within a callback.
fn end(running: &Arc<RunningFunctions>) -> Result<(), Status> {
    let running = running.clone();
    if may_block().is_ok() {
        return wait_at_exit(async move { running.end().await });
    }
    runtime::handle()?.spawn(async move { running.end().await });
    Ok(())
}

/// Makes a unary call and waits for its reply.
///
/// `method` is `pkg.Service/Method`, or `Method` if the name is unique on the server. `format` is a value of
/// `frisbee_format` and applies to request and reply. The arguments are copied. Returns a reply, even if the call
/// failed, and never NULL. The caller owns it and must free it with `frisbee_reply_free`. Only `options`, and `data` if
/// `len` is 0, may be NULL. Without `options`, the defaults apply. May be called from any thread, but not in a
/// completion callback.
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
        // SAFETY: The caller guarantees that the arguments are valid.
        let arguments = unsafe { CallArguments::new(client, method, format, data, len, options) }?;
        arguments.client.check_not_held_up()?;
        let mut call = None;
        UnaryCall::begin(arguments, &mut call)?;
        call.map_or_else(|| Err(Status::internal("the call has no outcome")), wait)
    });
    match called {
        Ok(Ok(reply) | Err(reply)) => reply.into_handle(),
        Err(status) => frisbee_reply::refused(&status).into_handle(),
    }
}

/// A completion callback. It receives the reply of a call and the `user` pointer of the call. The reply is never NULL,
/// and the callback must free it.
///
/// The callback runs on a thread of the library and must not block. Within it, blocking functions of the library return
/// `FRISBEE_FAILED_PRECONDITION`.
pub type frisbee_completion = Option<extern "C" fn(user: *mut c_void, reply: *mut frisbee_reply)>;

/// Starts a unary call without waiting for its reply. `completion` receives the reply exactly once, unless this
/// function returns an error.
///
/// The arguments are those of `frisbee_client_call`, and are copied. `user` is passed to `completion` unchanged. It
/// stays with the caller and must stay valid until `completion` receives it. Only `options`, `error`, `user`, and
/// `data` if `len` is 0, may be NULL. May be called from any thread.
///
/// # Safety
/// Like `frisbee_client_call`; `completion` accepts `user` on any thread.
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
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let completion = completion.ok_or_else(|| Status::invalid_argument("completion is NULL"))?;
            start(CallArguments::new(client, method, format, data, len, options)?, completion, UserData(user))
        })
    }
}

/// Creates a cancellation token and stores its handle. The caller owns it and must free it with `frisbee_cancel_free`.
/// Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `cancel` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_cancel_new(
    cancel: *mut *mut frisbee_cancel,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "cancel", cancel, || {
            // Use a watch channel, because it keeps the state: calls started after the cancellation are cancelled too.
            handle::insert(Arc::new(frisbee_cancel { fired: watch::Sender::new(false) }))
        })
    }
}

/// Cancels all current and future calls that use this token. These calls end with `FRISBEE_CANCELLED`, and the server
/// cancels their handlers. The token stays with the caller. Only `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_cancel_fire(cancel: *mut frisbee_cancel, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe {
        guarded(error, || {
            // Use `send_replace`, because `send` fails without changing the state if no call is in progress.
            handle::get(cancel)?.fired.send_replace(true);
            Ok(())
        })
    }
}

/// Frees a cancellation token without cancelling its calls. NULL is allowed. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_cancel_free(cancel: *mut frisbee_cancel) -> frisbee_code {
    free(cancel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc::{Call, CallResponse, Middleware, Next, Server};
    use frpc_reflection::Reflection;

    /// Regression test: a client failed immediately if the backlog of a Unix socket was full.
    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread")]
    async fn client_waits_for_full_unix_backlog() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = tokio::net::UnixSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let listener = socket.listen(0).unwrap();
        let _queued = tokio::net::UnixStream::connect(&path).await.unwrap();
        let connect = move || {
            let address = std::ffi::CString::new(format!("unix:{}", path.display())).unwrap();
            // SAFETY: All fields of the structs may be zero.
            let (mut options, mut error): (frisbee_client_options, frisbee_error) = unsafe { std::mem::zeroed() };
            options.connect_timeout_ms = 50;
            let mut client = std::ptr::null_mut();
            // SAFETY: The arguments are valid.
            let code = unsafe { frisbee_client_connect(address.as_ptr(), &raw const options, &mut client, &mut error) };
            assert_ne!(code, frisbee_code::FRISBEE_OK);
            // SAFETY: The text ends with a NUL.
            unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_str().unwrap().to_owned()
        };
        let text = tokio::task::spawn_blocking(connect).await.unwrap();
        assert!(text.contains("timed out"), "{text}");
        drop(listener);
    }

    /// Delays each reply by 20 s, as a busy server may.
    struct Busy;

    impl Middleware for Busy {
        async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
            tokio::time::sleep(Duration::from_secs(20)).await;
            next.run(call).await
        }
    }

    /// Regression test: the schema had to arrive within 5 s.
    #[tokio::test(start_paused = true)]
    async fn busy_server_is_asked_for_its_schema() {
        let server = Server::builder().add_service(Reflection::new()).middleware(Busy).build().unwrap();
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let channel = Channel::connect_io(here).await.unwrap();
        let topics_at = (frpc::frisbee::Client::builder(), String::new());
        let (schema, topics) = (Arc::default(), OnceCell::new());
        let client = frisbee_client { channel, schema, topics, topics_at, running: Arc::default() };
        client.fetch_schema().await.unwrap();
    }
}
