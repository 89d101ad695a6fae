//! [`frisbee_server`]: C functions as services, called natively and through the gateway.

mod functions;

use self::functions::{Function, Functions};
use crate::call::frisbee_call;
use crate::handle::{self, handle};
use crate::payload::frisbee_codec;
use crate::raw::{
    caught, check_reserved, frisbee_code, frisbee_error, guarded, guarded_put, milliseconds, optional_text, text,
};
use crate::reply::free;
use crate::running::RunningFunctions;
use crate::runtime::{self, may_block, may_stop, wait, wait_at_exit};
use crate::schema::{Callable, Schema, ambiguous};
use crate::signature::{Signature, proto};
use frpc::tls::{Authorities, Identity, ServerTls, TlsError};
use frpc::{Code, IoBackend, ServerBuilder, Status, Workers};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use frpc_reflection::{Health, Reflection};
use parking_lot::Mutex;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Error of functions that require a server that was never started.
const NOT_NEW: &str = "the server was started or stopped before; create a new one";

/// A server whose methods are C functions. The handle is freed by `frisbee_server_free`.
pub struct frisbee_server {
    state: Mutex<State>,
    /// Bound address of the server, once it is known.
    address: std::sync::OnceLock<CString>,
    pub(crate) running: Arc<RunningFunctions>,
    ended: watch::Receiver<ServerOutcome>,
}

handle!(frisbee_server, 6, "server");

/// Outcome of serving, once the server has ended.
type ServerOutcome = Option<Result<(), String>>;

