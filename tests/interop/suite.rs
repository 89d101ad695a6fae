//! Test cases that a server of the interop schema must pass, in any implementation, with a native client.

use frisbee_tests::interop::{
    AddRequest, Color, Count, Empty, Inner, InteropClient, Lists, Maps, Middle, Mixed, Nested, Payload, Range, Scalars,
    SleepRequest, Text,
};
use frisbee_tests::service::describe;
use frpc::{Code, Request, RequestStream, Status, Streaming};
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinSet;

/// Outcome of a case: success, or the text of a failure.
type Outcome = Result<(), String>;
type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A test case: its name and its action.
pub(crate) type Case = (&'static str, fn(InteropClient) -> Running);

macro_rules! cases {
    ($($name:literal $case:expr,)*) => { &[$(($name, |client| Box::pin($case(client)))),*] };
}

/// Maximum duration of a case, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(120);

/// A duration in milliseconds that is longer than the time limit of a case.
const FOR_EVER: u32 = 600_000;

/// Runs cases one after the other on the same connection. Each case also checks that the earlier ones left the
/// connection intact.
pub(crate) async fn run(client: &InteropClient, cases: &[Case]) {
    let mut failed = Vec::new();
    for (name, case) in cases {
        let outcome = tokio::time::timeout(LIMIT, tokio::spawn(case(client.clone()))).await;
        let outcome = match outcome {
            Err(_) => Err("it did not end".to_owned()),
            Ok(Err(panic)) => Err(panic.to_string()),
            Ok(Ok(outcome)) => outcome,
        };
        if let Err(why) = outcome {
            failed.push(format!("{name}: {why}"));
        }
    }
    assert!(failed.is_empty(), "{} of {} cases failed: {failed:#?}", failed.len(), cases.len());
}

/// Every case.
pub(crate) const ALL: &[Case] = cases! {
    "unary/add" add,
    "unary/add-extremes" add_extremes,
    "unary/do-nothing" do_nothing,
    "unary/1000-one-by-one" one_by_one,
    "scalars/typical" |c| echo_scalars(c, typical()),
    "scalars/defaults" |c| echo_scalars(c, Scalars::default()),
    "scalars/maxima" |c| echo_scalars(c, maxima()),
    "scalars/minima" |c| echo_scalars(c, minima()),
    "scalars/infinities" |c| echo_scalars(c, Scalars { f: f32::INFINITY, d: f64::NEG_INFINITY, ..typical() }),
    "scalars/nan-payloads-and-minus-zero" odd_floats,
    "scalars/text-of-many-scripts" |c| echo_scalars(c, Scalars { text: "\u{0}aé漢字🎉\u{10FFFF}".into(), ..typical() }),
    "scalars/all-bytes" |c| echo_scalars(c, Scalars { raw: (0..=255).collect(), ..typical() }),
    "scalars/every-color" every_color,
    "scalars/unknown-enum-index" unknown_color,
    "describe/typical" |c| describes(c, typical()),
    "describe/defaults" |c| describes(c, Scalars::default()),
    "describe/maxima" |c| describes(c, maxima()),
    "describe/minima" |c| describes(c, minima()),
    "nested/all-absent" |c| echo_nested(c, Nested::default()),
    "nested/all-present" |c| echo_nested(c, nested()),
    "nested/present-but-default" |c| echo_nested(c, Nested { first: Some(Inner::default()), ..Nested::default() }),
    "nested/absent-in-present" |c| echo_nested(c, Nested { middle: Some(Middle::default()), ..Nested::default() }),
    "lists/empty" |c| echo_lists(c, Lists::default()),
    "lists/one-of-each" |c| echo_lists(c, lists(1)),
    "lists/many-of-each" |c| echo_lists(c, lists(1000)),
    "maps/empty" |c| echo_maps(c, Maps::default()),
    "maps/one-of-each" |c| echo_maps(c, maps(1)),
    "maps/many-of-each" |c| echo_maps(c, maps(500)),
    "mixed/defaults" |c| echo_mixed(c, Mixed::default()),
    "mixed/every-field" |c| echo_mixed(c, mixed()),
    "error/text" |c| fails(c, "no such thing"),
    "error/many-scripts" |c| fails(c, "nicht möglich: 不可能 🚫"),
    "error/long" |c| fails(c, LONG),
    "error/EOF-is-a-text" |c| fails(c, "EOF!"),
    "error/then-success" error_then_success,
    "error/1000-at-once" errors_at_once,
    "payload/empty" |c| echo_payload(c, 0),
    "payload/64KiB-and-around" payloads_around_64k,
    "payload/1MiB" |c| echo_payload(c, 1 << 20),
    "payload/4MiB" |c| echo_payload(c, 4 << 20),
    "payload/4MiB-ten-at-once" large_at_once,
    "payload/too-long-is-refused-here" too_long,
    "sleep/out-of-order" out_of_order,
    "sleep/100-at-once" sleeps_at_once,
    "sleep/timeout-of-one-call" times_out,
    "sleep/dropped-calls-do-no-harm" dropped_calls,
    "load/10000-at-once" ten_thousand_at_once,
    "load/more-than-can-be-in-flight" more_than_in_flight,
    "ids/70000-calls-of-one-method" ids_wrap,
    "stream/count-up-0" |c| counts_up(c, 0),
    "stream/count-up-1" |c| counts_up(c, 1),
    "stream/count-up-10000" |c| counts_up(c, 10_000),
    "stream/count-up-fails" count_up_fails,
    "stream/count-up-left-early" count_up_left_early,
    "stream/sum-up-0" |c| sums_up(c, 0),
    "stream/sum-up-1" |c| sums_up(c, 1),
    "stream/sum-up-10000" |c| sums_up(c, 10_000),
    "stream/chat-1" |c| chats(c, 1),
    "stream/chat-1000" |c| chats(c, 1000),
    "stream/chat-10000-in-one-go" chats_in_one_go,
    "stream/chat-half-closed-at-once" chat_half_closed,
    "stream/chat-of-1MiB" large_chat,
    "streams/200-at-once-beside-calls" streams_with_calls,
    "streams/many-one-after-the-other" successive_streams,
    "silence/6s" silence,
};

/// The cases for the old version. Its Go code differs only in the header.
pub(crate) const OLD: &[Case] = cases! {
    "unary/add" add,
    "unary/1000-one-by-one" one_by_one,
    "scalars/typical" |c| echo_scalars(c, typical()),
    "nested/all-present" |c| echo_nested(c, nested()),
    "lists/many-of-each" |c| echo_lists(c, lists(1000)),
    "maps/many-of-each" |c| echo_maps(c, maps(500)),
    "mixed/every-field" |c| echo_mixed(c, mixed()),
    "error/text" |c| fails(c, "no such thing"),
    "payload/1MiB" |c| echo_payload(c, 1 << 20),
    "payload/4MiB" |c| echo_payload(c, 4 << 20),
    "sleep/out-of-order" out_of_order,
    "load/10000-at-once" ten_thousand_at_once,
    "ids/70000-calls-of-one-method" ids_wrap,
    "stream/count-up-10000" |c| counts_up(c, 10_000),
    "stream/count-up-fails" count_up_fails,
    "stream/sum-up-10000" |c| sums_up(c, 10_000),
    "stream/chat-1000" |c| chats(c, 1000),
    "streams/200-at-once-beside-calls" streams_with_calls,
    "silence/6s" silence,
};

const LONG: &str = match std::str::from_utf8(&[b'x'; 60_000]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

fn typical() -> Scalars {
    Scalars {
        flag: true,
        i32: -7,
        i64: -70_000_000_000,
        u32: 7,
        u64: 70_000_000_000,
        s32: -300,
        s64: 300,
        fx32: 32,
        fx64: 64,
        sfx32: -32,
        sfx64: -64,
        f: 1.5,
        d: -2.25,
        text: "some text".into(),
        raw: vec![0, 1, 254, 255],
        color: Color::Green.into(),
    }
}

fn maxima() -> Scalars {
    Scalars {
        flag: true,
        i32: i32::MAX,
        i64: i64::MAX,
        u32: u32::MAX,
        u64: u64::MAX,
        s32: i32::MAX,
        s64: i64::MAX,
        fx32: u32::MAX,
        fx64: u64::MAX,
        sfx32: i32::MAX,
        sfx64: i64::MAX,
        f: f32::MAX,
        d: f64::MAX,
        ..typical()
    }
}

fn minima() -> Scalars {
    Scalars {
        i32: i32::MIN,
        i64: i64::MIN,
        s32: i32::MIN,
        s64: i64::MIN,
        sfx32: i32::MIN,
        sfx64: i64::MIN,
        f: f32::MIN,
        d: f64::MIN,
        ..Scalars::default()
    }
}

fn nested() -> Nested {
    let inner = |id| Inner { id, name: format!("number {id}") };
    Nested {
        first: Some(inner(1)),
        label: "label".into(),
        middle: Some(Middle { inner: Some(inner(2)), weight: 3 }),
        absent: None,
    }
}

fn lists(count: i32) -> Lists {
    let all = || 0..count;
    let wide = || all().map(|n| i64::from(n) << 33);
    Lists {
        flags: all().map(|n| n % 2 == 0).collect(),
        i32s: all().map(|n| -n).collect(),
        i64s: wide().collect(),
        u32s: all().map(|n| n as u32).collect(),
        u64s: wide().map(|n| n as u64).collect(),
        s32s: all().collect(),
        s64s: wide().map(|n| -n).collect(),
        fx32s: all().map(|n| u32::MAX - n as u32).collect(),
        sfx64s: wide().collect(),
        fs: all().map(|n| n as f32 / 3.0).collect(),
        ds: all().map(|n| f64::from(n) / 7.0).collect(),
        texts: all().map(|n| n.to_string()).collect(),
        inners: all().map(|id| Inner { id, name: id.to_string() }).collect(),
    }
}

fn maps(count: i32) -> Maps {
    let text = |n: i32| format!("text {n}");
    Maps {
        words: (0..count).map(|n| (n.to_string(), text(n))).collect(),
        by_i32: (0..count).map(|n| (-n, text(n))).collect(),
        by_u64: (0..count).map(|n| (u64::MAX - n as u64, n % 2 == 0)).collect(),
        by_flag: HashMap::from([(true, 1), (false, -1)]),
        prices: (0..count).map(|n| (n.to_string(), f64::from(n) / 100.0)).collect(),
        colors: (0..count).map(|n| (n.to_string(), n % 4)).collect(),
        inners: (0..count).map(|id| (id.to_string(), Inner { id, name: text(id) })).collect(),
    }
}

fn mixed() -> Mixed {
    Mixed {
        message_first: Some(Inner { id: 1, name: "first".into() }),
        list_second: vec!["a".into(), String::new(), "c".into()],
        scalar_third: 3,
        map_fourth: HashMap::from([("four".into(), 4)]),
        scalar_fifth: "five".into(),
        list_sixth: vec![Inner::default(), Inner { id: 6, name: "six".into() }],
        enum_seventh: Color::Blue.into(),
    }
}

/// Converts the error of a failed call to text.
#[allow(clippy::needless_pass_by_value)] // Passed to `map_err`.
fn text(status: Status) -> String {
    status.to_string()
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &T, expected: &T) -> Outcome {
    if got == expected { Ok(()) } else { Err(format!("got {got:?}, expected {expected:?}")) }
}

async fn add(client: InteropClient) -> Outcome {
    let sum = client.add(AddRequest { a: 40, b: 2 }).await.map_err(text)?.into_inner();
    equal(&(sum.total, sum.count), &(42, 2))
}

async fn add_extremes(client: InteropClient) -> Outcome {
    for (a, b) in [(i64::MAX, 1), (i64::MIN, -1), (i64::MIN, i64::MAX), (-1, -1)] {
        let sum = client.add(AddRequest { a, b }).await.map_err(text)?.into_inner();
        equal(&sum.total, &a.wrapping_add(b))?;
    }
    Ok(())
}

async fn do_nothing(client: InteropClient) -> Outcome {
    client.do_nothing(Empty {}).await.map(drop).map_err(text)
}

async fn one_by_one(client: InteropClient) -> Outcome {
    for a in 0..1000 {
        let sum = client.add(AddRequest { a, b: 1 }).await.map_err(text)?.into_inner();
        equal(&sum.total, &(a + 1))?;
    }
    Ok(())
}

async fn echo_scalars(client: InteropClient, scalars: Scalars) -> Outcome {
    let echoed = client.echo_scalars(scalars.clone()).await.map_err(text)?.into_inner();
    equal(&echoed, &scalars)
}

async fn odd_floats(client: InteropClient) -> Outcome {
    for (f, d) in [(0x7fc0_1234, 0x7ff8_0000_dead_beef), (0xffff_ffff, u64::MAX), (0x8000_0000, 1 << 63)] {
        let scalars = Scalars { f: f32::from_bits(f), d: f64::from_bits(d), ..typical() };
        let echoed = client.echo_scalars(scalars).await.map_err(text)?.into_inner();
        equal(&(echoed.f.to_bits(), echoed.d.to_bits()), &(f, d))?;
    }
    Ok(())
}

async fn every_color(client: InteropClient) -> Outcome {
    for color in [Color::Unset, Color::Red, Color::Green, Color::Blue] {
        echo_scalars(client.clone(), Scalars { color: color.into(), ..typical() }).await?;
    }
    Ok(())
}

async fn unknown_color(client: InteropClient) -> Outcome {
    for index in [4, 99, 1 << 20, i32::MAX] {
        echo_scalars(client.clone(), Scalars { color: i32::MIN + index, ..typical() }).await?;
    }
    // A number that the schema does not declare and that is not an index can only be exchanged by native peers.
    match client.echo_scalars(Scalars { color: 4, ..typical() }).await {
        Ok(echoed) => equal(&echoed.into_inner().color, &4),
        Err(refused) => equal(&refused.code(), &Code::Internal),
    }
}

async fn describes(client: InteropClient, scalars: Scalars) -> Outcome {
    let expected = describe(&scalars);
    let description = client.describe(scalars).await.map_err(text)?.into_inner();
    equal(&description.value, &expected)
}

async fn echo_nested(client: InteropClient, nested: Nested) -> Outcome {
    let echoed = client.echo_nested(nested.clone()).await.map_err(text)?.into_inner();
    equal(&echoed, &nested)
}

async fn echo_lists(client: InteropClient, lists: Lists) -> Outcome {
    let echoed = client.echo_lists(lists.clone()).await.map_err(text)?.into_inner();
    equal(&echoed, &lists)
}

async fn echo_maps(client: InteropClient, maps: Maps) -> Outcome {
    let echoed = client.echo_maps(maps.clone()).await.map_err(text)?.into_inner();
    equal(&echoed, &maps)
}

async fn echo_mixed(client: InteropClient, mixed: Mixed) -> Outcome {
    let echoed = client.echo_mixed(mixed.clone()).await.map_err(text)?.into_inner();
    equal(&echoed, &mixed)
}

async fn fails(client: InteropClient, with: &str) -> Outcome {
    match client.fail(Text { value: with.into() }).await {
        Err(status) => equal(&(status.code(), status.message()), &(Code::Unknown, with)),
        Ok(reply) => Err(format!("it succeeded with {reply:?}")),
    }
}

async fn error_then_success(client: InteropClient) -> Outcome {
    for _ in 0..100 {
        fails(client.clone(), "once more").await?;
        add(client.clone()).await?;
    }
    Ok(())
}

async fn errors_at_once(client: InteropClient) -> Outcome {
    all(1000, move |n| {
        let client = client.clone();
        async move { fails(client, &format!("failure {n}")).await }
    })
    .await
}

async fn echo_payload(client: InteropClient, length: usize) -> Outcome {
    let data: Vec<u8> = (0..length).map(|at| ((at * 31) >> 3) as u8).collect();
    let payload = Payload { seq: length as u32, data };
    let echoed = client.echo_payload(payload.clone()).await.map_err(text)?.into_inner();
    if echoed == payload { Ok(()) } else { Err(format!("{} bytes were echoed, or others", echoed.data.len())) }
}

async fn payloads_around_64k(client: InteropClient) -> Outcome {
    for length in (65_500..65_560).chain([16_383, 16_384, 131_072]) {
        echo_payload(client.clone(), length).await?;
    }
    Ok(())
}

async fn large_at_once(client: InteropClient) -> Outcome {
    all(10, move |_| echo_payload(client.clone(), 4 << 20)).await
}

async fn too_long(client: InteropClient) -> Outcome {
    let payload = Payload { seq: 1, data: vec![0; 5 << 20] };
    match client.echo_payload(payload).await {
        Err(status) => equal(&status.code(), &Code::ResourceExhausted)?,
        Ok(_) => return Err("a request over 5 MiB was sent".into()),
    }
    add(client).await
}

async fn out_of_order(client: InteropClient) -> Outcome {
    let mut slow = pin!(client.sleep(SleepRequest { millis: FOR_EVER, tag: 1 }));
    if poll_fn(|context| Poll::Ready(slow.as_mut().poll(context).is_ready())).await {
        return Err("the slow call was over at once".into());
    }
    // If this call had to wait for the slow one, it would exceed its deadline.
    let quick = client.sleep(SleepRequest { millis: 1, tag: 2 }).await.map_err(text)?.into_inner();
    equal(&quick.tag, &2)
}

async fn sleeps_at_once(client: InteropClient) -> Outcome {
    // The calls run concurrently. One after the other, they would exceed the time limit of a case.
    let millis = 2 * u32::try_from(LIMIT.as_millis()).unwrap_or(u32::MAX) / 100;
    all(100, move |tag| {
        let client = client.clone();
        async move {
            let tag = tag as u32;
            let mut request = Request::new(SleepRequest { millis, tag });
            request.set_timeout(LIMIT);
            let slept = client.sleep(request).await.map_err(text)?.into_inner();
            equal(&slept.tag, &tag)
        }
    })
    .await
}

async fn times_out(client: InteropClient) -> Outcome {
    let mut request = Request::new(SleepRequest { millis: FOR_EVER, tag: 1 });
    request.set_timeout(Duration::from_millis(50));
    match client.sleep(request).await {
        Err(status) => equal(&status.code(), &Code::DeadlineExceeded)?,
        Ok(_) => return Err("it waited".into()),
    }
    add(client).await
}

async fn dropped_calls(client: InteropClient) -> Outcome {
    for tag in 0..100 {
        let call = client.sleep(SleepRequest { millis: 5, tag });
        let _ = tokio::time::timeout(Duration::from_millis(1), call).await;
    }
    one_by_one(client).await
}

async fn ten_thousand_at_once(client: InteropClient) -> Outcome {
    all(10_000, move |a| {
        let client = client.clone();
        async move {
            let sum = client.add(AddRequest { a: a as i64, b: 1 }).await.map_err(text)?.into_inner();
            equal(&sum.total, &(a as i64 + 1))
        }
    })
    .await
}

async fn more_than_in_flight(client: InteropClient) -> Outcome {
    // A client has at most 16 384 calls in flight, and further calls wait.
    all(20_000, move |tag| {
        let client = client.clone();
        async move {
            let tag = tag as u32;
            let slept = client.sleep(SleepRequest { millis: 300, tag }).await.map_err(text)?.into_inner();
            equal(&slept.tag, &tag)
        }
    })
    .await
}

async fn ids_wrap(client: InteropClient) -> Outcome {
    all(70, move |caller| {
        let client = client.clone();
        async move {
            for n in 0..1000 {
                let a = (caller * 1000 + n) as i64;
                let sum = client.add(AddRequest { a, b: 1 }).await.map_err(text)?.into_inner();
                equal(&sum.total, &(a + 1))?;
            }
            Ok(())
        }
    })
    .await
}

async fn counts_up(client: InteropClient, count: i64) -> Outcome {
    let mut counts = client.count_up(Range { from: -3, count }).await.map_err(text)?.into_inner();
    for expected in -3..count - 3 {
        equal(&counts.message().await.map_err(text)?, &Some(Count { value: expected }))?;
    }
    equal(&counts.message().await.map_err(text)?, &None)?;
    equal(&counts.message().await.map_err(text)?, &None)
}

async fn count_up_fails(client: InteropClient) -> Outcome {
    let mut counts = client.count_up(Range { from: 5, count: -1 }).await.map_err(text)?.into_inner();
    equal(&counts.message().await.map_err(text)?, &Some(Count { value: 5 }))?;
    equal(&counts.message().await.map_err(text)?, &Some(Count { value: 6 }))?;
    let failure = counts.message().await.map_err(|status| status.message().to_owned());
    equal(&failure, &Err("negative count".to_owned()))?;
    equal(&counts.message().await.map_err(text)?, &None)
}

async fn count_up_left_early(client: InteropClient) -> Outcome {
    for _ in 0..20 {
        let mut counts = client.count_up(Range { from: 0, count: 100_000 }).await.map_err(text)?.into_inner();
        equal(&counts.message().await.map_err(text)?, &Some(Count { value: 0 }))?;
    }
    add(client).await
}

async fn sums_up(client: InteropClient, count: i64) -> Outcome {
    let counts = frpc::iter((1..=count).map(|value| Count { value }));
    let sum = client.sum_up(counts).await.map_err(text)?.into_inner();
    equal(&(sum.total, sum.count), &(count * (count + 1) / 2, count))
}

async fn chats(client: InteropClient, count: usize) -> Outcome {
    let (sender, texts) = RequestStream::channel(1);
    let mut answers = client.chat(texts).await.map_err(text)?.into_inner();
    for n in 0..count {
        sender.send(Text { value: n.to_string() }).await.map_err(text)?;
        equal(&answers.message().await.map_err(text)?, &Some(Text { value: format!("re:{n}") }))?;
    }
    drop(sender);
    equal(&answers.message().await.map_err(text)?, &None)
}

async fn chats_in_one_go(client: InteropClient) -> Outcome {
    let texts = frpc::iter((0..10_000).map(|n| Text { value: n.to_string() }));
    let mut answers = client.chat(texts).await.map_err(text)?.into_inner();
    for n in 0..10_000 {
        equal(&answers.message().await.map_err(text)?, &Some(Text { value: format!("re:{n}") }))?;
    }
    equal(&answers.message().await.map_err(text)?, &None)
}

async fn chat_half_closed(client: InteropClient) -> Outcome {
    let mut answers: Streaming<Text> = client.chat(frpc::iter([])).await.map_err(text)?.into_inner();
    equal(&answers.message().await.map_err(text)?, &None)
}

async fn large_chat(client: InteropClient) -> Outcome {
    let value = "0123456789abcdef".repeat(65_536);
    let texts = frpc::iter(vec![Text { value: value.clone() }; 10]);
    let mut answers = client.chat(texts).await.map_err(text)?.into_inner();
    let mut count = 0;
    while let Some(answer) = answers.message().await.map_err(text)? {
        if answer.value.strip_prefix("re:") != Some(&value) {
            return Err(format!("answer {count} of {} bytes is wrong", answer.value.len()));
        }
        count += 1;
    }
    equal(&count, &10)
}

async fn streams_with_calls(client: InteropClient) -> Outcome {
    let streams = all(200, {
        let client = client.clone();
        move |n| {
            let client = client.clone();
            async move {
                match n % 3 {
                    0 => counts_up(client, 100).await,
                    1 => sums_up(client, 100).await,
                    _ => chats(client, 30).await,
                }
            }
        }
    });
    let calls = all(50, move |_| one_by_one(client.clone()));
    let (streams, calls) = tokio::join!(streams, calls);
    streams.and(calls)
}

async fn successive_streams(client: InteropClient) -> Outcome {
    // The long run makes more calls than there are ids. It also exceeds the number of slots in a Go peer that never
    // releases them.
    let many = std::env::var("FRISBEE_MANY").ok().and_then(|many| many.parse().ok());
    for n in 0..many.map_or(300, |many: i64| (many / 3).min(25_000)) {
        counts_up(client.clone(), n % 4).await?;
        sums_up(client.clone(), n % 4).await?;
        chats(client.clone(), 1).await?;
    }
    Ok(())
}

async fn silence(client: InteropClient) -> Outcome {
    let (sender, texts) = RequestStream::channel(1);
    let mut answers = client.chat(texts).await.map_err(text)?.into_inner();
    tokio::time::sleep(Duration::from_secs(6)).await;
    sender.send(Text { value: "still there?".into() }).await.map_err(text)?;
    equal(&answers.message().await.map_err(text)?, &Some(Text { value: "re:still there?".into() }))?;
    add(client).await
}

/// Runs a number of calls concurrently and returns the first failure.
async fn all<F>(count: usize, make: impl Fn(usize) -> F) -> Outcome
where
    F: Future<Output = Outcome> + Send + 'static,
{
    let mut running: JoinSet<_> = (0..count).map(make).collect();
    while let Some(outcome) = running.join_next().await {
        outcome.map_err(|panic| panic.to_string())??;
    }
    Ok(())
}
