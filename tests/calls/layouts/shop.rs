//! Clients and servers of two versions of a shop. Included once for each codec.

use super::evolution::{new, old};
use frisbee_tests::serve;
use frpc::{Code, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming};

pub(super) type Reply<T> = Result<Response<T>, Status>;

/// Implements both versions of the shop. If the order has no id, the handlers wait for a task.
#[derive(Clone, Copy)]
pub(super) struct Shop;

/// Implements one version of the shop, given a conversion from orders to receipts.
macro_rules! shop {
    ($version:ident, $receipt:expr, $($other:ident),*) => {
        impl $version::Shop for Shop {
            async fn buy(&self, request: Request<$version::Order>) -> Reply<$version::Receipt> {
                if let Some(hand_off) = request.hand_off() {
                    hand_off.accept(|_| async {});
                }
                if request.get_ref().id.is_empty() {
                    tokio::task::yield_now().await;
                }
                Ok(Response::new($receipt(request.into_inner())))
            }

            $(async fn $other(&self, request: Request<$version::Order>) -> Reply<$version::Receipt> {
                Ok(Response::new($receipt(request.into_inner())))
            })*

            async fn follow(
                &self,
                request: Request<Streaming<$version::Order>>,
            ) -> Reply<ResponseStream<$version::Receipt>> {
                let mut orders = request.into_inner();
                let (sender, receipts) = ResponseStream::channel(4);
                tokio::spawn(async move {
                    while let Ok(Some(order)) = orders.message().await {
                        sender.send(Ok($receipt(order))).await.ok();
                    }
                });
                Ok(Response::new(receipts))
            }

            async fn upload(&self, request: Request<Streaming<$version::Order>>) -> Reply<$version::Receipt> {
                let (mut orders, mut all) = (request.into_inner(), $version::Receipt::default());
                while let Some(order) = orders.message().await? {
                    let receipt: $version::Receipt = $receipt(order);
                    all.total += receipt.total;
                    all.items.extend(receipt.items);
                }
                Ok(Response::new(all))
            }

            async fn list(&self, request: Request<$version::Order>) -> Reply<ResponseStream<$version::Receipt>> {
                let order = request.into_inner();
                let receipts = (0..3).map(move |at| {
                    $receipt($version::Order { id: at.to_string(), ..order.clone() })
                });
                Ok(Response::new(ResponseStream::new(frpc::iter(receipts.map(Ok)))))
            }

            async fn refund(&self, request: Request<$version::Amount>) -> Reply<$version::Amount> {
                Ok(Response::new(request.into_inner()))
            }
        }
    };
}

shop!(old, receipt_of_old, cancel);
shop!(new, receipt_of_new, quote);

pub(super) fn receipt_of_old(order: old::Order) -> old::Receipt {
    let old::Order { id, items, color, note, prices, token } = order;
    let total = items.iter().map(|item| item.count.cast_unsigned()).sum();
    old::Receipt { id: format!("{id}/{note}/{}", token.escape_ascii()), total, color, items, prices }
}

pub(super) fn receipt_of_new(order: new::Order) -> new::Receipt {
    let new::Order { coupon, color, token, id, prices, items } = order;
    let total = items.iter().map(|item| item.count.cast_signed()).sum();
    let id = format!("{id}/{coupon:?}/{token}");
    new::Receipt { items, prices, color, express: true, total, id }
}

pub(super) fn old_order(id: &str) -> old::Order {
    let size = |width| Some(old::Size { width, height: -2 });
    let item = |name: &str, count, width| old::Item { name: name.to_owned(), count, size: size(width) };
    old::Order {
        id: id.to_owned(),
        items: vec![item("pen", 3, 1), item("ink", 4, -70_000)],
        color: old::Color::Blue.into(),
        note: "dropped".to_owned(),
        prices: [("pen".to_owned(), -5), ("ink".to_owned(), 300)].into(),
        token: b"secret".to_vec(),
    }
}

