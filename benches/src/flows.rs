//! The streaming calls of frpc and tonic with the same handlers: `down` sends the requested items, `up` counts, `both`
//! echoes. Also implemented by streams of frisbee without RPC, with plain texts as messages.

use crate::BoxError;
use crate::background::Bound;
use crate::proto::flows::{Count, Item, Want};
use std::net::SocketAddr;

/// The streaming calls of one rival. Each returns the number of echoed or counted bytes.
pub trait Flows: Clone + Send + Sync + Sized + 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// Serves on a free port of the loopback until dropped.
    fn serve(bound: Bound) -> impl Future<Output = Result<(), BoxError>>;

    /// Opens a connection.
    fn connect(address: SocketAddr) -> impl Future<Output = Result<Self, BoxError>> + Send;

    /// Requests `items` items from the server.
    fn stream_down(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;

    /// Streams `items` items to the server.
    fn stream_up(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;

    /// Streams `items` items to the server and reads them back at the same time.
    fn stream_both(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;

    /// Streams `items` items to the server, each when the previous one has returned.
    fn ping_pong(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;
}

/// Returns equal items.
fn items(count: u64, text: &str) -> impl Iterator<Item = Item> + Send + 'static {
    let item = Item { text: text.to_owned() };
    (0..count).map(move |_| item.clone())
}

impl Count {
    fn add(&mut self, item: &Item) {
        self.items += 1;
        self.bytes += item.text.len() as u64;
    }

    /// Returns the number of bytes, if the number of items is as requested.
    fn of(&self, items: u64) -> Result<u64, BoxError> {
        if self.items == items { Ok(self.bytes) } else { Err(format!("{} items of {items}", self.items).into()) }
    }
}

/// frpc's implementation.
pub mod ours {
    use super::*;
    use crate::proto::flows::{Flows as Service, FlowsClient, FlowsServer};
    use frpc::{Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming, Workers};

    /// The handlers. If `OVER`, each item is decoded into the previous one.
    struct Served<const OVER: bool>;

    impl<const OVER: bool> Service for Served<OVER> {
        async fn down(&self, request: Request<Want>) -> Result<Response<ResponseStream<Item>>, Status> {
            let Want { items: count, text } = request.into_inner();
            Ok(Response::new(ResponseStream::new(frpc::iter(items(count, &text).map(Ok)))))
        }

        async fn up(&self, request: Request<Streaming<Item>>) -> Result<Response<Count>, Status> {
            Ok(Response::new(count::<OVER>(request.into_inner()).await?))
        }

        async fn both(&self, request: Request<Streaming<Item>>) -> Result<Response<ResponseStream<Item>>, Status> {
            Ok(Response::new(ResponseStream::new(request.into_inner())))
        }
    }

    async fn count<const OVER: bool>(mut items: Streaming<Item>) -> Result<Count, Status> {
        let mut count = Count::default();
        if OVER {
            let mut item = Item::default();
            while items.message_over(&mut item).await? {
                count.add(&item);
            }
            return Ok(count);
        }
        while let Some(item) = items.message().await? {
            count.add(&item);
        }
        Ok(count)
    }

    /// Serves on a free port of the loopback until dropped.
    pub async fn serve(workers: Workers, bound: Bound) -> Result<(), BoxError> {
        serve_with::<false>(Server::builder().workers(workers), bound).await
    }

    /// Like [`serve`], with settings. If `OVER`, each item is decoded into the previous one.
    pub async fn serve_with<const OVER: bool>(server: ServerBuilder, bound: Bound) -> Result<(), BoxError> {
        let server = server.add_service(FlowsServer::new(Served::<OVER>)).bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    /// Like [`stream_down`](Flows::stream_down). If `OVER`, each item is decoded into the previous one.
    pub async fn stream_down<const OVER: bool>(client: &FlowsClient, items: u64, text: &str) -> Result<u64, BoxError> {
        let want = Want { items, text: text.to_owned() };
        count::<OVER>(client.down(want).await?.into_inner()).await?.of(items)
    }

    impl Flows for FlowsClient {
        const NAME: &'static str = "frpc-cores";

        async fn serve(bound: Bound) -> Result<(), BoxError> {
            serve(Workers::PerCore, bound).await
        }

        async fn connect(address: SocketAddr) -> Result<Self, BoxError> {
            Ok(Self::connect(address.to_string()).await?)
        }

        async fn stream_down(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            stream_down::<false>(self, items, text).await
        }

        async fn stream_up(&self, count: u64, text: &str) -> Result<u64, BoxError> {
            self.up(frpc::iter(items(count, text))).await?.into_inner().of(count)
        }

        async fn stream_both(&self, expected: u64, text: &str) -> Result<u64, BoxError> {
            let replies = self.both(frpc::iter(items(expected, text))).await?.into_inner();
            count::<false>(replies).await?.of(expected)
        }

        async fn ping_pong(&self, expected: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, requests) = frpc::RequestStream::channel(1);
            let mut replies = self.both(requests).await?.into_inner();
            let mut count = Count::default();
            for item in items(expected, text) {
                sender.send(item).await?;
                count.add(&replies.message().await?.ok_or("the stream has ended")?);
            }
            count.of(expected)
        }
    }
}

/// tonic's implementation.
#[cfg(feature = "tonic")]
pub mod tonics {
    use super::*;
    use crate::proto::flows::tonic::flows_client::FlowsClient;
    use crate::proto::flows::tonic::flows_server::{Flows as Service, FlowsServer};
    use crate::rivals::tonic::{endpoint, server};
    use std::pin::Pin;
    use tokio::net::TcpStream;
    use tonic::transport::Channel;
    use tonic::transport::server::TcpIncoming;
    use tonic::{Request, Response, Status, Streaming};

    struct Served;

    #[tonic::async_trait]
    impl Service for Served {
        type DownStream = frpc::Iter<Box<dyn Iterator<Item = Result<Item, Status>> + Send>>;
        type BothStream = Pin<Box<Streaming<Item>>>;

        async fn down(&self, request: Request<Want>) -> Result<Response<Self::DownStream>, Status> {
            let Want { items: count, text } = request.into_inner();
            let items: Box<dyn Iterator<Item = _> + Send> = Box::new(items(count, &text).map(Ok));
            Ok(Response::new(frpc::iter(items)))
        }

        async fn up(&self, request: Request<Streaming<Item>>) -> Result<Response<Count>, Status> {
            Ok(Response::new(count(request.into_inner()).await?))
        }

        async fn both(&self, request: Request<Streaming<Item>>) -> Result<Response<Self::BothStream>, Status> {
            Ok(Response::new(Box::pin(request.into_inner())))
        }
    }

    async fn count(mut items: Streaming<Item>) -> Result<Count, Status> {
        let mut count = Count::default();
        while let Some(item) = items.message().await? {
            count.add(&item);
        }
        Ok(count)
    }

    /// Serves these connections.
    pub async fn serve_with<S>(incoming: S) -> Result<(), BoxError>
    where
        S: futures_core::Stream<Item = std::io::Result<TcpStream>>,
    {
        Ok(server().serve_with_incoming(FlowsServer::new(Served), incoming).await?)
    }

    impl Flows for FlowsClient<Channel> {
        const NAME: &'static str = "tonic";

        async fn serve(bound: Bound) -> Result<(), BoxError> {
            let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?.with_nodelay(Some(true));
            bound.at(incoming.local_addr()?);
            serve_with(incoming).await
        }

        async fn connect(address: SocketAddr) -> Result<Self, BoxError> {
            Ok(Self::new(endpoint(address)?.connect().await?))
        }

        async fn stream_down(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let want = Want { items, text: text.to_owned() };
            count(self.clone().down(want).await?.into_inner()).await?.of(items)
        }

        async fn stream_up(&self, count: u64, text: &str) -> Result<u64, BoxError> {
            self.clone().up(frpc::iter(items(count, text))).await?.into_inner().of(count)
        }

        async fn stream_both(&self, expected: u64, text: &str) -> Result<u64, BoxError> {
            let replies = self.clone().both(frpc::iter(items(expected, text))).await?.into_inner();
            count(replies).await?.of(expected)
        }

        async fn ping_pong(&self, expected: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, requests) = frpc::RequestStream::channel(1);
            let mut replies = self.clone().both(requests).await?.into_inner();
            let mut count = Count::default();
            for item in items(expected, text) {
                sender.send(item).await?;
                count.add(&replies.message().await?.ok_or("the stream has ended")?);
            }
            count.of(expected)
        }
    }
}

/// Streams without calls. The first message contains the request.
pub mod bare {
    use super::*;
    use bytes::Bytes;
    use frisbee::{Client, Connection, Handlers, SendError, Server, Stream, StreamReceiver, StreamSender};

    /// A connection with streams of plain texts.
    #[derive(Clone)]
    pub struct Bare(Connection);

    /// The direction of a stream, in the first byte of its first message, before the number of items.
    const DOWN: u8 = 0;
    const UP: u8 = 1;
    const BOTH: u8 = 2;

    async fn serve(first: Bytes, stream: Stream) -> Result<(), SendError> {
        let Some((&[kind, a, b, c, d], text)) = first.split_first_chunk() else { return Ok(()) };
        let (sender, mut receiver) = stream.split();
        match kind {
            DOWN => send(&sender, u32::from_be_bytes([a, b, c, d]).into(), &Bytes::copy_from_slice(text)).await?,
            UP => {
                let mut bytes = 0;
                while let Some(message) = receiver.recv().await {
                    bytes += message.len() as u64;
                }
                sender.send(&Bytes::copy_from_slice(&bytes.to_be_bytes())).await?;
            }
            _ => {
                while let Some(message) = receiver.recv().await {
                    sender.send(&message).await?;
                }
            }
        }
        sender.end();
        Ok(())
    }

    async fn send(sender: &StreamSender, items: u64, text: &Bytes) -> Result<(), SendError> {
        for _ in 0..items {
            sender.send(text).await?;
        }
        Ok(())
    }

    async fn received(mut receiver: StreamReceiver, items: u64) -> Result<u64, BoxError> {
        let mut count = Count::default();
        while let Some(message) = receiver.recv().await {
            count.items += 1;
            count.bytes += message.len() as u64;
        }
        count.of(items)
    }

    impl Bare {
        async fn open(&self, kind: u8, items: u64, text: &str) -> Result<(StreamSender, StreamReceiver), BoxError> {
            let first = [&[kind], &u32::try_from(items)?.to_be_bytes()[..], text.as_bytes()].concat();
            Ok(self.0.open_stream(&first.into()).await?.split())
        }
    }

    impl Flows for Bare {
        const NAME: &'static str = "bare";

        async fn serve(bound: Bound) -> Result<(), BoxError> {
            let router = Handlers::new().on_stream(|first, stream| {
                let connection = stream.connection();
                connection.spawn(async move { drop(serve(first, stream).await) });
            });
            let server = Server::builder().workers(frisbee::Workers::PerCore).bind("127.0.0.1:0", router).await?;
            bound.at(server.local_addr());
            Ok(server.serve().await?)
        }

        async fn connect(address: SocketAddr) -> Result<Self, BoxError> {
            Ok(Self(Client::builder().connect(address, Handlers::new()).await?))
        }

        async fn stream_down(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, receiver) = self.open(DOWN, items, text).await?;
            sender.end();
            received(receiver, items).await
        }

        async fn stream_up(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, mut receiver) = self.open(UP, items, "").await?;
            send(&sender, items, &Bytes::copy_from_slice(text.as_bytes())).await?;
            sender.end();
            let bytes = receiver.recv().await.ok_or("the stream has ended")?;
            Ok(u64::from_be_bytes(bytes[..].try_into()?))
        }

        async fn stream_both(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, receiver) = self.open(BOTH, items, "").await?;
            let text = Bytes::copy_from_slice(text.as_bytes());
            self.0.spawn(async move {
                if send(&sender, items, &text).await.is_ok() {
                    sender.end();
                }
            });
            received(receiver, items).await
        }

        async fn ping_pong(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let (sender, mut receiver) = self.open(BOTH, items, "").await?;
            let text = Bytes::copy_from_slice(text.as_bytes());
            let mut bytes = 0;
            for _ in 0..items {
                sender.send(&text).await?;
                bytes += receiver.recv().await.ok_or("the stream has ended")?.len() as u64;
            }
            Ok(bytes)
        }
    }
}
