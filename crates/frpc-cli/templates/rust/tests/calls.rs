//! Calls over a connection on loopback.

use frpc::{Code, Server};
use greeter::Service;
use greeter::greet::{GreeterClient, GreeterServer, Name};

async fn client() -> Result<GreeterClient, frpc::Error> {
    let server = Server::builder().add_service(GreeterServer::new(Service)).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    GreeterClient::connect(address).await
}

#[tokio::test]
async fn greeting_contains_name() -> Result<(), Box<dyn std::error::Error>> {
    let reply = client().await?.greet(Name { name: "Ada".to_owned() }).await?;
    assert_eq!(reply.get_ref().text, "Hello, Ada!");
    Ok(())
}

#[tokio::test]
async fn empty_name_is_invalid() -> Result<(), Box<dyn std::error::Error>> {
    let status = client().await?.greet(Name::default()).await.expect_err("an empty name should be rejected");
    assert_eq!(status.code(), Code::InvalidArgument);
    Ok(())
}

#[tokio::test]
async fn verses_arrive_in_order() -> Result<(), Box<dyn std::error::Error>> {
    let mut verses = client().await?.recite(Name { name: "Ada".to_owned() }).await?.into_inner();
    for verse in 1..=3 {
        let message = verses.message().await?.expect("there should be three verses");
        assert_eq!(message.text, format!("Hello {verse}, Ada!"));
    }
    assert!(verses.message().await?.is_none());
    Ok(())
}