enum State {
    Building(Box<Building>),
    /// A thread is currently binding the server's address.
    Starting,
    Serving(#[allow(dead_code, reason = "its drop starts the shutdown")] oneshot::Sender<()>),
    Stopped,
}

/// Configuration of a server that has not been started.
struct Building {
    builder: ServerBuilder,
    ending: watch::Sender<ServerOutcome>,
    service: String,
    /// Functions registered with a signature. They form the service named `service`.
    functions: Vec<(Signature, Function)>,
    schemas: Vec<Schema>,
    /// Functions registered for the methods of schemas.
    handlers: Vec<(Arc<Callable>, Function)>,
    /// Changes of the builder, in their order.
    extensions: Vec<Extension>,
}

type Extension = Box<dyn FnOnce(ServerBuilder) -> ServerBuilder + Send>;

/// A function that serves a method. It receives the call and the `user` pointer.
///
/// It must reply to the call exactly once, during the function or later, from any thread. Functions run concurrently on
/// several threads.
///
/// Functions of unary methods run on the connection's thread and should return within a millisecond; a blocked thread
/// is replaced after 12 ms, but the connection continues only when the function returns. If a client of the same
/// process uses this connection, the function cannot wait for it: `FRISBEE_FAILED_PRECONDITION` is returned instead.
/// Use `frisbee_client_start`, another client or another thread. Connections of Unix sockets are not recognized: there,
/// the function waits until the timeout, and forever without one.
///
/// Functions of streaming methods run on their own threads and may block. A process has at most 512 of these threads.
/// Further calls wait for a free thread. A call that ends while it waits does not run.
pub type frisbee_function = Option<extern "C" fn(call: *mut frisbee_call, user: *mut c_void)>;

/// Settings of a server. Initialise the struct with `{0}` to use the defaults.
#[repr(C)]
pub struct frisbee_server_options {
    /// Number of threads that drive connections. 0 selects one per core.
    pub threads: u32,
    /// Maximum length of a message in bytes. 0 selects 5 MiB.
    pub body_max: u32,
    /// Maximum time in milliseconds for which a stopping server waits for calls in flight. 0 selects the default.
    pub shutdown_timeout_ms: u64,
    /// PEM certificate of the server. Setting it enables TLS, and NULL selects plaintext connections.
    pub certificate: *const c_char,
    /// PEM private key of the certificate.
    pub key: *const c_char,
    /// PEM certificates of the authorities that may sign client certificates, or NULL if clients need none.
    pub client_authorities: *const c_char,
    /// Additional host names that HTTP callers may use, terminated by NULL, or NULL for none.
    pub hosts: *const *const c_char,
    /// Origins of web pages that may make calls, terminated by NULL, or NULL for none.
    pub origins: *const *const c_char,
    /// Whether to accept only native frpc callers, and reject JSON-RPC, HTTP, gRPC and WebSocket.
    pub is_native_only: bool,
    /// Must be 0.
    pub reserved: [u64; 4],
}

/// # Safety
/// `list` is null, or has texts and null at its end.
unsafe fn texts(name: &str, list: *const *const c_char) -> Result<Vec<String>, Status> {
    const MAX: usize = 1024; // A longer list probably lacks its terminating NULL.
    let mut texts = Vec::new();
    if list.is_null() {
        return Ok(texts);
    }
    for at in 0..MAX {
        // SAFETY: The terminator was not reached yet.
        match unsafe { optional_text(name, *list.add(at)) }? {
            Some(text) => texts.push(text.to_owned()),
            None => return Ok(texts),
        }
    }
    Err(Status::invalid_argument(format!("{name} has more than {MAX} entries: the last one has to be NULL")))
}

/// # Safety
/// `options` is null, or valid including its pointers.
unsafe fn builder(options: *const frisbee_server_options) -> Result<ServerBuilder, Status> {
    // Do not use the library's runtime, because functions may block and the clients that they use need its threads. Do
    // not use io_uring, because its threads are not replaced when they block.
    let mut builder = frpc::Server::builder().workers(Workers::PerCore).io_backend(IoBackend::Tokio);
    builder = builder.add_service(Reflection::new()).add_service(Health::new());
    let gateway = |http: Http| Gateway::new().json_rpc().web_socket().http(http.connect().grpc().health());
    if options.is_null() {
        return Ok(builder.gateway(gateway(Http::new())));
    }
    // SAFETY: The caller guarantees that `options` is valid.
    let options = unsafe { &*options };
    check_reserved("frisbee_server_options", &options.reserved)?;
    // SAFETY: The caller guarantees that the texts are valid.
    let [certificate, key, clients] = unsafe {
        [
            optional_text("certificate", options.certificate)?,
            optional_text("key", options.key)?,
            optional_text("client_authorities", options.client_authorities)?,
        ]
    };
    if options.threads > 0 {
        builder = builder.workers(Workers::Threads(options.threads as usize));
    }
    if options.body_max > 0 {
        builder = builder.config(frpc::frisbee::Config::default().body_max(options.body_max));
    }
    if let Some(time) = milliseconds(options.shutdown_timeout_ms) {
        builder = builder.shutdown_timeout(time);
    }
    if !options.is_native_only {
        // SAFETY: The caller guarantees that the lists are valid.
        let (hosts, origins) = unsafe { (texts("hosts", options.hosts)?, texts("origins", options.origins)?) };
        let mut http = if origins.is_empty() { Http::new() } else { Http::new().cors() };
        http = hosts.into_iter().fold(http, Http::host);
        http = origins.into_iter().fold(http, Http::origin);
        builder = builder.gateway(gateway(http));
    }
    let refused = |error: TlsError| Status::invalid_argument(error.to_string());
    match (certificate, key) {
        (None, None) if clients.is_none() => Ok(builder),
        (Some(certificate), Some(key)) => {
            let identity = Identity::from_pem(certificate, key).map_err(refused)?;
            let tls = match clients {
                Some(clients) => ServerTls::mutual(identity, Authorities::from_pem(clients).map_err(refused)?),
                None => ServerTls::new(identity),
            };
            Ok(builder.tls(tls.map_err(refused)?))
        }
        _ => Err(Status::invalid_argument("TLS needs a certificate and its key: set both")),
    }
}

impl Building {
    /// Returns the method with this name.
    ///
    /// # Errors
    /// If no schema has the method, or several methods have the name.
    fn find(&self, name: &str) -> Result<Arc<Callable>, Status> {
        let mut found = None;
        for schema in &self.schemas {
            match schema.method_index(name.as_bytes()) {
                Ok(index) if found.is_none() => found = Some(schema.at(index).clone()),
                Err(status) if status.code() == Code::Unimplemented => {}
                _ => return Err(ambiguous(name)),
            }
        }
        let text = || format!("no schema of the server has a method {name}: add its schema before its function");
        found.ok_or_else(|| Status::not_found(text()))
    }

    /// Fails if the server has a service of this name. Its functions would otherwise serve methods of another schema.
    fn check_new(&self, service: &str) -> Result<(), Status> {
        let is_of_functions = !self.functions.is_empty() && self.service == service;
        if is_of_functions || self.schemas.iter().any(|schema| schema.has_service(service)) {
            let text = format!("the server has a service {service}: use another name, or frisbee_server_handle");
            return Err(Status::already_exists(text));
        }
        Ok(())
    }

