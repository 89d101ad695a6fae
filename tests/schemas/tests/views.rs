//! Tests that a view has the same content as the message decoded from the same body, and that handlers can use views.

use crate::random::{Random, pool, protobuf};
use frpc::polyglot::{self, Decoder, Encoder, Form, Number, Root, Viewed};
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use std::fmt::Debug;

/// Number of random values of each message type.
const VALUES: u64 = 100;

/// Returns the debug output of a message or a view without the expected differences: names of enum values, which prost
/// prints, and `r#`.
fn debug_text(text: &impl Debug, enums: &[(&str, i32)]) -> String {
    let mut text = format!("{text:?}").replace("View", "").replace("r#", "").replace("Self_", "Self");
    for lifetime in [", _input: PhantomData<&()>", " { _input: PhantomData<&()> }"] {
        text = text.replace(lifetime, "");
    }
    for (name, number) in enums {
        text = text.replace(name, &number.to_string());
    }
    text
}

#[track_caller]
fn agrees<M>(bytes: &[u8], enums: &[(&str, i32)])
where
    M: Viewed + frpc::prost::Message + Debug,
    for<'a> M::View<'a>: Debug,
{
    let message = M::decode(bytes).unwrap();
    for form in [Form::Extended, Form::Flat] {
        let mut body = Vec::new();
        polyglot::encode_root(&message, &mut Encoder::new(&mut body).with_form(form)).unwrap();
        let Root::Message(owned) = polyglot::decode_root::<M>(&mut Decoder::new(&body)).unwrap() else { panic!() };
        let mut decoder = Decoder::new(&body);
        let Root::Message(view) = polyglot::view_root::<M::View<'_>>(&mut decoder).unwrap() else { panic!() };
        assert_eq!(decoder.remaining(), 0);
        assert_eq!(debug_text(&view, enums), debug_text(&owned, enums));
    }
}

/// Compares random values of the listed messages with their views.
macro_rules! agree {
    ($package:literal, $file:literal, $($module:ident)::+, $enums:expr, $($message:ident)*) => {{
        use schema_tests::views::$($module)::+ as module;
        let pool = pool(&[$file], "proto");
        $(
            let descriptor = pool.get_message_by_name(concat!($package, ".", stringify!($message))).unwrap();
            for seed in 0..VALUES {
                agrees::<module::$message>(&protobuf(&descriptor, &mut Random::new(seed)), &$enums);
            }
        )*
    }};
}

const COLORS: [(&str, i32); 3] = [("Red", 0), ("Green", 1), ("Blue", 2)];

#[test]
fn scalar_views_match_owned_messages() {
    agree!("scalars", "scalars", scalars, COLORS, Singular Optional Repeated Unpacked Chosen);
}

#[test]
fn views_of_every_map_agree() {
    agree!("maps", "maps", maps, [],
        OfInt32 OfInt64 OfUint32 OfUint64 OfSint32 OfSint64 OfFixed32 OfFixed64 OfSfixed32 OfSfixed64 OfBool OfString);
}

#[test]
fn enum_and_recursive_views_match_messages() {
    let names = [("Sweet", 0), ("Sour", 3), ("Salty", 4), ("Calm", 0), ("Wild", 7)];
    let more = [("Zero", 0), ("Far", 1000), ("Neg", -5), ("Ten", 10), ("Max", i32::MAX)];
    let last = [("None", 0), ("Started", 1), ("Done", 2)]; // `None` of an option is replaced on both sides.
    agree!("enums", "enums", enums, [&names[..], &more[..], &last[..]].concat(), Outer);
    agree!("recursive", "recursive", recursive, [], List Tree Ping Pong Term Sum);
    agree!("nested", "nested", nested, [("Z", 0), ("Y", 1)], A);
}

#[test]
fn imported_and_keyword_views_match_messages() {
    agree!("imports.deep.v1", "imports", imports::deep::v1, [("Low", 0), ("High", 1)], Uses);
    agree!("services", "services", services, [], Bulk Empty);
    agree!("names", "names", names, [], Keywords KeywordChoice KeywordMessages Locals LocalChoice);
}

#[test]
fn views_of_well_known_types_agree() {
    agree!("wellknown", "wellknown", wellknown, [("NullValue(NullValue)", 0), ("NullValue(0)", 0), ("NullValue", 0)],
        Singular Optional Repeated Mapped Chosen);
}

