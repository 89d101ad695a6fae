//! Tests of layouts, and peers with layouts for tests of other modules.

use super::*;
use frisbee::Operation;
use frisbee::tlv::put_item;
use std::sync::Arc;

pub(crate) static FIRST: Layout = Layout::new("shop.Orders", &[10, 11], 0x0102_0304_0506_0708, b"", "");
pub(crate) static SECOND: Layout = Layout::new("shop.Orders", &[10, 11, 300], 2, b"", "");
pub(crate) static APART: Layout = Layout::new("shop.Stock", &[90], 5, b"", "");

pub(crate) fn peer_with_layouts(kind: u8, layouts: &[&'static Layout]) -> PeerKind {
    let mut hello = b"fris\x01".to_vec();
    for layout in layouts {
        put_item(&mut hello, kind, &layout.item());
    }
    PeerKind::Native(Arc::new(Hello::decode(&hello.into()).expect("HELLO should be valid")))
}

#[test]
fn layout_item_has_specified_bytes() {
    let item = SECOND.item();
    let expected = [&b"\x0bshop.Orders\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02"[..], &[10, 1, 0xA1, 0x02]].concat();
    assert_eq!(item, expected);
    let PeerKind::Native(hello) = peer_with_layouts(CALLED, &[&SECOND]) else { panic!("peer should be native") };
    let read =
        PeerLayout::all(&hello, CALLED).next().expect("HELLO should contain the well-formed item of one service");
    assert!(SECOND.is_same(&read) && !FIRST.is_same(&read), "{read:?}");
    assert!(SECOND.is_item(&item) && !FIRST.is_item(&item) && !SECOND.is_item(&item[1..]));
    assert_eq!(malformed_item(&hello), None);
}

#[test]
fn only_clients_offering_services_accept_calls() {
    let kinds = [peer_with_layouts(OFFERED, &[&SECOND]), peer_with_layouts(CALLED, &[&SECOND]), PeerKind::Compat];
    assert_eq!(kinds.map(|client| takes_calls(&client)), [true, false, false]);
}

#[test]
fn malformed_item_for_calls_is_named() {
    let named = |items: &[(u8, &[u8])]| {
        let mut hello = b"fris\x01".to_vec();
        items.iter().for_each(|(kind, value)| put_item(&mut hello, *kind, value));
        malformed_item(&Hello::decode(&hello.into()).expect("HELLO should be valid"))
    };
    let item = SECOND.item();
    // If it is cut between operations, the item is valid and has fewer operations.
    let whole = item.len() - 4;
    for kind in [OFFERED, CALLED] {
        assert!((0..whole).all(|end| named(&[(kind, &item[..end])]) == Some(kind)));
        let layout = |operations: &[u8]| [&b"\x01a"[..], &[0; 16], operations].concat();
        assert_eq!(named(&[(kind, &layout(b"\x01")), (kind, &layout(b"\x02"))]), None);
        assert_eq!(
            named(&[(kind, &layout(b"\xff\xff\x03\x01"))]),
            Some(kind),
            "operation number above 16 bits should be malformed"
        );
        assert_eq!(
            named(&[(kind, &[&b"\x01\xff"[..], &[0; 16]].concat())]),
            Some(kind),
            "name that is not UTF-8 should be malformed"
        );
    }
    for kind in [REPORT_REQUEST_ITEM, DECOMPRESSES] {
        assert_eq!([1, 2].map(|count| named(&vec![(kind, &[1][..]); count])), [None, Some(kind)]);
    }
}

#[test]
fn asks_and_descriptions_have_specified_bytes() {
    static DESCRIBED: Layout = Layout::new("shop.Stock", &[90], 5, b"\x01\0\0\x01s", "");
    let put = |write: &dyn Fn(&mut Outbox)| {
        let mut outbox = Outbox::default();
        outbox.set_limit(10);
        write(&mut outbox);
        assert_eq!(outbox.limit(), 10);
        outbox.take_bytes()
    };
    let fingerprints = vec![DESCRIBED.fingerprint; ASKED_MAX + 1];
    let asks = put(&|outbox| put_ask(outbox, &fingerprints));
    let lengths: Vec<_> = [&asks[..], &asks[asks.len() - 26..]].iter().map(|ask| ask[..10].to_vec()).collect();
    assert_eq!(lengths[0], [0, 15, 0, 1, 0, 3, 0, 0, 4, 0], "packet should have at most 64 fingerprints");
    assert_eq!(lengths[1], [0, 15, 0, 1, 0, 3, 0, 0, 0, 16]);
    assert!(asked(&asks[10..1034]).is_some_and(|asked| asked.eq(fingerprints[1..].iter().copied())));
    for body in [&[][..], &[0; 15], &[0; 17], &[0; 16 * 65]] {
        assert!(asked(body).is_none(), "ASK packet with a body of {} bytes should be rejected", body.len());
    }
    let layout = put(&|outbox| put_layout(outbox, DESCRIBED.fingerprint, Some(&DESCRIBED)));
    assert_eq!(layout[..], [&[0, 15, 0, 2, 0, 3, 0, 0, 0, 5][..], DESCRIBED.description].concat());
    let absent = put(&|outbox| put_layout(outbox, APART.fingerprint, Some(&APART)));
    assert_eq!(absent[..], [&[0, 15, 0, 2, 0, 3, 0, 0, 0, 17, 0][..], &[0; 15], &[5]].concat());
    let calls = put(&|outbox| put_calls(outbox, &APART));
    assert_eq!(calls[..10], [0, 15, 0, 3, 0, 3, 0, 0, 0, 28]);
    assert_eq!(calls[10..], APART.item());
}

/// Regression test: packets about layouts lifted the limit of available memory, so that a client could let a server
/// queue replies beyond it.
#[test]
fn packets_about_layouts_obey_memory_limit() {
    static LONG: Layout = Layout::new("shop.Stock", &[90], 5, &[1; 2000], "");
    let mut outbox = Outbox::default();
    outbox.set_room(Some(1024));
    put_ask(&mut outbox, &[LONG.fingerprint; ASKED_MAX]);
    put_layout(&mut outbox, LONG.fingerprint, Some(&LONG));
    assert_eq!(outbox.len(), 10 + 1024 + 10 + 17);
    let reply = |length| vec![0; length];
    assert!(outbox.push(PacketId(1), Operation::FIRST_USER, reply(1025)).is_err());
    assert!(outbox.push(PacketId(1), Operation::FIRST_USER, reply(1024)).is_ok());
}
