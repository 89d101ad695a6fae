//! Client and server for gRPC's interop cases, run by `.ci/grpc`:
//! <https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md>.
//!
//! `grpc-interop serve` prints its address and serves until it is killed. `grpc-interop call ADDRESS CASE…` makes the
//! calls of these cases and prints a line for each.

#[allow(missing_docs, unreachable_pub, clippy::all, dead_code)]
mod proto {
    frpc::include_proto!("grpc.testing");
}

use frpc::{Code, LateTrailers, Metadata, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Gateway, Http, ServeGateway as _, Trailers};
use proto::{
    EchoStatus, Empty, Payload, ResponseParameters, SimpleRequest, SimpleResponse, StreamingInputCallRequest,
    StreamingInputCallResponse, StreamingOutputCallRequest, StreamingOutputCallResponse, TestService,
    TestServiceClient, TestServiceServer, UnimplementedServiceClient,
};
use std::error::Error;
use std::time::Duration;

const INITIAL: &str = "x-grpc-test-echo-initial";
const TRAILING: &str = "x-grpc-test-echo-trailing-bin";

/// Sizes of the messages of the streaming cases.
const REQUESTS: [i32; 4] = [27_182, 8, 1_828, 45_904];
const REPLIES: [i32; 4] = [31_415, 9, 2_653, 58_979];

fn payload(size: i32) -> Option<Payload> {
    Some(Payload { body: vec![0; usize::try_from(size).unwrap_or_default()], ..Payload::default() })
}

fn length(payload: Option<&Payload>) -> i32 {
    payload.map_or(0, |payload| i32::try_from(payload.body.len()).unwrap_or(i32::MAX))
}

struct Interop;

/// Fails with the status that the request asks for, if any.
fn check(wanted: Option<EchoStatus>) -> Result<(), Status> {
    match wanted {
        Some(EchoStatus { code, message }) if code != 0 => Err(Status::new(Code::from_i32(code), message)),
        _ => Ok(()),
    }
}

/// Returns a response that echoes the required entries of the request's metadata.
fn echo<T>(metadata: &Metadata, message: T) -> Result<Response<T>, Status> {
    let invalid = |error: frpc::MetadataError| Status::invalid_argument(error.to_string());
    let mut response = Response::new(message);
    if let Some(initial) = metadata.get(INITIAL) {
        response.metadata_mut().insert(INITIAL, initial).map_err(invalid)?;
    }
    if let Some(trailing) = metadata.get_bin(TRAILING) {
        let mut trailers = Metadata::new();
        trailers.insert_bin(TRAILING, trailing).map_err(invalid)?;
        response.extensions_mut().insert(Trailers(trailers));
    }
    Ok(response)
}

impl TestService for Interop {
    async fn empty_call(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Ok(Response::new(Empty {}))
    }

    async fn unary_call(&self, request: Request<SimpleRequest>) -> Result<Response<SimpleResponse>, Status> {
        check(request.get_ref().response_status.clone())?;
        echo(request.metadata(), SimpleResponse { payload: payload(request.get_ref().response_size) })
    }

    async fn streaming_output_call(
        &self,
        request: Request<StreamingOutputCallRequest>,
    ) -> Result<Response<ResponseStream<StreamingOutputCallResponse>>, Status> {
        let replies = request.into_inner().response_parameters.into_iter();
        let replies = replies.map(|reply| Ok(StreamingOutputCallResponse { payload: payload(reply.size) }));
        Ok(Response::new(ResponseStream::new(frpc::iter(replies))))
    }

    async fn streaming_input_call(
        &self,
        request: Request<Streaming<StreamingInputCallRequest>>,
    ) -> Result<Response<StreamingInputCallResponse>, Status> {
        let (mut requests, mut aggregated_payload_size) = (request.into_inner(), 0);
        while let Some(request) = requests.message().await? {
            aggregated_payload_size += length(request.payload.as_ref());
        }
        Ok(Response::new(StreamingInputCallResponse { aggregated_payload_size }))
    }

