//! Tests of peers with different schemas. The accepting end translates messages, and rejects only methods that it
//! cannot translate.

mod protobuf;
#[macro_use]
mod shop;

use frisbee::tlv::{Items, put_item};
use frisbee::{Operation, Packet, PacketId, PeerKind};
use frisbee_tests::evolution::{self, new, old};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::versions::{first, moved, second, stranger};
use frisbee_tests::{serve, until};
use frpc::codegen::Client as _;
use frpc::observe::TranslatedService;
use frpc::{
    Acceptor, Channel, Code, Connection, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming,
};
use polyglot::layout::{Description, Field, Fingerprint, Method, Shape, Type, TypeLayout};
use shop::{Reply, Shop, new_order, new_receipt, old_order, old_receipt, receipt_of_new, serve_new, serve_old};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;

#[tokio::test]
async fn unnamed_service_is_announced_before_its_calls() {
    let client = old::ShopClient::new(Channel::connect(serve_new().await).await.unwrap());
    call_all!(client, old_order, old_receipt, old);
    let client = new::ShopClient::new(Channel::connect(serve_new().await).await.unwrap());
    let receipt = client.quote(new_order("same")).await.unwrap().into_inner();
    assert_eq!(receipt, receipt_of_new(new_order("same")));
}

#[tokio::test]
async fn incompatible_field_refuses_its_method_alone() {
    let client = old::ShopClient::connect(serve_new().await).await.unwrap();
    for _ in 0..2 {
        let status = client.refund(old::Amount { cents: 1 }).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
        let text = "field 1 (`cents`) of shop.Amount is string here, int32 at the peer (layout ";
        assert!(status.message().starts_with(text), "{status}");
    }
    client.buy(old_order("a")).await.unwrap();
}

#[tokio::test]
async fn server_calls_client_of_another_version() {
    let (sender, mut connections) = mpsc::unbounded_channel::<Connection>();
    let builder = Server::builder().on_connect(move |connection| drop(sender.send(connection.clone())));
    let address = serve(builder).await.to_string();
    let agent = Channel::builder().add_service(old::ShopServer::new(Shop)).connect(&address).await.unwrap();
    let connection = connections.recv().await.unwrap();
    let client = new::ShopClient::new(Channel::from_connection(&connection));
    call_all!(&client, new_order, new_receipt, new);
    let status = client.quote(new_order("a")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented, "{status}");
    let status = client.refund(new::Amount { cents: "1".to_owned() }).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
    drop(agent);
}

/// Returns counters of a service: translated calls, skipped fields, and layouts in use.
fn counted(service: &str) -> (u64, u64, usize) {
    let found = TranslatedService::all().into_iter().find(|of| of.service == service);
    found.map_or((0, 0, 0), |of| (of.calls, of.skipped_fields, of.layouts.len()))
}

#[tokio::test]
async fn translated_calls_and_skipped_fields_are_counted() {
    // Other tests in this process call the shop too, so the counters may increase by more than the calls of this test.
    let before = counted("shop.Shop");
    let client = old::ShopClient::connect(serve_new().await).await.unwrap();
    for _ in 0..3 {
        client.buy(old_order("a")).await.unwrap();
    }
    client.list(old_order("")).await.unwrap().into_inner().message().await.unwrap();
    let after = counted("shop.Shop");
    // The old order has a note that the new server does not know. The new receipt has a field that the old client does
    // not know.
    assert!(after.0 >= before.0 + 4 && after.1 >= before.1 + 7, "{before:?} {after:?}");
    assert!(after.2 > 0, "{after:?}");
    let page = frpc_telemetry::Counters::new().snapshot().prometheus(None);
    assert!(page.contains("frpc_translated_calls_total{service=\"shop.Shop\"} "), "{page}");
}

#[tokio::test]
async fn other_version_may_begin_with_hand_off() {
    for _ in 0..2 {
        let channel = Channel::builder().calls::<old::ShopClient>().connect(serve_new().await).await.unwrap();
        let (asking, handed) = channel.request_hand_off();
        let receipt = old::ShopClient::new(asking).buy(old_order("first")).await.unwrap().into_inner();
        assert_eq!(receipt, old_receipt("first"));
        assert!(handed.take().is_some());
    }
}

