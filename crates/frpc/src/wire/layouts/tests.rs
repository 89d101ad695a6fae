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
        layout.earlier_item().into_iter().for_each(|item| put_item(&mut hello, EARLIER, &item));
    }
    PeerKind::Native(Arc::new(Hello::decode(&hello.into()).expect("HELLO should be valid")))
}

#[test]
fn items_of_a_layout_have_the_specified_bytes() {
    let item = SECOND.item();
    let mut expected = b"\x0bshop.Orders\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02".to_vec();
    expected.extend([10, 1, 0xA1, 0x02]);
    assert_eq!(item, expected);
    let mut earlier = [0; 32];
    earlier[15] = 2;
    earlier[24..].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(SECOND.earlier_item().as_deref(), Some(&earlier[..]));
    assert_eq!(FIRST.earlier_item(), None);
    let PeerKind::Native(hello) = peer_with_layouts(CALLED, &[&SECOND]) else { panic!("it is native") };
    let read = PeerLayout::all(&hello, CALLED).next().expect("HELLO should contain the layout");
    assert_eq!((read.service.as_str(), read.fingerprint), ("shop.Orders", fingerprint(2)));
    assert_eq!((read.compatible, read.operations), (vec![fingerprint(FIRST.fingerprint)], vec![10, 11, 300]));
    assert_eq!(malformed_item(&hello), None);
}

#[test]
fn client_accepts_calls_only_if_it_offers_a_service() {
    let kinds = [peer_with_layouts(OFFERED, &[&SECOND]), peer_with_layouts(CALLED, &[&SECOND]), PeerKind::Compat];
    assert_eq!(kinds.map(|client| takes_calls(&client)), [true, false, false]);
}

#[test]
fn malformed_item_for_calls_is_named() {
    let named = |items: &[(u8, &[u8])]| {
        let mut hello = b"fris\x01".to_vec();
        items.iter().for_each(|(kind, value)| put_item(&mut hello, *kind, value));
        malformed_item(&Hello::decode(&hello.into()).expect("core should accept it"))
    };
    let item = SECOND.item();
    // Cut between operations it is one with fewer of them.
    let whole = item.len() - 4;
    for kind in [OFFERED, CALLED] {
        assert!((0..whole).all(|end| named(&[(kind, &item[..end])]) == Some(kind)));
        let layout = |operations: &[u8]| [&b"\x01a"[..], &[0; 16], operations].concat();
        assert_eq!(named(&[(kind, &layout(b"\x01")), (kind, &layout(b"\x02"))]), None);
        assert_eq!(named(&[(kind, &layout(b"\xff\xff\x03\x01"))]), Some(kind), "an operation beyond 16 bits");
        assert_eq!(named(&[(kind, &[&b"\x01\xff"[..], &[0; 16]].concat())]), Some(kind), "a name that is no text");
    }
    for length in [0, 15, 17, 16 * 34] {
        assert_eq!(named(&[(EARLIER, &vec![0; length])]), Some(EARLIER), "{length}");
    }
    assert_eq!(named(&[(EARLIER, &[0; 16 * 33])]), None);
    for kind in [REPORT_REQUEST_ITEM, UNPACKS] {
        assert_eq!([1, 2].map(|count| named(&vec![(kind, &[1][..]); count])), [None, Some(kind)]);
    }
}