    /// Creates the services that consist of all registered functions.
    fn services(mut self) -> Result<(ServerBuilder, watch::Sender<ServerOutcome>), Status> {
        let mut handlers = std::mem::take(&mut self.handlers);
        if !self.functions.is_empty() {
            let (signatures, functions): (Vec<_>, Vec<_>) = std::mem::take(&mut self.functions).into_iter().unzip();
            let text = proto(&self.service, &signatures);
            // Parse the generated schema last, so that its operation numbers do not collide with those of the other
            // schemas.
            let first = Schema::free_operation(&self.schemas);
            let schema = Schema::parse(&text, frisbee_codec::FRISBEE_CODEC_POLYGLOT, first)?;
            for (signature, function) in signatures.iter().zip(functions) {
                handlers.push((schema.at(schema.method_index(signature.name.as_bytes())?).clone(), function));
            }
        }
        let mut services: Vec<Functions> = Vec::new();
        for (callable, function) in handlers {
            let layout = callable.layout;
            match services.iter_mut().find(|service| std::ptr::eq(service.layout, layout)) {
                Some(service) => service.served.push((callable, function)),
                None => services.push(Functions { layout, served: vec![(callable, function)] }),
            }
        }
        let builder = services.into_iter().fold(self.builder, ServerBuilder::add_service);
        Ok((self.extensions.into_iter().fold(builder, |builder, extend| extend(builder)), self.ending))
    }
}

impl frisbee_server {
    fn building<T>(&self, change: impl FnOnce(&mut Building) -> Result<T, Status>) -> Result<T, Status> {
        match &mut *self.state.lock() {
            State::Building(building) => change(building),
            _ => Err(Status::failed_precondition(NOT_NEW)),
        }
    }

    /// Changes the builder of a server that has not started.
    pub(crate) fn extend(
        &self,
        extend: impl FnOnce(ServerBuilder) -> ServerBuilder + Send + 'static,
    ) -> Result<(), Status> {
        self.building(|building| {
            building.extensions.push(Box::new(extend));
            Ok(())
        })
    }

    fn start(&self, address: &str) -> Result<(), Status> {
        // Check before the state changes, so that the server can still be started.
        may_block()?;
        // Set the state to `Starting` before unlocking, so that a concurrent second start fails.
        let building = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, State::Starting) {
                State::Building(building) => building,
                other => {
                    *state = other;
                    return Err(Status::failed_precondition(NOT_NEW));
                }
            }
        };
        let (next, outcome) = match self.serve(*building, address) {
            Ok(stop) => (State::Serving(stop), Ok(())),
            Err(status) => (State::Stopped, Err(status)),
        };
        let mut state = self.state.lock();
        // If the state has changed, another thread has stopped or freed the server. Dropping `next` then ends it.
        if matches!(*state, State::Starting) {
            *state = next;
        }
        outcome
    }

    /// Binds the address and serves until the returned sender is dropped.
    fn serve(&self, building: Building, address: &str) -> Result<oneshot::Sender<()>, Status> {
        let (builder, ending) = building.services()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let until = async {
            let _ = stopped.await;
        };
        let running = self.running.clone();
        let ended = async move |served: Result<(), frpc::Error>| {
            // Publish the outcome only after the last function has returned, so that none runs after the end is
            // reported.
            running.end().await;
            ending.send_replace(Some(served.map_err(|error| error.to_string())));
        };
        let bound = match address.strip_prefix("unix:") {
            Some(path) => {
                let server = wait(builder.bind_unix(path))??;
                runtime::handle()?.spawn(async move { ended(server.serve_with_shutdown(until).await).await });
                address.to_owned()
            }
            None => {
                let server = wait(builder.bind(address))??;
                let bound = server.local_addr().to_string();
                runtime::handle()?.spawn(async move { ended(server.serve_with_shutdown(until).await).await });
                bound
            }
        };
        let _ = self.address.set(crate::raw::c_text(&bound)); // A server starts only once.
        Ok(stop)
    }

    /// Waits until the server has stopped serving.
    fn end(&self) -> Result<(), Status> {
        let mut ended = self.ended.clone();
        let outcome = wait_at_exit(async move {
            let outcome = ended.wait_for(Option::is_some).await;
            outcome.map_or(Ok(()), |outcome| outcome.clone().unwrap_or(Ok(())))
        })?;
        outcome.map_err(Status::internal)
    }
}

