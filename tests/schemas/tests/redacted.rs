//! Tests of fields with the option `debug_redact`.

use frpc::polyglot::{self, Decoder, Encoder, Root};
use schema_tests::views::redacted::{AccountView, account};

/// The value of all secret fields in this test.
const SECRET: &str = "hunter2";

macro_rules! account {
    ($module:path, $string:ty, $map:ty) => {{
        use $module::{Account, account::Contact};
        let secret = || <$string>::from(SECRET);
        Account {
            name: "Ada".into(),
            password: secret(),
            keys: vec![SECRET.as_bytes().to_vec().into()],
            tokens: <$map>::from([(SECRET.into(), secret())]),
            pin: Some(4711),
            parent: Some(Box::new(Account { password: secret(), ..Account::default() })),
            contact: Some(Contact::Email(secret())),
        }
    }};
}

fn expect_hidden(debug: &str) {
    assert!(!debug.contains(SECRET) && !debug.contains("4711"), "{debug}");
    assert_eq!(debug.matches("[redacted]").count(), 9, "{debug}");
    assert!(debug.contains("name: \"Ada\"") && debug.contains("Email([redacted])"), "{debug}");
}

#[test]
fn debug_of_message_hides_redacted_fields() {
    type Map<K, V> = std::collections::HashMap<K, V>;
    expect_hidden(&format!("{:?}", account!(schema_tests::all::redacted, String, Map<String, String>)));
    expect_hidden(&format!("{:?}", account!(schema_tests::protobuf::redacted, String, Map<String, String>)));
}

#[test]
fn debug_output_hides_redacted_fields() {
    type Map<K, V> = std::collections::BTreeMap<K, V>;
    use frpc::Utf8Bytes;
    let account = account!(schema_tests::views::redacted, Utf8Bytes, Map<String, Utf8Bytes>);
    expect_hidden(&format!("{account:?}"));
    let mut body = Vec::new();
    polyglot::encode_root(&account, &mut Encoder::new(&mut body)).expect("message should be encodable");
    let view =
        polyglot::view_root::<AccountView<'_>>(&mut Decoder::new(&body)).expect("encoded message should be valid");
    let Root::Message(view) = view else { panic!("as encoded") };
    assert_eq!(view.password, SECRET);
    expect_hidden(&format!("{view:?}"));
    assert_eq!(format!("{:?}", account::Contact::Room(7)), "Room(7)");
}