#[test]
fn views_borrow_from_body() {
    use schema_tests::views::services::{BulkView, WordView};
    let body = b"\x08\x00\x05\x0a\x04Emma";
    let Root::Message(word) = polyglot::view_root::<WordView<'_>>(&mut Decoder::new(body)).unwrap() else { panic!() };
    assert!(std::ptr::eq(word.word.as_bytes(), &body[5..]));
    assert!(
        polyglot::view_root::<BulkView<'_>>(&mut Decoder::new(body)).is_err(),
        "view of another message type should be rejected"
    );

    use schema_tests::views::enums::Sparse;
    let read: polyglot::List<'_, Number<Sparse>> =
        Decoder::new(&[1, 0x0a, 0x0a, 2, 0x0a, 2, 0x0a, 9]).view("it").unwrap();
    assert_eq!(read.iter().map(Number::get).collect::<Vec<_>>(), [-5, i32::MIN + 9]);
}

mod services {
    pub(crate) use schema_tests::views::services::*;
}

/// A service that counts letters through a view, without copying a word.
struct Looker;

impl services::First for Looker {
    async fn talk(
        &self,
        request: Request<Streaming<frpc::Undecoded<services::Word>>>,
    ) -> Result<Response<ResponseStream<services::Word>>, Status> {
        let mut words = request.into_inner();
        let mut all = String::new();
        while let Some(word) = words.message().await? {
            all.push_str(word.view()?.word);
        }
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(services::Word { word: all.into() })]))))
    }

    async fn feed(
        &self,
        request: Request<Streaming<frpc::Undecoded<services::Word>>>,
    ) -> Result<Response<services::Count>, Status> {
        let (mut words, mut count) = (request.into_inner(), 0);
        while let Some(word) = words.message().await? {
            count += word.view()?.word.len() as u64;
        }
        Ok(Response::new(services::Count { count }))
    }

    async fn watch(
        &self,
        request: Request<frpc::Undecoded<services::Count>>,
    ) -> Result<Response<ResponseStream<services::Word>>, Status> {
        let word = request.get_ref().view()?.count.to_string();
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(services::Word { word: word.into() })]))))
    }

    async fn echo(
        &self,
        request: Request<frpc::Undecoded<services::Word>>,
    ) -> Result<Response<services::Word>, Status> {
        let raw = request.into_inner();
        let word = raw.view()?.word;
        assert!(raw.as_bytes().as_ptr_range().contains(&word.as_ptr()) || word.is_empty());
        Ok(Response::new(services::Word { word: word.to_uppercase().into() }))
    }
}

#[tokio::test]
async fn handlers_look_at_requests_without_decoding_them() -> Result<(), Box<dyn std::error::Error>> {
    use services::{Count, FirstClient, FirstServer, Word};
    let word = |word: &str| Word { word: word.into() };
    let server = frpc::Server::builder().add_service(FirstServer::new(Looker)).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    let client = FirstClient::connect(&address).await?;
    tokio::spawn(server.serve());

    assert_eq!(client.echo(word("hi")).await?.into_inner(), word("HI"));
    assert_eq!(client.echo(word("")).await?.into_inner(), word(""));
    assert_eq!(client.feed(frpc::iter(["a", "bcd"].map(word))).await?.into_inner(), Count { count: 4 });
    let mut words = client.talk(frpc::iter(["a", "bcd"].map(word))).await?.into_inner();
    assert_eq!(words.message().await?, Some(word("abcd")));
    let mut words = client.watch(Count { count: 7 }).await?.into_inner();
    assert_eq!(words.message().await?, Some(word("7")));

    // This client announces no layout. Otherwise the server would reject it before reading the request.
    let config = frisbee::Config::default().hello(false);
    let stranger = frpc::Channel::builder().config(config).connect(address).await?;
    let stranger = schema_tests::protobuf::services::FirstClient::new(stranger);
    let error = stranger.echo(schema_tests::protobuf::services::Word { word: "hi".to_owned() }).await.unwrap_err();
    assert!(error.message().contains("the request cannot be read: in `services.Word` at byte 0"), "{error}");
    Ok(())
}

#[test]
fn undecoded_messages_round_trip_in_both_forms() -> Result<(), Box<dyn std::error::Error>> {
    use schema_tests::views::scalars::Optional;
    let message = Optional { f_int32: Some(0), ..Optional::default() };
    let raw = frpc::Undecoded::new(&message)?;
    assert_eq!(raw.decode()?, message);
    assert_eq!(raw.view()?.f_int32, Some(0));
    for form in [Form::Flat, Form::Extended] {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        polyglot::encode_root(&raw, &mut Encoder::new(&mut one).with_form(form))?;
        polyglot::encode_root(&message, &mut Encoder::new(&mut other).with_form(form))?;
        assert_eq!(one, other);
    }
    let none = frpc::Undecoded::<Optional>::default();
    assert_eq!(none.decode()?, Optional::default());
    assert_eq!(none.view()?.f_string, None);
    Ok(())
}
