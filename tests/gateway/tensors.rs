//! Tests of tensors and images through the gateway and between native peers.

use crate::gateway::greeter::{TIMEOUT, post, rest};
use frpc::tensor::{Image, Tensor};
use frpc::{Code, Request, Response, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::model::{Description, Model, ModelClient, ModelServer, Scaling};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// A service that scales a copy of a tensor, or returns the received tensor if the factor is zero.
struct Scale;

impl Model for Scale {
    async fn scale(&self, request: Request<Scaling>) -> Result<Response<Tensor>, Status> {
        let Scaling { tensor, factor } = request.into_inner();
        let tensor = tensor.ok_or_else(|| Status::invalid_argument("there is no tensor"))?;
        if factor == 0.0 {
            return Ok(Response::new(tensor));
        }
        let scaled: Vec<f32> = tensor.view::<f32>()?.iter().map(|element| element * factor as f32).collect();
        Ok(Response::new(Tensor::from_vec(tensor.shape, scaled)?))
    }

    async fn describe(&self, request: Request<Image>) -> Result<Response<Description>, Status> {
        let Image { media_type, data } = request.into_inner();
        Ok(Response::new(Description { text: format!("{} bytes of {media_type}", data.len()) }))
    }
}

/// Starts a server with a gateway and returns its address.
async fn serve() -> String {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect());
    let builder = Server::builder().add_service(ModelServer::new(Scale)).gateway(gateway);
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    address
}

/// Makes a Connect call. Returns whether it succeeded, and the body of the response.
async fn call(address: &str, method: &str, json: &str) -> (bool, String) {
    let mut socket = TcpStream::connect(address).await.expect("server should accept the connection");
    let request = post(&format!("/model.Model/{method}"), "connection: close\r\n", json);
    socket.write_all(request.as_bytes()).await.expect("write should succeed");
    let response =
        tokio::time::timeout(TIMEOUT, rest(&mut socket)).await.expect("read should complete within the timeout");
    let (head, body) = response.split_once("\r\n\r\n").expect("response should have a head");
    (head.starts_with("HTTP/1.1 200"), body.to_owned())
}

#[tokio::test]
async fn tensor_input_forms_share_one_output() {
    let address = serve().await;
    // The result of numpy.save for [[1, 2], [3, 4]] as float32.
    let tensor = Tensor::from_slice([2, 2], &[1.0_f32, 2.0, 3.0, 4.0]).expect("shape should match the elements");
    let mut npy = Vec::new();
    let file = bytes::Bytes::from(tensor.to_npy().expect("tensor should have a NumPy form"));
    frpc::json::to_json(&file, &mut npy).expect("bytes should have a JSON form");
    let npy = String::from_utf8(npy).expect("bytes should be UTF-8");
    for tensor in [
        r#"{"dtype":"float32","data":[[1,2],[3,4]]}"#,
        r#"{"dtype":"<f4","shape":[2,2],"data":"AACAPwAAAEAAAEBAAACAQA=="}"#,
        &npy,
    ] {
        let expected = r#"{"dtype":"float32","shape":[2,2],"data":"AAAAQAAAgEAAAMBAAAAAQQ=="}"#;
        let response = call(&address, "Scale", &format!(r#"{{"tensor":{tensor},"factor":2}}"#)).await;
        assert_eq!(response, (true, expected.to_owned()), "{tensor}");
    }
    for (tensor, reason) in [
        (r#"{"dtype":"float32","shape":[3],"data":"AACAPw=="}"#, "the tensor takes 12 bytes"),
        (r#"{"dtype":"object","shape":[1],"data":"AACAPwAAAEA="}"#, "unsupported dtype"),
        (r#"[[1],2]"#, "lists at the same depth have different shapes"),
        // An error that the handler returns because of the caller's argument.
        (r#"[1,2]"#, "the tensor has elements of int64, not float32"),
    ] {
        let (is_ok, body) = call(&address, "Scale", &format!(r#"{{"tensor":{tensor},"factor":2}}"#)).await;
        assert!(!is_ok && body.contains("invalid_argument") && body.contains(reason), "{tensor}: {body}");
    }
}

#[tokio::test]
async fn image_accepts_data_url_or_object() {
    let address = serve().await;
    for image in [r#""data:image/png;base64,iVBORw==""#, r#"{"mediaType":"image/png","data":"iVBORw=="}"#] {
        let response = call(&address, "Describe", image).await;
        assert_eq!(response, (true, r#"{"text":"4 bytes of image/png"}"#.to_owned()));
    }
}

#[tokio::test]
async fn native_tensor_passes_unless_shape_is_forged() {
    let client = ModelClient::connect(serve().await).await.expect("server should accept the connection");
    let numbers: Vec<f32> = (0_u16..30_000).map(f32::from).collect();
    let tensor = Tensor::from_vec([100, 300], numbers.clone()).expect("shape should match the elements");
    for factor in [0.0, 1.0] {
        let scaled =
            client.scale(Scaling { tensor: Some(tensor.clone()), factor }).await.expect("tensor should be scaled");
        assert_eq!(*scaled.get_ref().view::<f32>().expect("elements should match the type"), numbers);
    }
    let forged = Tensor { shape: vec![u32::MAX; 64], ..tensor };
    let error =
        client.scale(Scaling { tensor: Some(forged), factor: 1.0 }).await.expect_err("request should be rejected");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("larger than any memory"), "{}", error.message());
}
