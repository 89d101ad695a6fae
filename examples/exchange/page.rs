//! A minimal HTTP server for the page's files: four paths and nothing else.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Maximum length of a request in bytes, and its timeout.
const HEAD_MAX: usize = 8192;
const TIMEOUT: Duration = Duration::from_secs(5);

const HTML: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");

/// The listener for the page.
pub(crate) struct Page(TcpListener, SocketAddr);

/// Listens for browsers.
pub(crate) async fn listen(address: &str) -> io::Result<Page> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(Page(listener, address))
}

impl Page {
    /// Returns the address of the listener.
    pub(crate) fn address(&self) -> SocketAddr {
        self.1
    }

    /// Returns the possible origins of the page.
    pub(crate) fn origins(&self) -> Vec<String> {
        vec![format!("http://{}", self.1), format!("http://localhost:{}", self.1.port())]
    }

    /// Serves the page of a market, one browser at a time with a short timeout.
    pub(crate) async fn serve(self, market: SocketAddr) {
        while let Ok((socket, _)) = self.0.accept().await {
            tokio::spawn(async move { tokio::time::timeout(TIMEOUT, answer(socket, market)).await });
        }
    }
}

async fn answer(mut socket: TcpStream, market: SocketAddr) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        if head.len() > HEAD_MAX || socket.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let port = market.port();
    let page = HTML.replace("{port}", &port.to_string());
    let (status, kind, body) = match head.split(' ').nth(1) {
        Some("/") => ("200 OK", "text/html", page.as_str()),
        Some("/page.js") => ("200 OK", "text/javascript", SCRIPT),
        Some("/page.css") => ("200 OK", "text/css", STYLE),
        _ => ("404 Not Found", "text/plain", "there is no such page\n"),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\n\
         content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
         connect-src ws://127.0.0.1:{port} ws://localhost:{port}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body.as_bytes()).await?;
    socket.shutdown().await
}