#[tokio::test]
async fn layouts_sharing_operations_need_separate_channels() {
    let channel = Channel::connect(serve_new().await).await.unwrap();
    old::ShopClient::new(channel.clone()).buy(old_order("a")).await.unwrap();
    let status = new::ShopClient::new(channel).buy(new_order("a")).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
    assert!(status.message().contains("have common operations"), "{status}");
}

#[tokio::test]
async fn translated_request_obeys_body_limit() {
    let config = frisbee::Config::default().body_max(2048);
    let builder = Server::builder().config(config).add_service(new::ShopServer::new(Shop));
    let client = old::ShopClient::connect(serve(builder).await.to_string()).await.unwrap();
    let mut order = old_order("a");
    order.items = vec![old::Item::default(); 200];
    let status = client.buy(order).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    assert!(status.message().contains("2048"), "{status}");
    client.buy(old_order("a")).await.unwrap();
}

#[tokio::test]
async fn translated_reply_obeys_body_limit() {
    let config = || Channel::builder().config(frisbee::Config::default().body_max(2048));
    let address = serve_new().await;
    let old = old::ShopClient::new(config().connect(address.clone()).await.unwrap());
    let new = new::ShopClient::new(config().connect(address).await.unwrap());
    let translated = old.upload(frpc::iter(vec![old_order("a"); 200])).await.unwrap_err();
    let plain = new.upload(frpc::iter(vec![new_order("a"); 200])).await.unwrap_err();
    assert_eq!((translated.code(), plain.code()), (Code::ResourceExhausted, Code::ResourceExhausted), "{translated}");
    assert!(translated.message().contains("translated message exceeds the limit of 2048"), "{translated}");
}

/// Returns settings that make an end behave like a Go program of its version.
fn compat() -> frisbee::Config {
    frisbee::Config::default().hello(false)
}

#[tokio::test]
async fn old_compat_client_calls_new_server() {
    let builder = Server::builder().add_service(new::ShopServer::new(Shop)).compat_layout::<old::ShopClient>();
    let address = serve(builder).await.to_string();
    let channel = || Channel::builder().config(compat()).connect(&address);
    let client = old::ShopClient::new(channel().await.unwrap());
    call_all!(&client, old_order, old_receipt, old);
    // A compat client receives only the text of an error, and no code.
    let status = client.cancel(old_order("a")).await.unwrap_err();
    assert!(status.message().contains("shop.Shop has no method Cancel"), "{status}");
    let status = client.refund(old::Amount { cents: 1 }).await.unwrap_err();
    assert!(status.message().starts_with("field 1 (`cents`) of shop.Amount is string here"), "{status}");
    client.buy(old_order("a")).await.unwrap();
    // Native clients of both versions announce their own layouts.
    call_all!(old::ShopClient::connect(&address).await.unwrap(), old_order, old_receipt, old);
    let client = new::ShopClient::connect(&address).await.unwrap();
    assert_eq!(client.quote(new_order("same")).await.unwrap().into_inner(), receipt_of_new(new_order("same")));
}

#[tokio::test]
async fn new_client_calls_old_compat_server() {
    let config = frisbee::Config::default();
    let builder = Server::builder().config(compat()).add_service(old::ShopServer::new(Shop));
    let old_address = serve(builder).await.to_string();
    for (address, config) in [(&old_address, config), (&serve_old().await, compat())] {
        let channel = Channel::builder().config(config).calls::<new::ShopClient>();
        let channel = channel.compat_layout::<old::ShopClient>().connect(address).await.unwrap();
        let client = new::ShopClient::new(channel);
        call_all!(&client, new_order, new_receipt, new);
        let status = client.quote(new_order("a")).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
        let status = client.refund(new::Amount { cents: "1".to_owned() }).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
    }
    // If a native server has another version, the channel announces the layout of its client.
    let channel = Channel::builder().compat_layout::<old::ShopClient>().connect(serve_old().await).await.unwrap();
    call_all!(new::ShopClient::new(channel), new_order, new_receipt, new);
}

