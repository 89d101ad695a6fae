//! Layouts, and peers that send them, for tests here and elsewhere.

use super::*;
use frisbee::tlv::put_item;
use std::sync::Arc;

pub(crate) static FIRST: Layout = Layout::new("shop.Orders", &[10, 11], 0x0102_0304_0506_0708, &[]);
pub(crate) static SECOND: Layout = Layout::new("shop.Orders", &[10, 11, 300], 2, &[0x0102_0304_0506_0708]);
pub(crate) static BROKEN: Layout = Layout::new("shop.Orders", &[10, 11], 3, &[]);
pub(crate) static OTHER: Layout = Layout::new("shop.Carts", &[11], 4, &[]);
pub(crate) static APART: Layout = Layout::new("shop.Stock", &[90], 5, &[]);

pub(crate) fn peer_with_layouts(kind: u8, layouts: &[&'static Layout]) -> PeerKind {
    let mut hello = b"fris\x01".to_vec();
    for layout in layouts {
        put_item(&mut hello, kind, &layout.item());
    }
    PeerKind::Native(Arc::new(Hello::decode(&hello.into()).expect("it is one")))
}

#[test]
fn an_item_is_written_byte_for_byte_as_specified_and_read_back() {
    let item = SECOND.item();
    let mut expected = b"\x0bshop.Orders\0\0\0\0\0\0\0\x02\x01\x01\x02\x03\x04\x05\x06\x07\x08".to_vec();
    expected.extend([10, 1, 0xA1, 0x02]);
    assert_eq!(item, expected);
    let read = PeerLayout::read(&item).expect("it was written here");
    assert_eq!((read.service.as_str(), read.fingerprint), ("shop.Orders", 2));
    assert_eq!((read.compatible, read.operations), (SECOND.compatible.to_vec(), vec![10, 11, 300]));
}

#[test]
fn client_accepts_calls_only_if_it_offers_a_service() {
    let kinds = [peer_with_layouts(OFFERED, &[&SECOND]), peer_with_layouts(CALLED, &[&SECOND]), PeerKind::Compat];
    assert_eq!(kinds.map(|client| takes_calls(&client)), [true, false, false]);
}

#[test]
fn items_that_are_cut_or_promise_too_much_say_nothing() {
    let item = SECOND.item();
    // Cut between operations it is one with fewer of them.
    let whole = item.len() - 4;
    assert!((0..whole).all(|end| PeerLayout::read(&item[..end]).is_none()));
    assert!(PeerLayout::read(b"\x01a\0\0\0\0\0\0\0\0\x21").is_none(), "more earlier layouts than a lock keeps");
    assert!(PeerLayout::read(b"\x01a\0\0\0\0\0\0\0\0\0\xff\xff\x03\x01").is_none(), "an operation beyond 16 bits");
    assert!(PeerLayout::read(b"\x01\xff\0\0\0\0\0\0\0\0\0").is_none(), "a name that is no text");
}