/// Creates a server, and stores its handle. The caller owns the server and must free it with `frisbee_server_free`.
///
/// `service` is the full name of the service for functions with signatures, such as `calc.Calculator`. The server has
/// reflection and health. Unless `is_native_only` is set, it accepts JSON-RPC over TCP, WebSocket and HTTP, Connect,
/// gRPC and gRPC-Web in addition to native calls. The texts and options are copied. Only `error` and `options` may be
/// NULL; without `options`, the defaults apply. May be called from any thread.
///
/// # Safety
/// `service` ends with a NUL, `options` is NULL or valid, `server` is writable, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_new(
    service: *const c_char,
    options: *const frisbee_server_options,
    server: *mut *mut frisbee_server,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded_put(error, "server", server, || {
            let (ending, ended) = watch::channel(None);
            let building = Building {
                builder: builder(options)?,
                ending,
                service: text("service", service)?.to_owned(),
                functions: Vec::new(),
                schemas: Vec::new(),
                handlers: Vec::new(),
                extensions: Vec::new(),
            };
            let state = Mutex::new(State::Building(Box::new(building)));
            let (address, running) = (std::sync::OnceLock::new(), Arc::default());
            handle::insert(Arc::new(frisbee_server { state, address, running, ended }))
        })
    }
}

/// Adds a function with a signature such as `sum(int64 a, int64 b) -> int64`. The server must not have started.
/// Signatures use the types of protobuf, with `optional` and `repeated`. Returns `FRISBEE_ALREADY_EXISTS` if the name
/// has a function, or a schema of the server declares the service named in `frisbee_server_new`.
///
/// The order of functions is part of the schema, so new functions must be added at the end. The signature is copied.
/// `user` stays with the caller and must be valid until the server has stopped. Only `user` and `error` may be NULL.
/// May be called from any thread.
///
/// # Safety
/// `signature` ends with a NUL, `error` is NULL or writable; `function` accepts `user` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_add(
    server: *mut frisbee_server,
    signature: *const c_char,
    function: frisbee_function,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let server = handle::get(server)?;
            let signature = Signature::parse(text("signature", signature)?)?;
            let function = Function::new(function, user, true, &server)?;
            server.building(|building| {
                if let Some((known, _)) =
                    building.functions.iter().find(|(known, _)| known.class() == signature.class())
                {
                    return Err(Status::already_exists(format!("{} has a function already", known.name)));
                }
                if building.functions.is_empty() {
                    building.check_new(&building.service)?;
                }
                Schema::check(&proto(&building.service, std::slice::from_ref(&signature)))?;
                building.functions.push((signature, function));
                Ok(())
            })
        })
    }
}

/// Adds the schema of further services from the text of a `.proto` file. The server must not have started. `codec` is a
/// value of `frisbee_codec`. `frisbee_server_handle` adds the functions that serve the methods. Returns
/// `FRISBEE_ALREADY_EXISTS` if the server has a service of the same name, from a schema or from signatures.
///
/// Methods of the first schema have operations from 10 on. Those of further schemas and of signatures start at the next
/// multiple of 100. Callers can discover the schema by reflection. The text is copied. Only `error` may be NULL. May be
/// called from any thread.
///
/// # Safety
/// `proto` ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_proto(
    server: *mut frisbee_server,
    proto: *const c_char,
    codec: i32,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let server = handle::get(server)?;
            let (proto, codec) = (text("proto", proto)?, frisbee_codec::new(codec)?);
            server.building(|building| {
                let first = Schema::free_operation(&building.schemas);
                let schema = Schema::parse(proto, codec, first)?;
                schema.methods.iter().try_for_each(|callable| building.check_new(&callable.service_name()))?;
                building.schemas.push(schema);
                Ok(())
            })
        })
    }
}

/// Adds the function that serves a method such as `greet.Greeter/Greet`. The schema of the method must have been added
/// with `frisbee_server_proto`, and the server must not have started.
///
/// The name is copied. `user` stays with the caller and must be valid until the server has stopped. Only `user` and
/// `error` may be NULL. May be called from any thread.
///
/// # Safety
/// `method` ends with a NUL, `error` is NULL or writable; `function` accepts `user` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_handle(
    server: *mut frisbee_server,
    method: *const c_char,
    function: frisbee_function,
    user: *mut c_void,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let server = handle::get(server)?;
            let (method, function) = (text("method", method)?, Function::new(function, user, false, &server)?);
            server.building(|building| {
                let callable = building.find(method)?;
                if building.handlers.iter().any(|(other, _)| Arc::ptr_eq(other, &callable)) {
                    return Err(Status::already_exists(format!("{method} has a function already")));
                }
                building.handlers.push((callable, function));
                Ok(())
            })
        })
    }
}