    async fn full_duplex_call(
        &self,
        mut request: Request<Streaming<StreamingOutputCallRequest>>,
    ) -> Result<Response<ResponseStream<StreamingOutputCallResponse>>, Status> {
        let (sender, replies) = ResponseStream::channel(1);
        let response = echo(request.metadata(), replies);
        tokio::spawn(async move {
            let replied = async {
                while let Some(message) = request.get_mut().message().await? {
                    check(message.response_status)?;
                    for ResponseParameters { size, interval_us } in message.response_parameters {
                        tokio::time::sleep(Duration::from_micros(interval_us.try_into().unwrap_or_default())).await;
                        let reply = StreamingOutputCallResponse { payload: payload(size) };
                        sender.send(Ok(reply)).await.map_err(|_| Status::cancelled("the caller has gone"))?;
                    }
                }
                Ok(())
            };
            if let Err(status) = replied.await {
                // The result is ignored, because the caller may have disconnected.
                let _ = sender.send(Err(status)).await;
            }
        });
        response
    }

    async fn unimplemented_call(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Err(Status::unimplemented("as the case wants it"))
    }
}

/// Creates a request for a stream with one reply.
fn one(size: i32, sent: i32) -> StreamingOutputCallRequest {
    let response_parameters = vec![ResponseParameters { size, ..ResponseParameters::default() }];
    StreamingOutputCallRequest { response_parameters, payload: payload(sent), ..StreamingOutputCallRequest::default() }
}

/// Returns an error unless both values are equal.
#[expect(clippy::needless_pass_by_value, reason = "results of calls are compared with constants")]
fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), Box<dyn Error>> {
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}").into()) }
}

