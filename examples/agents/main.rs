//! A greeter and a small shop whose methods agents call as tools: `cargo run -p agents -- 127.0.0.1:8080`. Without an
//! address the program calls itself and exits.

use frpc::{Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, Mcp, ServeGateway as _};
use greet::{Greeter, GreeterServer, Greeting, Name};
use parking_lot::Mutex;
use shop::{Article, Cancelled, Order, Orders, OrdersServer, Placed, Query};
use std::collections::BTreeMap;
use std::env;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

/// Generated from `proto/orders.proto`.
mod shop {
    frpc::include_proto!("shop");
}

/// The products and their prices in cents.
const ARTICLES: [(&str, u32); 3] = [("green tea", 450), ("black tea", 380), ("cup", 900)];

/// Maximum number of stored orders.
const ORDERS_MAX: usize = 100;

struct Polite;

impl Greeter for Polite {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner().name;
        if name.is_empty() {
            return Err(Status::invalid_argument("the name is empty"));
        }
        Ok(Response::new(Greeting { text: format!("Hello, {name}!") }))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let name = request.into_inner().name;
        let verses = (1..=3).map(move |n| Ok(Greeting { text: format!("Hello {n}, {name}!") }));
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}

/// The orders by number.
#[derive(Default)]
struct Shop(Mutex<BTreeMap<u32, Order>>);

impl Orders for Shop {
    async fn articles(&self, request: Request<Query>) -> Result<Response<ResponseStream<Article>>, Status> {
        let part = request.into_inner().name;
        let found = ARTICLES.into_iter().filter(move |(name, _)| name.contains(&part));
        let articles = found.map(|(name, cents)| Ok(Article { name: name.to_owned(), cents }));
        Ok(Response::new(ResponseStream::new(frpc::iter(articles))))
    }

    async fn place(&self, request: Request<Order>) -> Result<Response<Placed>, Status> {
        let order = request.into_inner();
        if !ARTICLES.iter().any(|(name, _)| *name == order.article) {
            return Err(Status::not_found(format!("no article {:?}: see the list of articles", order.article)));
        }
        if order.count == 0 {
            return Err(Status::invalid_argument("count is 0: order at least one"));
        }
        let mut orders = self.0.lock();
        if orders.len() >= ORDERS_MAX {
            return Err(Status::resource_exhausted("too many orders: cancel one first"));
        }
        let number = orders.last_key_value().map_or(1, |(number, _)| number + 1);
        orders.insert(number, order);
        Ok(Response::new(Placed { number }))
    }

    async fn cancel(&self, request: Request<Placed>) -> Result<Response<Cancelled>, Status> {
        let mut orders = self.0.lock();
        orders.remove(&request.get_ref().number);
        Ok(Response::new(Cancelled { left: orders.len() as u32 }))
    }

    async fn clear(&self, _: Request<Query>) -> Result<Response<Cancelled>, Status> {
        self.0.lock().clear();
        Ok(Response::new(Cancelled { left: 0 }))
    }
}

/// Posts a message and returns the server's response.
async fn post(address: &str, message: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        message.len()
    );
    socket.write_all((head + message).as_bytes()).await?;
    let mut response = String::new();
    socket.read_to_string(&mut response).await?;
    Ok(response.rsplit("\r\n").next().unwrap_or_default().to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mcp = Mcp::new()
        .server("tea shop", "1.0")
        .instructions("Look up articles before you order. Ask the user before you place an order.")
        .method_as("greet.Greeter/Greet", "greet")
        .method_as("shop.Orders/Articles", "articles")
        .method_as("shop.Orders/Place", "place_order")
        .method_as("shop.Orders/Cancel", "cancel_order");
    let builder = Server::builder()
        .add_service(GreeterServer::new(Polite))
        .add_service(OrdersServer::new(Shop::default()))
        .gateway(Gateway::new().mcp(mcp));
    let Some(address) = env::args().nth(1) else {
        let server = builder.bind("127.0.0.1:0").await?;
        let address = server.local_addr().to_string();
        tokio::spawn(server.serve());
        let call = |name, arguments| {
            let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
        };
        println!("{}", post(&address, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await?);
        println!("{}", post(&address, &call("greet", r#"{"name":"Ada"}"#)).await?);
        println!("{}", post(&address, &call("articles", r#"{"name":"tea"}"#)).await?);
        println!("{}", post(&address, &call("place_order", r#"{"article":"cup","count":2}"#)).await?);
        println!("{}", post(&address, &call("place_order", r#"{"article":"coffee","count":1}"#)).await?);
        return Ok(());
    };
    let server = builder.bind(address).await?;
    println!("tools at http://{}/mcp", server.local_addr());
    server.serve().await?;
    Ok(())
}