/// Binds `host:port` or `unix:/path`, and starts serving on threads of the library. The address is copied.
///
/// After an error, the server cannot be started again and must still be freed. Only `error` may be NULL. May be called
/// from any thread, but not in callbacks: there, it returns `FRISBEE_FAILED_PRECONDITION`, and the server can still be
/// started.
///
/// # Safety
/// `address` ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_start(
    server: *mut frisbee_server,
    address: *const c_char,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe { guarded(error, || handle::get(server)?.start(text("address", address)?)) }
}

/// Returns the bound address of the server, including its port. The text belongs to the server. Returns an empty text
/// before the server has started, and for NULL and freed servers. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_server_address(server: *mut frisbee_server) -> *const c_char {
    let address = caught(|| Ok(handle::get(server)?.address.get().map_or(c"".as_ptr(), |address| address.as_ptr())));
    address.unwrap_or(c"".as_ptr())
}

/// Binds an address like `frisbee_server_start`, and serves until the process receives SIGINT or SIGTERM or another
/// thread calls `frisbee_server_stop`. Returns after calls in flight have ended. The server stays with the caller.
///
/// The address is copied. Only `error` may be NULL, in which case the error text is printed to standard error. May be
/// called from any thread, but not in functions of servers or callbacks: there, it returns
/// `FRISBEE_FAILED_PRECONDITION`, and the server can still be started.
///
/// # Safety
/// `address` ends with a NUL, `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_run(
    server: *mut frisbee_server,
    address: *const c_char,
    error: *mut frisbee_error,
) -> frisbee_code {
    // SAFETY: The caller guarantees that the arguments are valid.
    unsafe {
        guarded(error, || {
            let shown = handle::get(server).and_then(|server| {
                // Check before the start, because a server that is running could not be stopped on this thread.
                may_stop()?;
                server.start(text("address", address)?)?;
                let mut ended = server.ended.clone();
                wait(async move {
                    tokio::select! {
                        _ = frpc::signal::terminate() => {}
                        _ = ended.wait_for(Option::is_some) => {}
                    }
                })?;
                stop(&server)
            });
            shown.inspect_err(|status| {
                // Print the text if the caller passed no `error` to receive it.
                if error.is_null() {
                    eprintln!("frisbee_server_run: {}", status.message());
                }
            })
        })
    }
}

/// Stops a server. New calls are rejected, and calls in flight may continue until the shutdown timeout. Returns when
/// the server has stopped and all its functions have returned, including those whose calls ended earlier. The server
/// stays with the caller and must still be freed. Only `error` may be NULL. May be called from any thread, including
/// functions of `atexit` and destructors at the end of the process, but not in functions of servers or completion
/// callbacks.
///
/// # Safety
/// `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn frisbee_server_stop(server: *mut frisbee_server, error: *mut frisbee_error) -> frisbee_code {
    // SAFETY: The caller guarantees that the argument is valid.
    unsafe { guarded(error, || stop(&*handle::get(server)?)) }
}

fn stop(server: &frisbee_server) -> Result<(), Status> {
    may_stop()?;
    // Take the state out, so that it is dropped without the lock. If the server is starting, the thread that starts it
    // also ends it.
    let state = std::mem::replace(&mut *server.state.lock(), State::Stopped);
    drop(state);
    server.end()
}

/// Frees a server. A running server stops asynchronously, so its functions may still use their `user` pointers; call
/// `frisbee_server_stop` first to wait for them. NULL is allowed. May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn frisbee_server_free(server: *mut frisbee_server) -> frisbee_code {
    if let Ok(server) = handle::get(server) {
        // Dropping the sender in the state starts the shutdown.
        *server.state.lock() = State::Stopped;
    }
    free(server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{ptr, thread};

    /// Regression test: `frisbee_server_stop` had no effect while another thread was binding the address, and the
    /// server continued to serve.
    #[test]
    fn server_stopped_during_start_ends() {
        let mut made = ptr::null_mut();
        // SAFETY: The arguments are valid.
        let code = unsafe { frisbee_server_new(c"t.Functions".as_ptr(), ptr::null(), &mut made, ptr::null_mut()) };
        assert_eq!(code, frisbee_code::FRISBEE_OK);
        let server = handle::get(made).unwrap();
        thread::scope(|threads| {
            let start = threads.spawn(|| server.start("127.0.0.1:0"));
            while matches!(*server.state.lock(), State::Building(_)) {
                thread::yield_now();
            }
            stop(&server).unwrap();
            start.join().unwrap().unwrap();
        });
        assert!(server.ended.borrow().is_some(), "server should have ended");
        assert_eq!(frisbee_server_free(made), frisbee_code::FRISBEE_OK);
    }
}
