//! Tests how a server handles the bodies in the table of exceptions.

use crate::wire::exceptions::{Exception, Here, Part, exception};
use crate::wire::measured::{Decoding, corpus};
use frisbee_core::{BODY_MAX, Header, HeaderForm, Operation, PacketId};
use frpc::polyglot::Decoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Operation of the method `interop.Interop/Add`.
const ADD: u16 = 18;

#[tokio::test]
async fn requests_with_encoded_errors_get_error_replies() {
    let address = frisbee_tests::serve_interop().await;
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let operation = Operation::user(ADD).expect("operation number should be in the user range");
    let mut requested = 0;
    for Decoding { name, bytes, .. } in &corpus().decodings {
        let Some(Exception { here: Here::Failed(text), .. }) = exception(Part::Decodings, name) else { continue };
        requested += 1;
        let request = Header { id: PacketId(requested), operation, length: bytes.len() as u32 };
        socket.write_all(&request.encode(HeaderForm::Current)).await.expect("write should succeed");
        socket.write_all(bytes).await.expect("write should succeed");

        let mut header = [0; Header::MAX_LEN];
        socket.read_exact(&mut header).await.expect("peer should send the expected bytes");
        let reply = Header::decode(&header).expect("header should start with the magic number");
        assert_eq!((reply.id, reply.operation), (request.id, operation), "{name}");
        assert!(reply.length <= BODY_MAX, "{name}");
        let mut body = vec![0; reply.length as usize];
        socket.read_exact(&mut body).await.expect("peer should send the expected bytes");
        let answer = Decoder::new(&body).error_text().expect("body should be an error").to_owned();
        assert!(answer.ends_with(text), "{name}: {answer}");
    }
    assert_eq!(requested, 3);
}