pub(super) fn new_order(id: &str) -> new::Order {
    let size = |width| Some(new::Size { depth: 9, height: -2, width });
    let item = |name: &str, count, width| new::Item {
        unit: "box".to_owned(),
        count,
        name: name.to_owned(),
        size: size(width),
    };
    new::Order {
        coupon: Some("half".to_owned()),
        color: new::Color::Blue.into(),
        token: "secret".to_owned(),
        id: id.to_owned(),
        prices: [("pen".to_owned(), -5), ("ink".to_owned(), 300)].into(),
        items: vec![item("pen", 3, 1), item("ink", 4, -70_000)],
    }
}

/// The receipt that an old client gets from a new server.
pub(super) fn old_receipt(id: &str) -> old::Receipt {
    let old::Order { items, color, prices, .. } = old_order(id);
    old::Receipt { id: format!("{id}/None/secret"), total: 7, color, items, prices }
}

/// The receipt that a new client gets from an old server. It has no units and depths.
pub(super) fn new_receipt(id: &str) -> new::Receipt {
    let new::Order { color, prices, mut items, .. } = new_order(id);
    for item in &mut items {
        item.unit.clear();
        item.size.as_mut().expect("items should have sizes").depth = 0;
    }
    new::Receipt { items, prices, color, express: false, total: 7, id: format!("{id}//secret") }
}

pub(super) async fn serve_old() -> String {
    let builder = Server::builder().add_service(old::ShopServer::new(Shop)).method_hand_off("shop.Shop/Buy");
    serve(builder).await.to_string()
}

pub(super) async fn serve_new() -> String {
    let builder = Server::builder().add_service(new::ShopServer::new(Shop)).method_hand_off("shop.Shop/Buy");
    serve(builder).await.to_string()
}

/// Calls all methods that both versions have.
macro_rules! call_all {
    ($client:expr, $order:expr, $receipt:expr, $version:ident) => {{
        let client = $client;
        for id in ["first", "", "third"] {
            assert_eq!(client.buy($order(id)).await.unwrap().into_inner(), $receipt(id));
        }
        let mut listed = client.list($order("")).await.unwrap().into_inner();
        for id in ["0", "1", "2"] {
            assert_eq!(listed.message().await.unwrap().unwrap(), $receipt(id));
        }
        assert_eq!(listed.message().await.unwrap(), None);

        let orders: Vec<_> = (0..200).map(|at| $order(&at.to_string())).collect();
        let all = client.upload(frpc::iter(orders.clone())).await.unwrap().into_inner();
        assert_eq!((all.total, all.items.len()), (1400, 400));

        let mut receipts = client.follow(frpc::iter(orders)).await.unwrap().into_inner();
        for at in 0..200 {
            assert_eq!(receipts.message().await.unwrap().unwrap(), $receipt(&at.to_string()));
        }
        assert_eq!(receipts.message().await.unwrap(), None);

        let (sender, orders) = RequestStream::channel(1);
        let mut receipts = client.follow(orders).await.unwrap().into_inner();
        let mut receipt = $version::Receipt::default();
        for id in ["a", "b"] {
            sender.send($order(id)).await.unwrap();
            assert!(receipts.message_over(&mut receipt).await.unwrap());
            assert_eq!(receipt, $receipt(id));
        }
    }};
}

#[tokio::test]
async fn old_client_calls_new_server() {
    let client = old::ShopClient::connect(serve_new().await).await.unwrap();
    call_all!(client, old_order, old_receipt, old);
}

#[tokio::test]
async fn new_client_calls_old_server() {
    let client = new::ShopClient::connect(serve_old().await).await.unwrap();
    call_all!(client, new_order, new_receipt, new);
}

#[tokio::test]
async fn removed_method_is_unimplemented() {
    let client = old::ShopClient::connect(serve_new().await).await.unwrap();
    let status = client.cancel(old_order("a")).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
    assert!(status.message().contains("shop.Shop has no method Cancel"), "{status}");
    let client = new::ShopClient::connect(serve_old().await).await.unwrap();
    let status = client.quote(new_order("a")).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
}
