//! The streaming calls, ours and tonic's, with the same handlers: `down` sends what it is asked for, `up` counts,
//! `both` sends back.

use crate::BoxError;
use crate::background::Bound;
use crate::proto::flows::{Count, Item, Want};
use std::net::SocketAddr;

/// The streaming calls of one rival. Each gives the number of bytes that came back, or that the server counted.
pub trait Flows: Clone + Send + Sync + Sized + 'static {
    /// How it is called in results.
    const NAME: &'static str;

    /// Serves on a free port of the loopback until dropped.
    fn serve(bound: Bound) -> impl Future<Output = Result<(), BoxError>>;

    /// Opens a connection.
    fn connect(address: SocketAddr) -> impl Future<Output = Result<Self, BoxError>> + Send;

    /// Has `items` items streamed to here.
    fn stream_down(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;

    /// Streams `items` items to the server.
    fn stream_up(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;

    /// Streams `items` items to the server and reads them back at the same time.
    fn stream_both(&self, items: u64, text: &str) -> impl Future<Output = Result<u64, BoxError>> + Send;
}

/// As many equal items.
fn items(count: u64, text: &str) -> impl Iterator<Item = Item> + Send + 'static {
    let item = Item { text: text.to_owned() };
    (0..count).map(move |_| item.clone())
}

impl Count {
    fn add(&mut self, item: &Item) {
        self.items += 1;
        self.bytes += item.text.len() as u64;
    }

    /// The bytes, if there are as many items as were asked for.
    fn of(&self, items: u64) -> Result<u64, BoxError> {
        if self.items == items { Ok(self.bytes) } else { Err(format!("{} items of {items}", self.items).into()) }
    }
}

/// Ours.
pub mod ours {
    use super::*;
    use crate::proto::flows::{Flows as Service, FlowsClient, FlowsServer};
    use frpc::{Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming, Workers};

    struct Served;

    impl Service for Served {
        async fn down(&self, request: Request<Want>) -> Result<Response<ResponseStream<Item>>, Status> {
            let Want { items: count, text } = request.into_inner();
            Ok(Response::new(ResponseStream::new(frpc::iter(items(count, &text).map(Ok)))))
        }

        async fn up(&self, request: Request<Streaming<Item>>) -> Result<Response<Count>, Status> {
            let mut items = request.into_inner();
            let mut count = Count::default();
            while let Some(item) = items.message().await? {
                count.add(&item);
            }
            Ok(Response::new(count))
        }

        async fn both(&self, request: Request<Streaming<Item>>) -> Result<Response<ResponseStream<Item>>, Status> {
            Ok(Response::new(ResponseStream::new(request.into_inner())))
        }
    }

    async fn count(mut items: Streaming<Item>) -> Result<Count, Status> {
        let mut count = Count::default();
        while let Some(item) = items.message().await? {
            count.add(&item);
        }
        Ok(count)
    }

    /// Serves on a free port of the loopback until dropped.
    pub async fn serve(workers: Workers, bound: Bound) -> Result<(), BoxError> {
        serve_with(Server::builder().workers(workers), bound).await
    }

    /// As [`serve`], with settings.
    pub async fn serve_with(server: ServerBuilder, bound: Bound) -> Result<(), BoxError> {
        let server = server.add_service(FlowsServer::new(Served)).bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    impl Flows for FlowsClient {
        const NAME: &'static str = "frpc";

        async fn serve(bound: Bound) -> Result<(), BoxError> {
            serve(Workers::PerCore, bound).await
        }

        async fn connect(address: SocketAddr) -> Result<Self, BoxError> {
            Ok(Self::connect(address.to_string()).await?)
        }

        async fn stream_down(&self, items: u64, text: &str) -> Result<u64, BoxError> {
            let want = Want { items, text: text.to_owned() };
            count(self.down(want).await?.into_inner()).await?.of(items)
        }

        async fn stream_up(&self, count: u64, text: &str) -> Result<u64, BoxError> {
            self.up(frpc::iter(items(count, text))).await?.into_inner().of(count)
        }

        async fn stream_both(&self, expected: u64, text: &str) -> Result<u64, BoxError> {
            let replies = self.both(frpc::iter(items(expected, text))).await?.into_inner();
            count(replies).await?.of(expected)
        }
    }
}

/// tonic's.
pub mod tonics {
    use super::*;
    use crate::proto::flows::tonic::flows_client::FlowsClient;
    use crate::proto::flows::tonic::flows_server::{Flows as Service, FlowsServer};
    use crate::rivals::tonic::{endpoint, server};
    use std::pin::Pin;
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

    impl Flows for FlowsClient<Channel> {
        const NAME: &'static str = "tonic";

        async fn serve(bound: Bound) -> Result<(), BoxError> {
            let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?.with_nodelay(Some(true));
            bound.at(incoming.local_addr()?);
            Ok(server().add_service(FlowsServer::new(Served)).serve_with_incoming(incoming).await?)
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
    }
}