#[tokio::test]
async fn strict_presence_precedes_translation_to_compat_server() {
    let channel = Channel::builder().config(compat()).strict_presence(true).compat_layout::<old::ShopClient>();
    let client = new::ShopClient::new(channel.connect(serve_old().await).await.unwrap());
    let order = new::Order { coupon: None, ..new_order("a") };
    let status = client.buy(order).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
    client.buy(new_order("a")).await.unwrap();
}

/// The first layout numbers operations from 10. In the changed layout, these numbers have other meanings.
#[tokio::test]
async fn operation_unknown_to_compat_layout_is_refused() {
    let builder = Server::builder().add_service(second::ParrotServer::new(Parrot));
    let address = serve(builder.compat_layout::<first::ParrotClient>()).await;
    let (known, own) = (first::ParrotClient::LAYOUT, second::ParrotClient::LAYOUT);
    let other = own.operations().iter().find(|operation| !known.operations().contains(operation));
    let mut raw = Raw::connect(address).await;
    for operation in [*other.expect("the second layout should have more operations"), 4000] {
        raw.write(&packet(1, operation, b"\x08\x05\x00\x0c\x02")).await;
        let replied = raw.next().await.expect("the connection should stay open");
        assert_eq!((replied.id, replied.operation.number()), (PacketId(1), operation), "{replied:?}");
        let text = polyglot::Decoder::new(&replied.body).error_text().expect("the reply should be an error").to_owned();
        let expected = if operation == 4000 { "is not a unary method" } else { "at the peer has no such method" };
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn unusable_compat_layout_fails_server() {
    let error = Server::builder().compat_layout::<old::ShopClient>().build().expect_err("no service should be found");
    let text = "invalid compat layout of shop.Shop: this server does not offer the service";
    assert_eq!(error.to_string(), text);
    let builder = || Server::builder().add_service(new::ShopServer::new(Shop)).compat_layout::<old::ShopClient>();
    let twice = builder().compat_layout::<old::ShopClient>().build().expect_err("operations should conflict");
    assert!(twice.to_string().ends_with("another service or router has operation 10"), "{twice}");
    let mounted = builder().mount(15..=15, frisbee::Handlers::new()).build();
    assert!(mounted.is_err());
}

/// Returns the HELLO item of a service with the operations 40 and 41.
fn item(service: &str, description: &[u8]) -> Vec<u8> {
    let fingerprint = Fingerprint::of(description).bytes();
    [&[service.len() as u8][..], service.as_bytes(), &fingerprint, &[40, 1]].concat()
}

/// Connects in memory to a server of the new shop, and sends a HELLO with the given services.
async fn hostile(items: &[Vec<u8>]) -> Raw<DuplexStream> {
    hostile_to(Server::builder().add_service(new::ShopServer::new(Shop)).build().unwrap(), items).await
}

async fn hostile_to(acceptor: Acceptor, items: &[Vec<u8>]) -> Raw<DuplexStream> {
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let mut raw = Raw::over(here);
    let mut hello = b"fris\x01".to_vec();
    items.iter().for_each(|item| put_item(&mut hello, 33, item));
    raw.write(&packet(0, 3, &hello)).await;
    raw
}

/// Reads the next packet of a call. Returns `None` if the server has closed the connection.
async fn reply(raw: &mut Raw<DuplexStream>) -> Option<Packet> {
    loop {
        match raw.next().await {
            Some(packet) if packet.operation == Operation::EXTENSION => {}
            packet => return packet,
        }
    }
}

/// Reads a status with the mark that the call was rejected before it ran.
async fn refused(raw: &mut Raw<DuplexStream>, id: u16) -> (Code, String) {
    let replied = reply(raw).await.expect("the connection should stay open");
    assert_eq!(replied.id, PacketId(id), "{replied:?}");
    // The reply has a prefix with the code and the mark of a rejected call, and then a short text.
    let (items, error) = replied.body[2..].split_at(replied.body[1].into());
    let (mut code, mut is_refused) = (Code::Unknown, false);
    for (kind, value) in Items::new(items).flatten() {
        match kind {
            3 => code = Code::from_i32(value[0].into()),
            5 => is_refused = true,
            _ => {}
        }
    }
    assert!(replied.body[0] == 0x10 && is_refused, "{replied:?}");
    let text = polyglot::Decoder::new(error).error_text().expect("the reply should be an error").to_owned();
    (code, text)
}

/// Returns a description of a service with `Buy` and another method. Each test needs a different method, because the
/// process caches translations.
fn description(method: &str) -> Vec<u8> {
    let method = [&[method.len() as u8][..], method.as_bytes(), &[0, 0, 0]].concat();
    [&b"\x01\x01\x00\x00\x02\x03Buy\x00\x00\x00"[..], &method, b"\x09shop.Shop"].concat()
}

#[tokio::test(start_paused = true)]
async fn withheld_layout_refuses_calls_after_five_seconds() {
    let unknown = description("Late");
    let mut raw = hostile(&[item("shop.Shop", &unknown)]).await;
    let started = tokio::time::Instant::now();
    raw.write(&packet(1, 40, &[0])).await;
    // A description that the server has not requested is ignored.
    raw.write(&packet(2, 3, b"\x01\x00\x00\x09shop.Shop")).await;
    let (code, text) = refused(&mut raw, 1).await;
    assert_eq!((code, started.elapsed().as_secs()), (Code::FailedPrecondition, 5), "{text}");
    assert!(text.contains("did not send its layout of shop.Shop within 5 s"), "{text}");
    raw.write(&packet(3, 40, &[0])).await;
    assert_eq!(refused(&mut raw, 3).await.0, Code::FailedPrecondition);
    // The server still accepts a description that arrives late.
    raw.write(&packet(2, 3, &unknown)).await;
    raw.write(&packet(4, 40, &[0])).await;
    let replied = reply(&mut raw).await.expect("the connection should stay open");
    assert_eq!((replied.id, &replied.body[..1]), (PacketId(4), &[0x08][..]), "{replied:?}");
}

/// Regression test: the timeout of one layout also ended the wait for layouts that were requested later.
#[tokio::test(start_paused = true)]
async fn layout_requested_later_has_its_own_timeout() {
    let (soon, later) = (description("Soon"), description("Later"));
    let mut raw = hostile(&[item("shop.Shop", &soon)]).await;
    raw.write(&packet(2, 3, &soon)).await;
    tokio::time::sleep(Duration::from_millis(4900)).await;
    // Announce the service in another layout, with the operations 50 and 51.
    let mut called = item("shop.Shop", &later);
    let operation = called.len() - 2;
    called[operation] = 50;
    raw.write(&packet(3, 3, &called)).await;
    raw.write(&packet(1, 50, &[0])).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    raw.write(&packet(2, 3, &later)).await;
    let replied = reply(&mut raw).await.expect("the connection should stay open");
    assert_eq!((replied.id, &replied.body[..1]), (PacketId(1), &[0x08][..]), "{replied:?}");
}

#[tokio::test(start_paused = true)]
async fn unusable_layout_refuses_calls_at_once() {
    let unknown = description("Missing");
    let malformed = b"\x01\x01\x07";
    let other = b"\x01\x01\x00\x00\x01\x03Buy\x00\x00\x00\x0aother.Shop";
    for (described, expected) in
        [(&malformed[..], "cannot be used: "), (other, "it describes \"other.Shop\" instead of \"shop.Shop\"")]
    {
        let mut raw = hostile(&[item("shop.Shop", described)]).await;
        let started = tokio::time::Instant::now();
        raw.write(&packet(1, 40, &[0])).await;
        raw.write(&packet(2, 3, described)).await;
        let (code, text) = refused(&mut raw, 1).await;
        assert_eq!((code, started.elapsed()), (Code::FailedPrecondition, Duration::ZERO), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    let mut raw = hostile(&[item("shop.Shop", &unknown)]).await;
    raw.write(&packet(1, 40, &[0])).await;
    raw.write(&packet(2, 3, &[&[0][..], &Fingerprint::of(&unknown).bytes()].concat())).await;
    let (code, text) = refused(&mut raw, 1).await;
    assert_eq!(code, Code::FailedPrecondition);
    assert!(text.contains("the peer has no description of it"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn calls_held_for_layout_are_bounded() {
    let unknown = description("Held");
    let mut raw = hostile(&[item("shop.Shop", &unknown)]).await;
    for id in 1..=5 {
        raw.write(&packet(id, 40, &vec![0; 60_000])).await;
    }
    let (code, text) = refused(&mut raw, 5).await;
    assert_eq!(code, Code::ResourceExhausted, "{text}");
    // Cancelled calls are answered and release their slots.
    raw.write(&packet(2, 6, &[40])).await;
    let replied = reply(&mut raw).await.expect("the connection should stay open");
    assert_eq!(replied.id, PacketId(2), "{replied:?}");
    raw.write(&packet(2, 3, &unknown)).await;
    for id in [1, 3, 4] {
        let replied = reply(&mut raw).await.expect("the connection should stay open");
        assert_eq!((replied.id, &replied.body[..1]), (PacketId(id), &[0x08][..]), "{replied:?}");
    }
}

#[tokio::test]
async fn known_version_costs_no_round_trip() {
    let known = description("Known");
    let mut first = hostile(&[item("shop.Shop", &known)]).await;
    first.write(&packet(2, 3, &known)).await;
    first.write(&packet(1, 40, &[0])).await;
    reply(&mut first).await.expect("the connection should stay open");
    // The second client does not send the description.
    let mut second = hostile(&[item("shop.Shop", &known)]).await;
    second.write(&packet(1, 40, &[0])).await;
    let replied = reply(&mut second).await.expect("the connection should stay open");
    assert_eq!((replied.id, &replied.body[..1]), (PacketId(1), &[0x08][..]), "{replied:?}");
}

/// The test uses more versions than the process caches. Most of them are evicted while connections still use them.
#[tokio::test]
async fn thousand_clients_with_distinct_descriptions_are_served() {
    let mut clients = Vec::new();
    for at in 0..1100 {
        let unknown = description(&format!("Own{at}"));
        let mut raw = hostile(&[item("shop.Shop", &unknown)]).await;
        raw.write(&packet(1, 40, &[0])).await;
        raw.write(&packet(2, 3, &unknown)).await;
        clients.push(raw);
    }
    for id in 1..=2 {
        for raw in &mut clients {
            if id == 2 {
                raw.write(&packet(2, 40, &[0])).await;
            }
            let replied = reply(raw).await.expect("the connection should stay open");
            assert_eq!((replied.id, &replied.body[..1]), (PacketId(id), &[0x08][..]), "{replied:?}");
        }
    }
}

/// Returns a description of 60 kB. Its translation takes several times as much memory.
fn large_description(first: u32) -> Vec<u8> {
    let field = |number| Field { number, shape: Shape::Optional, of: Type::Message(0) };
    let types = vec![TypeLayout::Message((first..first + 15_000).map(field).collect())];
    let method = Method { name: "Buy".to_owned(), client_streams: false, server_streams: false, request: 0, reply: 0 };
    Description { name: "shop.Shop".to_owned(), types, methods: vec![method] }.encode()
}

#[tokio::test]
async fn descriptions_beyond_memory_close_connection() {
    const MEMORY: usize = 4 << 20;
    let builder = Server::builder().memory_max(MEMORY).add_service(new::ShopServer::new(Shop));
    let acceptor = builder.build().unwrap();
    let stats = acceptor.stats();
    let mut raw = hostile_to(acceptor, &[]).await;
    let (mut accepted, mut held) = (0, 0);
    for at in 0..40_u8 {
        let large = large_description(1000 + u32::from(at));
        let fingerprint = Fingerprint::of(&large).bytes();
        let announcement = packet(3, 3, &[&b"\x09shop.Shop"[..], &fingerprint, &[60 + at]].concat());
        let call = packet(u16::from(at) + 1, u16::from(at) + 60, &[0]);
        drop(raw.socket.write_all(&[announcement, packet(2, 3, &large), call].concat()).await);
        match reply(&mut raw).await {
            Some(replied) if !replied.body.windows(9).any(|text| text == b"no memory") => accepted += 1,
            _ => break,
        }
        held = held.max(stats.memory_held());
    }
    assert!((1..20).contains(&accepted) && held > MEMORY / 8 && held <= MEMORY, "{accepted} {held}");
    until("no memory is held", || stats.memory_held() == 0).await;
}

/// Regression test: each CALLS packet charged memory, even if the server knew its service. A client could thus take the
/// memory of all others.
#[tokio::test]
async fn repeated_announcements_take_no_memory() {
    let acceptor = Server::builder().add_service(new::ShopServer::new(Shop)).build().unwrap();
    let stats = acceptor.stats();
    let unknown = description("Again");
    let mut raw = hostile_to(acceptor, &[item("shop.Shop", &unknown)]).await;
    raw.write(&packet(2, 3, &unknown)).await;
    let announcement = packet(3, 3, &item("shop.Shop", &unknown));
    raw.write(&[announcement.repeat(1000), packet(1, 40, &[0])].concat()).await;
    assert!(reply(&mut raw).await.is_some(), "the connection should stay open");
    assert!(stats.memory_held() < 64 << 10, "server holds {} bytes", stats.memory_held());
}

/// Regression test: announced services were recorded regardless of the memory limit, so that a client could exceed it
/// and leave nothing to others.
#[tokio::test]
async fn announcements_beyond_memory_limit_close_connection() {
    const MEMORY: usize = 4 << 20;
    let builder = Server::builder().memory_max(MEMORY).add_service(new::ShopServer::new(Shop));
    let acceptor = builder.build().unwrap();
    let stats = acceptor.stats();
    let mut raw = hostile_to(acceptor, &[]).await;
    let (mut accepted, mut held) = (0, 0);
    for number in 0..200_u8 {
        let layout = [&b"\x09shop.Shop"[..], &[number; 16], &[10], &[1; 30_000]].concat();
        // A call of another operation shows that the server has recorded the service.
        let call = packet(number.into(), 60_000, &[0]);
        drop(raw.socket.write_all(&[packet(3, 3, &layout), call].concat()).await);
        if reply(&mut raw).await.is_none() {
            break;
        }
        accepted += 1;
        held = held.max(stats.memory_held());
    }
    assert!((10..100).contains(&accepted) && held > MEMORY / 2 && held <= MEMORY, "{accepted} {held}");
    until("no memory is held", || stats.memory_held() == 0).await;
}

/// Regression test: calls of a service beyond the maximum were decoded with the local layout.
#[tokio::test]
async fn services_beyond_maximum_close_connection() {
    let mut raw = hostile(&[]).await;
    for number in 0..=1024_u16 {
        let fingerprint = [&[7; 14][..], &number.to_be_bytes()].concat();
        raw.write(&packet(3, 3, &[&b"\x06absent"[..], &fingerprint, &[60]].concat())).await;
    }
    assert!(reply(&mut raw).await.is_none(), "the connection should be closed");
}

#[tokio::test]
async fn changed_streaming_refuses_its_method_alone() {
    let changed = b"\x01\x01\x00\x00\x02\x03Buy\x02\x00\x00\x06Refund\x00\x00\x00\x09shop.Shop";
    let mut raw = hostile(&[item("shop.Shop", changed)]).await;
    raw.write(&packet(1, 40, &[0])).await;
    raw.write(&packet(2, 3, changed)).await;
    let (code, text) = refused(&mut raw, 1).await;
    assert_eq!(code, Code::FailedPrecondition, "{text}");
    assert!(text.starts_with("method Buy has different streams at this end and at the peer"), "{text}");
    raw.write(&packet(3, 41, &[0])).await;
    assert_eq!(reply(&mut raw).await.expect("the connection should stay open").id, PacketId(3));
}

#[tokio::test(start_paused = true)]
async fn operation_of_two_services_is_refused() {
    let unknown = description("Twice");
    for second in [item("shop.Other", &unknown), item("shop.Shop", b"")] {
        let mut raw = hostile(&[item("shop.Shop", &unknown), second]).await;
        raw.write(&packet(1, 40, &[0])).await;
        let (code, text) = refused(&mut raw, 1).await;
        assert_eq!(code, Code::FailedPrecondition, "{text}");
        assert!(text.contains("operation 40 belongs to several services"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn malformed_packets_about_layouts_close_connection() {
    for (id, body) in [(1, &[0; 15][..]), (1, &[]), (1, &[0; 16 * 65]), (3, b"\x09shop")] {
        let mut raw = hostile(&[]).await;
        raw.write(&packet(id, 3, body)).await;
        assert!(reply(&mut raw).await.is_none(), "packet {id} of {} bytes should close the connection", body.len());
    }
    let mut raw = hostile(&[]).await;
    raw.write(&packet(2, 3, &vec![0; 65_537])).await;
    assert!(reply(&mut raw).await.is_none(), "description that is too long should close the connection");
}

struct Parrot;

impl second::Parrot for Parrot {
    async fn say(&self, request: Request<second::Ask>) -> Reply<second::Answer> {
        let second::Ask { word, times, .. } = request.into_inner();
        let words = word.repeat(usize::try_from(times).unwrap_or(0));
        Ok(Response::new(second::Answer { length: words.len() as u64, words }))
    }

    async fn chat(&self, _: Request<Streaming<second::Ask>>) -> Reply<ResponseStream<second::Answer>> {
        Err(Status::unimplemented("it only repeats"))
    }

    async fn listen(&self, request: Request<second::Ask>) -> Reply<second::Answer> {
        second::Parrot::say(self, request).await
    }
}

impl stranger::Counter for Parrot {
    async fn count(&self, request: Request<stranger::Number>) -> Reply<stranger::Number> {
        Ok(Response::new(request.into_inner()))
    }
}

async fn serve_second() -> SocketAddr {
    serve(Server::builder().add_service(second::ParrotServer::new(Parrot))).await
}

/// In the second layout, the oneof comes after all fields of the first layout.
#[tokio::test]
async fn first_requests_translate_before_server_is_known() {
    for _ in 0..20 {
        let client = moved::ParrotClient::connect(serve_second().await.to_string()).await.unwrap();
        let ask = moved::Ask { times: 2, word: "ab".to_owned() };
        assert_eq!(client.say(ask).await.unwrap().into_inner().words, "abab");
    }
}

#[tokio::test]
async fn missing_service_is_not_taken_for_successor() {
    let address = serve(Server::builder().add_service(stranger::CounterServer::new(Parrot))).await.to_string();
    let ask = || first::Ask { word: "a".to_owned(), times: 1 };
    for client in [
        first::ParrotClient::connect(&address).await.unwrap(),
        first::ParrotClient::new(Channel::connect(&address).await.unwrap()),
    ] {
        let status = client.say(ask()).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
        assert!(status.message().contains("versions.Parrot"), "{status}");
    }
    let there = stranger::CounterClient::new(Channel::connect(&address).await.unwrap());
    assert_eq!(there.count(stranger::Number { value: 7 }).await.unwrap().into_inner().value, 7);
}

/// Regression test: a client that sends no HELLO waited for the server's answer in a busy loop.
#[tokio::test]
async fn client_without_hello_assumes_go_server() {
    let config = frisbee::Config::default().hello(false);
    let channel = Channel::builder().config(config).connect(serve_second().await.to_string()).await.unwrap();
    let connection = channel.connection().unwrap();
    until("the server is known", || connection.peer() == PeerKind::Compat).await;
    let client = second::ParrotClient::new(channel);
    let mut request = Request::new(second::Ask { word: "ab".to_owned(), times: 2, ..second::Ask::default() });
    request.metadata_mut().insert("not", "sent").unwrap();
    let outcome = tokio::time::timeout(Duration::from_secs(20), client.say(request)).await;
    assert_eq!(outcome.expect("nothing should be awaited").unwrap().into_inner().words, "abab");
}
