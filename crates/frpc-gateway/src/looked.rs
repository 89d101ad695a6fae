//! Counts the bytes that are looked at to find where messages and heads end, so that tests can see that each is looked at
//! a few times only, however the input is cut. In programs it does nothing.

/// So many bytes have been looked at.
#[inline(always)]
pub(crate) fn looked_at(bytes: usize) {
    #[cfg(test)]
    LOOKED.with(|looked| looked.set(looked.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

#[cfg(test)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::LOOKED;
    use crate::{Gateway, ServeGateway as _};
    use frpc::{Request, Response, ResponseStream, Server, Status, Workers};
    use samples::greet::{Greeter, GreeterServer, Greeting, Name};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    /// The length of an input that comes byte by byte. Each byte is a turn of the connection.
    const LENGTH: usize = 32 * 1024;

    /// How often a byte may be looked at: while it comes, as a plain request, and as one that is judged.
    const TIMES: usize = 5;

    struct Lengths;

    impl Greeter for Lengths {
        async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
            Ok(Response::new(Greeting { text: request.into_inner().name.len().to_string() }))
        }

        async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
            Err(Status::unimplemented("lengths only"))
        }
    }

    /// The first line that answers bytes which come one by one, and how many have been looked at. The clock stands still,
    /// since a slow machine would make them come too slowly.
    async fn bytewise(gateway: Gateway, input: &str) -> (String, usize) {
        let builder = Server::builder().workers(Workers::Caller).add_service(GreeterServer::new(Lengths));
        let server = builder.gateway(gateway).build().expect("the settings are right");
        let (here, there) = tokio::io::duplex(1);
        tokio::spawn(async move { server.serve_connection(there).await });
        let (reader, mut writer) = tokio::io::split(here);
        let before = LOOKED.get();
        let (written, line) = tokio::join!(writer.write_all(input.as_bytes()), async {
            BufReader::new(reader).lines().next_line().await.expect("it is open").unwrap_or_default()
        });
        written.expect("it is read");
        (line, LOOKED.get() - before)
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_comes_byte_by_byte_is_looked_at_a_few_times() {
        let name = "x".repeat(LENGTH);
        let plain =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"greet.Greeter/Greet","params":{{"name":"{name}"}}}}"#);
        let unusual = format!("[{plain}]");
        for message in [plain, unusual] {
            let (line, looked) = bytewise(Gateway::new().json_rpc(), &message).await;
            assert!(line.contains(&format!(r#"{{"text":"{LENGTH}"}}"#)), "{line}");
            assert!(looked >= LENGTH && looked <= TIMES * message.len(), "{looked} for {}", message.len());
        }
    }

    #[cfg(feature = "http")]
    #[tokio::test(start_paused = true)]
    async fn a_head_and_a_body_that_come_byte_by_byte_are_looked_at_a_few_times() {
        let gateway = || Gateway::new().json_rpc().http(crate::Http::new().connect());
        let body = format!(r#"{{"name":"{}"}}"#, "x".repeat(LENGTH));
        let field = "y".repeat(15 * 1024);
        let length = body.len();
        let request = format!(
            "POST /greet.Greeter/Greet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             x-field: {field}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let (line, looked) = bytewise(gateway(), &request).await;
        assert_eq!(line, "HTTP/1.1 200 OK");
        assert!(looked >= field.len() && looked <= TIMES * request.len(), "{looked} for {}", request.len());
    }
}
