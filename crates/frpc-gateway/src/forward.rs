//! Services that forward their calls to another server, which is thus available through every protocol of a gateway.
//!
//! This module contains the services and their methods. `forward/message.rs` converts messages between encodings,
//! `forward/requests.rs` contains the streams of a call, and `forward/backend.rs` makes the calls to the backend.
//!
//! # Decisions
//!
//! Messages are not decoded if both sides use the same encoding: a native body is forwarded unchanged to a native
//! backend, and a protobuf body to a gRPC backend. Only other combinations require a conversion by descriptors.

mod backend;
mod fields;
mod message;
mod requests;

use backend::Backend;
use frpc::codegen::{Format, Layout, Lifecycle, Method, Methods, Schema, Service};
use frpc::{Channel, Request, Response, ResponseStream, Status};
use frpc_dynamic::Codec;
use frpc_dynamic::layout::json_names;
use frpc_dynamic::prost_reflect::MethodDescriptor;
use message::{MessageEncoding, MessageType, RawMessage};
use std::fmt;
use std::sync::Arc;

pub use fields::ForwardFields;

/// A backend that calls are forwarded to. [`service`](Self::service) creates its services, which are added to the
/// server of a gateway.
///
/// Deadlines, metadata, traces and cancellation of a call are forwarded to the backend. The backend's metadata, status
/// and details are returned to the caller. Backpressure applies end to end. If the backend is unreachable, calls fail
/// with [`Unavailable`](frpc::Code::Unavailable) and a message that contains its address.
///
/// ```
/// # use frpc::codegen::{Layout, Method};
/// # use frpc::{Channel, Server};
/// # use frpc_dynamic::DescriptorPool;
/// # use frpc_gateway::{Forward, Gateway, Http, ServeGateway as _};
/// # fn example(pool: &DescriptorPool) -> Result<(), Box<dyn std::error::Error>> {
/// // frpc-build computes layouts, and the command `frpc gateway` does all of this.
/// static LAYOUT: Layout = Layout::new("greet.Greeter", &[10], 0x0f12_8a4c_53d6_90be, b"", "");
/// static GREET: Method = Method::new(&LAYOUT, "Greet", 10);
///
/// let forward = Forward::to([Channel::builder().connect_lazy("10.0.0.7:8192")?]);
/// let methods: Vec<_> = pool.services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect();
/// let server = Server::builder()
///     .add_service(forward.service(&LAYOUT, None, methods.into_iter().map(|method| (method, &GREET))))
///     .gateway(Gateway::new().json_rpc().http(Http::new().connect().grpc()));
/// # Ok(())
/// # }
/// ```
///
/// Header fields are forwarded as described for [`ForwardFields`].
#[derive(Clone, Debug)]
pub struct Forward {
    backend: Arc<Backend>,
    fields: Arc<ForwardFields>,
}

/// Makes the server ready only while its backend is available.
impl Lifecycle for Backend {
    fn is_ready(&self) -> bool {
        self.is_ready()
    }
}

impl Forward {
    /// Forwards calls to a native, Go or gRPC server, using these channels in turn. A call on a disconnected channel
    /// waits for it to reconnect, for up to [`reconnect_timeout`](frpc::ChannelBuilder::reconnect_timeout).
    ///
    /// On each channel, callers from one address may use at most half of the calls and streams that others leave free,
    /// and less while several addresses use many. Further calls fail with
    /// [`ResourceExhausted`](frpc::Code::ResourceExhausted). A channel to a gRPC server, such as
    /// `grpc://10.0.0.7:50051`, has up to four connections, and the limit applies to each of them.
    ///
    /// # Panics
    /// If `channels` is empty.
    pub fn to(channels: impl IntoIterator<Item = Channel>) -> Self {
        Self { backend: Arc::new(Backend::new(channels.into_iter().collect())), fields: Arc::default() }
    }

    /// Sets the header rules for services that are created afterwards.
    #[must_use]
    pub fn fields(mut self, fields: ForwardFields) -> Self {
        self.fields = Arc::new(fields);
        self
    }

