//! The client: `cargo run --bin client -- [ADDRESS]`.

use greeter::greet::{GreeterClient, Name};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let client = GreeterClient::connect(address).await?;
    let greeting = client.greet(Name { name: "Ada".to_owned() }).await?.into_inner();
    println!("{}", greeting.text);
    let mut verses = client.recite(Name { name: "Ada".to_owned() }).await?.into_inner();
    while let Some(verse) = verses.message().await? {
        println!("{}", verse.text);
    }
    Ok(())
}
