//! C functions as the handlers of methods.

use super::{frisbee_function, frisbee_server};
use crate::call::{Sink, frisbee_call};
use crate::handle;
use crate::payload::{Payload, json_format, protobuf_format};
use crate::raw::{UserData, caught};
use crate::running::RunningFunctions;
use crate::runtime::{BLOCKING_MAX, ServedConnection, in_function};
use crate::schema::Callable;
use frpc::codegen::{Layout, Methods, MethodsBuilder, Service, ServiceHandle};
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use std::ffi::c_void;
use std::sync::Arc;
use tokio::sync::{Semaphore, oneshot};

/// Number of buffered messages of a reply stream.
const MESSAGES_AHEAD: usize = 16;

/// A C function that serves a method.
#[derive(Clone)]
pub(super) struct Function {
    run: extern "C" fn(*mut frisbee_call, *mut c_void),
    user: UserData,
    running: Arc<RunningFunctions>,
    /// Whether the function was registered with a signature and reads its parameters by type.
    is_typed: bool,
}

/// Functions that serve the methods of one service.
pub(super) struct Functions {
    pub(super) layout: &'static Layout,
    pub(super) served: Vec<(Arc<Callable>, Function)>,
}

impl Service for Functions {
    const NAME: &'static str = "functions";

    fn methods(&self) -> Methods {
        let mut builder = Methods::new(&Arc::new(()), self.layout);
        for (callable, function) in &self.served {
            builder = add(builder, callable.clone(), function.clone())
                .messages([callable.request.static_name(), callable.reply.static_name()])
                .format(json_format(callable.request.fields()))
                .format(protobuf_format())
                .schema(callable.embedded());
        }
        builder.done()
    }
}

/// Adds the method that a C function serves.
fn add(builder: MethodsBuilder<()>, callable: Arc<Callable>, function: Function) -> MethodsBuilder<()> {
    type One = Request<Payload>;
    type Many = Request<Streaming<Payload>>;
    let method = *callable.method;
    match (callable.takes_stream, callable.returns_stream) {
        (false, false) => builder.unary(method, move |_: ServiceHandle<()>, request: One| {
            let (sink, reply) = oneshot::channel();
            let call = frisbee_call::new(callable.clone(), request, Sink::Single(sink));
            let connection = call.connection;
            replied(function.run(call, Some(connection)), reply)
        }),
        (false, true) => builder.server_streaming(method, move |_: ServiceHandle<()>, request: One| {
            let (sink, replies) = ResponseStream::channel(MESSAGES_AHEAD);
            function.clone().stream(frisbee_call::new(callable.clone(), request, Sink::Stream(sink)), replies)
        }),
        (true, false) => builder.client_streaming(method, move |_: ServiceHandle<()>, request: Many| {
            let (sink, reply) = oneshot::channel();
            let spawned =
                function.clone().spawn(frisbee_call::streaming(callable.clone(), request, Sink::Single(sink)));
            async move {
                spawned.await;
                replied(Ok(()), reply).await
            }
        }),
        (true, true) => builder.streaming(method, move |_: ServiceHandle<()>, request: Many| {
            let (sink, replies) = ResponseStream::channel(MESSAGES_AHEAD);
            function.clone().stream(frisbee_call::streaming(callable.clone(), request, Sink::Stream(sink)), replies)
        }),
    }
}

async fn replied(
    ran: Result<(), Status>,
    reply: oneshot::Receiver<Result<Response<Payload>, Status>>,
) -> Result<Response<Payload>, Status> {
    ran?;
    reply.await.unwrap_or_else(|_| Err(Status::internal("the function has dropped the call")))
}

impl Function {
    pub(super) fn new(
        function: frisbee_function,
        user: *mut c_void,
        is_typed: bool,
        server: &frisbee_server,
    ) -> Result<Self, Status> {
        let run = function.ok_or_else(|| Status::invalid_argument("the function is NULL"))?;
        Ok(Self { run, user: UserData(user), running: server.running.clone(), is_typed })
    }

    /// Runs the function. `held_up` is the connection whose thread it occupies, if it has no thread of its own.
    fn run(&self, call: Arc<frisbee_call>, held_up: Option<ServedConnection>) -> Result<(), Status> {
        call.check(self.is_typed)?;
        let stopped = || Status::unavailable("the server has stopped");
        let _running = self.running.begin().ok_or_else(stopped)?;
        let call = handle::insert(call)?;
        in_function(held_up, || (self.run)(call, self.user.get()));
        Ok(())
    }

    /// Waits for a thread on which the function may block, and runs the function there. The function receives the call
    /// only once the thread is available, so a call that ends before does not run.
    async fn spawn(self, call: Arc<frisbee_call>) {
        static FREE: Semaphore = Semaphore::const_new(BLOCKING_MAX);
        let taken = FREE.acquire().await;
        tokio::task::spawn_blocking(move || {
            let refused = caught(|| self.run(call.clone(), None)).err();
            if let Some(status) = refused {
                call.refuse(status);
            }
            // Release the permit only after the function has returned: a cancelled call leaves it running on its
            // thread.
            drop(taken);
        });
    }

    /// Like [`spawn`](Self::spawn), for a function that sends `replies`.
    async fn stream(
        self,
        call: Arc<frisbee_call>,
        replies: ResponseStream<Payload>,
    ) -> Result<Response<ResponseStream<Payload>>, Status> {
        self.spawn(call).await;
        Ok(Response::new(replies))
    }
}
