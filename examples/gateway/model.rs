//! Tensors and images: a native caller sends raw bytes, and a JSON caller sends lists, base64 or a `.npy` file.
//!
//! `cargo run -p gateway --bin model -- 127.0.0.1:8080`, and in another terminal `curl -H 'content-type:
//! application/json' -d '{"tensor": {"dtype": "float32", "data": [[1, 2], [3, 4]]}, "factor": 2}'
//! localhost:8080/model.Model/Scale`; `docs/tensors.md` shows the same with Python. Without an address it calls itself
//! and exits.

use frpc::tensor::{Image, Tensor};
use frpc::{Request, Response, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway};
use model::{Description, Model, ModelClient, ModelServer, Scaling};
use std::env;

/// Generated from `proto/model.proto`.
mod model {
    frpc::include_proto!("model");
}

struct Doubler;

impl Model for Doubler {
    async fn scale(&self, request: Request<Scaling>) -> Result<Response<Tensor>, Status> {
        let Scaling { tensor, factor } = request.into_inner();
        let tensor = tensor.ok_or_else(|| Status::invalid_argument("there is no tensor"))?;
        // Checks that the data matches the tensor's type and shape. Errors are the caller's fault.
        let scaled: Vec<f32> = tensor.view::<f32>()?.iter().map(|element| element * factor as f32).collect();
        Ok(Response::new(Tensor::from_vec(tensor.shape, scaled)?))
    }

    async fn describe(&self, request: Request<Image>) -> Result<Response<Description>, Status> {
        let Image { media_type, data } = request.into_inner();
        Ok(Response::new(Description { text: format!("{} bytes of {media_type:?}", data.len()) }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect());
    let builder = Server::builder().add_service(ModelServer::new(Doubler)).gateway(gateway);
    let Some(address) = env::args().nth(1) else {
        let server = builder.bind("127.0.0.1:0").await?;
        let client = ModelClient::connect(server.local_addr().to_string()).await?;
        tokio::spawn(server.serve());
        let tensor = Tensor::from_vec([2, 2], vec![1.0_f32, 2.0, 3.0, 4.0])?;
        let scaled = client.scale(Scaling { tensor: Some(tensor), factor: 2.0 }).await?.into_inner();
        println!("{scaled:?}: {:?}", scaled.view::<f32>()?);
        return Ok(());
    };
    let server = builder.bind(address).await?;
    println!("a model on {}; ^C stops", server.local_addr());
    let stop = async { tokio::signal::ctrl_c().await.unwrap_or(()) };
    Ok(server.serve_with_shutdown(stop).await?)
}
