//! Tests a healthy client next to every kind of hostile peer. It runs in a process of its own, because other tests
//! measure the memory of their process.

use frisbee_pubsub::{self as pubsub, Broker};
use frisbee_tests::attacks::{self, Appetite, Target};
use frisbee_tests::healthy::Healthy;
use frisbee_tests::pki::Authority;
use frisbee_tests::serve_interop_with;
use frpc::Server;
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn healthy_client_sees_no_error_during_attacks() {
    let authority = Authority::default();
    let tls = serve_interop_with(Server::builder().tls(authority.server())).await;
    let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc()).web_socket();
    let plain = serve_interop_with(Server::builder().mount(pubsub::OPERATIONS, Broker::new()).gateway(gateway)).await;
    for attack in attacks::all() {
        // The attacks use operation 10, as in the benchmark. Here this operation has another message, so bodies that
        // are valid in the benchmark are invalid.
        let address = if attack.target == Target::Tls { tls } else { plain };
        let healthy = Healthy::connect(plain).await;
        let attacking = attack.run(address, Appetite::Little);
        let _ = tokio::time::timeout(Duration::from_millis(100), attacking).await;
        healthy.was_well().await;
    }
}