    /// Returns whether a connection to the backend is open. gRPC backends always count as ready, because their
    /// connections are opened on demand.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.backend.is_ready()
    }

    /// Creates a service with this wire layout. Its `schema` is available through reflection. Methods that are not
    /// listed cannot be called.
    pub fn service(
        &self,
        layout: &'static Layout,
        schema: Option<&'static Schema>,
        methods: impl IntoIterator<Item = (MethodDescriptor, &'static Method)>,
    ) -> ForwardService {
        // Limit the memory of a conversion, because a message may take many times the memory of its encoding. The
        // server limits only the size of bodies.
        let codec = Arc::new(Codec::new().with_memory_max(CONVERSION_MEMORY_MAX));
        let methods = methods.into_iter().map(|(descriptor, method)| {
            let request = MessageType::new(descriptor.input(), &codec);
            let reply = MessageType::new(descriptor.output(), &codec);
            let (backend, fields) = (self.backend.clone(), self.fields.clone());
            Arc::new(ForwardedMethod { backend, fields, method, descriptor, request, reply })
        });
        ForwardService { backend: self.backend.clone(), layout, schema, methods: methods.collect() }
    }
}

/// Maximum memory in bytes that the conversion of one message may take. Several workers may convert messages
/// concurrently.
const CONVERSION_MEMORY_MAX: usize = 64 << 20;

/// A service that forwards its calls to the backend of a [`Forward`].
#[derive(Clone)]
pub struct ForwardService {
    backend: Arc<Backend>,
    layout: &'static Layout,
    schema: Option<&'static Schema>,
    methods: Vec<Arc<ForwardedMethod>>,
}

/// A method of a forwarded service, with its message types and the backend that implements it.
struct ForwardedMethod {
    backend: Arc<Backend>,
    fields: Arc<ForwardFields>,
    method: &'static Method,
    descriptor: MethodDescriptor,
    request: Arc<MessageType>,
    reply: Arc<MessageType>,
}

impl Service for ForwardService {
    const NAME: &'static str = "forwarded";

    fn methods(&self) -> Methods {
        let mut all = Methods::new(&Arc::new(()), self.layout);
        for forwarded in &self.methods {
            let (method, descriptor) = (*forwarded.method, &forwarded.descriptor);
            let to = forwarded.clone();
            all = match (descriptor.is_client_streaming(), descriptor.is_server_streaming()) {
                (false, false) => all.unary(method, move |_, request| call(to.clone(), request, backend::unary)),
                (false, true) => {
                    all.server_streaming(method, move |_, request| call(to.clone(), request, backend::server_streaming))
                }
                (true, false) => {
                    all.client_streaming(method, move |_, request| call(to.clone(), request, backend::client_streaming))
                }
                (true, true) => all.streaming(method, move |_, request| call(to.clone(), request, backend::streaming)),
            };
            // Leak the names, because methods have `'static` names as in generated code. Layouts are never freed
            // either.
            let messages = [descriptor.input(), descriptor.output()];
            let messages = messages.map(|message| &*message.full_name().to_owned().leak());
            let names: Vec<_> = json_names(&descriptor.input()).into_iter().map(|name| &*name.leak()).collect();
            all = all.messages(messages).format(json_format().fields(names.leak())).format(protobuf_format());
        }
        let all = if let Some(schema) = self.schema { all.schema(schema) } else { all };
        all.done().lifecycle(self.backend.clone())
    }
}

fn json_format() -> Format<RawMessage, RawMessage> {
    let encode = |message: &RawMessage, _: &_| message.to_json();
    Format::new("json", |bytes, _| Ok(RawMessage::received(MessageEncoding::Json, bytes)), encode)
        .positional("json-positional", |bytes, _| Ok(RawMessage::received(MessageEncoding::Positional, bytes)))
}

fn protobuf_format() -> Format<RawMessage, RawMessage> {
    let decode = |bytes: &_, _: &_| Ok(RawMessage::received(MessageEncoding::Protobuf, bytes));
    Format::new("proto", decode, |message: &RawMessage, _| message.to_protobuf())
}

type Reply = Result<Response<RawMessage>, Status>;
type StreamResult = Result<Response<ResponseStream<RawMessage>>, Status>;

/// Makes a call by a function of `backend`, and applies the header rules to its request and its reply.
async fn call<T, R, F>(
    method: Arc<ForwardedMethod>,
    request: Request<T>,
    make: fn(Arc<ForwardedMethod>, Request<T>) -> F,
) -> Result<Response<R>, Status>
where
    F: Future<Output = Result<Response<R>, Status>>,
{
    let request = method.fields.adapt(request)?;
    let reply = make(method.clone(), request).await;
    method.fields.adapt_reply(reply)
}

impl fmt::Debug for ForwardService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.methods.iter().map(|forwarded| forwarded.method)).finish()
    }
}