fn code<T>(result: Result<T, Status>) -> Code {
    result.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// Makes the calls of a case.
async fn run(case: &str, client: &TestServiceClient, address: &str) -> Result<(), Box<dyn Error>> {
    let large = || SimpleRequest { response_size: 314_159, payload: payload(271_828), ..SimpleRequest::default() };
    match case {
        "empty_unary" => drop(client.empty_call(Empty {}).await?),
        "large_unary" => equal(length(client.unary_call(large()).await?.get_ref().payload.as_ref()), 314_159)?,
        "client_streaming" => {
            let requests = REQUESTS.map(|size| StreamingInputCallRequest { payload: payload(size) });
            let reply = client.streaming_input_call(frpc::iter(requests)).await?;
            equal(reply.get_ref().aggregated_payload_size, REQUESTS.iter().sum())?;
        }
        "server_streaming" => {
            let response_parameters = REPLIES.map(|size| ResponseParameters { size, interval_us: 0 }).to_vec();
            let request = StreamingOutputCallRequest { response_parameters, ..StreamingOutputCallRequest::default() };
            let mut replies = client.streaming_output_call(request).await?.into_inner();
            for size in REPLIES {
                equal(replies.message().await?.map(|reply| length(reply.payload.as_ref())), Some(size))?;
            }
            equal(replies.message().await?.is_none(), true)?;
        }
        "ping_pong" | "cancel_after_first_response" => {
            let (sender, requests) = RequestStream::channel(1);
            let mut replies = client.full_duplex_call(requests).await?.into_inner();
            for (sent, size) in REQUESTS.into_iter().zip(REPLIES) {
                sender.send(one(size, sent)).await?;
                equal(replies.message().await?.map(|reply| length(reply.payload.as_ref())), Some(size))?;
                if case != "ping_pong" {
                    return Ok(());
                }
            }
            drop(sender);
            equal(replies.message().await?.is_none(), true)?;
        }
        "empty_stream" => {
            let mut replies = client.full_duplex_call(frpc::iter([])).await?.into_inner();
            equal(replies.message().await?.is_none(), true)?;
        }
        "timeout_on_sleeping_server" => {
            let (sender, requests) = RequestStream::channel(1);
            let mut request = Request::new(requests);
            request.set_timeout(Duration::from_millis(1));
            let mut replies = client.full_duplex_call(request).await?.into_inner();
            let _ = sender.send(StreamingOutputCallRequest { payload: payload(27_182), ..Default::default() }).await;
            equal(code(replies.message().await), Code::DeadlineExceeded)?;
        }
        "cancel_after_begin" => {
            let (_sender, requests) = RequestStream::channel(1);
            let call = client.streaming_input_call(requests);
            equal(tokio::time::timeout(Duration::from_millis(10), call).await.is_err(), true)?;
        }
        "status_code_and_message" | "special_status_message" => {
            let special = "\t\ntest with whitespace\r\nand Unicode BMP \u{263a} and non-BMP \u{1f608}\t\n";
            let message = if case == "special_status_message" { special } else { "test status message" };
            let wanted = Some(EchoStatus { code: 2, message: message.to_owned() });
            let request = SimpleRequest { response_status: wanted.clone(), ..SimpleRequest::default() };
            let status = client.unary_call(request).await.err().ok_or("call should fail")?;
            equal((status.code(), status.message()), (Code::Unknown, message))?;
            let request = StreamingOutputCallRequest { response_status: wanted, ..Default::default() };
            let mut replies = client.full_duplex_call(frpc::iter([request])).await?.into_inner();
            let status = replies.message().await.err().ok_or("stream should fail")?;
            equal((status.code(), status.message()), (Code::Unknown, message))?;
        }
        "custom_metadata" => {
            let echoed = |metadata: &mut Metadata| -> Result<(), frpc::MetadataError> {
                metadata.insert(INITIAL, "test_initial_metadata_value")?;
                metadata.insert_bin(TRAILING, b"\xab\xab\xab")
            };
            let mut request = Request::new(large());
            echoed(request.metadata_mut())?;
            let reply = client.unary_call(request).await?;
            equal(reply.metadata().get(INITIAL), Some("test_initial_metadata_value"))?;
            let trailers = reply.extensions().get::<Trailers>().ok_or("the reply has no trailers")?;
            equal(trailers.0.get_bin(TRAILING), Some(&b"\xab\xab\xab"[..]))?;
            let mut request = Request::new(frpc::iter([one(314_159, 271_828)]));
            echoed(request.metadata_mut())?;
            let replies = client.full_duplex_call(request).await?;
            let trailers = replies.extensions().get::<LateTrailers>().cloned().ok_or("the stream has no trailers")?;
            let mut replies = replies.into_inner();
            while replies.message().await?.is_some() {}
            equal(replies.metadata().get(INITIAL), Some("test_initial_metadata_value"))?;
            equal(trailers.0.get().and_then(|trailers| trailers.get_bin(TRAILING)), Some(&b"\xab\xab\xab"[..]))?;
        }
        "unimplemented_method" => equal(code(client.unimplemented_call(Empty {}).await), Code::Unimplemented)?,
        "unimplemented_service" => {
            let client = UnimplementedServiceClient::connect(format!("grpc://{address}")).await?;
            equal(code(client.unimplemented_call(Empty {}).await), Code::Unimplemented)?;
        }
        "rpc_soak" => {
            for _ in 0..1000 {
                equal(length(client.unary_call(large()).await?.get_ref().payload.as_ref()), 314_159)?;
            }
        }
        _ => return Err("unknown case".into()),
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => {
            let gateway = Gateway::new().http(Http::new().grpc());
            let builder = Server::builder().add_service(TestServiceServer::new(Interop)).gateway(gateway);
            let server = builder.bind("127.0.0.1:0").await?;
            println!("listening on {}", server.local_addr());
            Ok(server.serve().await?)
        }
        ["call", address, cases @ ..] => {
            let client = TestServiceClient::connect(format!("grpc://{address}")).await?;
            for case in cases {
                run(case, &client, address).await.map_err(|error| format!("{case}: {error}"))?;
                println!("{case}: passed");
            }
            Ok(())
        }
        _ => Err("usage: grpc-interop serve | call ADDRESS CASE…".into()),
    }
}
