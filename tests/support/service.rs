//! The service of the interop schema, as the comments in `proto/interop.proto` describe it.

use crate::interop::{
    AddRequest, Count, Empty, Interop, Lists, Maps, Mixed, Nested, Payload, Range, Scalars, SleepRequest, Sum, Text,
};
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use std::fmt::Write;
use std::time::Duration;

/// Serves the interop schema.
#[derive(Clone, Copy, Debug)]
pub struct Service;

type Reply<T> = Result<Response<T>, Status>;

impl Interop for Service {
    async fn echo_scalars(&self, request: Request<Scalars>) -> Reply<Scalars> {
        Ok(Response::new(request.into_inner()))
    }

    async fn echo_nested(&self, request: Request<Nested>) -> Reply<Nested> {
        Ok(Response::new(request.into_inner()))
    }

    async fn echo_lists(&self, request: Request<Lists>) -> Reply<Lists> {
        Ok(Response::new(request.into_inner()))
    }

    async fn echo_maps(&self, request: Request<Maps>) -> Reply<Maps> {
        Ok(Response::new(request.into_inner()))
    }

    async fn echo_mixed(&self, request: Request<Mixed>) -> Reply<Mixed> {
        Ok(Response::new(request.into_inner()))
    }

    async fn do_nothing(&self, _request: Request<Empty>) -> Reply<Empty> {
        Ok(Response::new(Empty {}))
    }

    async fn fail(&self, request: Request<Text>) -> Reply<Text> {
        Err(Status::unknown(request.into_inner().value))
    }

    async fn echo_payload(&self, request: Request<Payload>) -> Reply<Payload> {
        Ok(Response::new(request.into_inner()))
    }

    async fn add(&self, request: Request<AddRequest>) -> Reply<Sum> {
        let AddRequest { a, b } = request.into_inner();
        Ok(Response::new(Sum { total: a.wrapping_add(b), count: 2 }))
    }

    async fn sleep(&self, request: Request<SleepRequest>) -> Reply<SleepRequest> {
        let request = request.into_inner();
        tokio::time::sleep(Duration::from_millis(request.millis.into())).await;
        Ok(Response::new(request))
    }

    async fn describe(&self, request: Request<Scalars>) -> Reply<Text> {
        Ok(Response::new(Text { value: describe(&request.into_inner()) }))
    }

    async fn count_up(&self, request: Request<Range>) -> Reply<ResponseStream<Count>> {
        let Range { from, count } = request.into_inner();
        let numbers = move |count: i64| (0..count).map(move |step| Ok(Count { value: from.wrapping_add(step) }));
        let stream = if count < 0 {
            let failure = Err(Status::out_of_range("negative count"));
            ResponseStream::new(frpc::iter(numbers(2).chain([failure])))
        } else {
            ResponseStream::new(frpc::iter(numbers(count)))
        };
        Ok(Response::new(stream))
    }

    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Reply<Sum> {
        let mut counts = request.into_inner();
        let mut sum = Sum::default();
        while let Some(count) = counts.message().await? {
            sum.total = sum.total.wrapping_add(count.value);
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let mut texts = request.into_inner();
        let (answers, stream) = ResponseStream::channel(1);
        tokio::spawn(async move {
            loop {
                let answer = match texts.message().await {
                    Ok(Some(text)) => Ok(Text { value: format!("re:{}", text.value) }),
                    Ok(None) => return,
                    Err(status) => Err(status),
                };
                if answers.send(answer).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }
}

/// Delegates methods to [`Service`], for the `impl Interop` of a service that overrides only some methods:
/// `left_to_service!(echo_scalars, sum_up);`. `echoes` stands for all methods that return their request, except
/// `echo_payload`.
#[macro_export]
macro_rules! left_to_service {
    (@echoes) => { $crate::left_to_service!(echo_scalars, echo_nested, echo_lists, echo_maps, echo_mixed); };
    (@echo_scalars) => { $crate::left_to_service!(@echo_scalars: $crate::interop::Scalars => $crate::interop::Scalars); };
    (@echo_nested) => { $crate::left_to_service!(@echo_nested: $crate::interop::Nested => $crate::interop::Nested); };
    (@echo_lists) => { $crate::left_to_service!(@echo_lists: $crate::interop::Lists => $crate::interop::Lists); };
    (@echo_maps) => { $crate::left_to_service!(@echo_maps: $crate::interop::Maps => $crate::interop::Maps); };
    (@echo_mixed) => { $crate::left_to_service!(@echo_mixed: $crate::interop::Mixed => $crate::interop::Mixed); };
    (@do_nothing) => { $crate::left_to_service!(@do_nothing: $crate::interop::Empty => $crate::interop::Empty); };
    (@fail) => { $crate::left_to_service!(@fail: $crate::interop::Text => $crate::interop::Text); };
    (@echo_payload) => { $crate::left_to_service!(@echo_payload: $crate::interop::Payload => $crate::interop::Payload); };
    (@add) => { $crate::left_to_service!(@add: $crate::interop::AddRequest => $crate::interop::Sum); };
    (@sleep) => { $crate::left_to_service!(@sleep: $crate::interop::SleepRequest => $crate::interop::SleepRequest); };
    (@describe) => { $crate::left_to_service!(@describe: $crate::interop::Scalars => $crate::interop::Text); };
    (@count_up) => { $crate::left_to_service!(@count_up: $crate::interop::Range => frpc::ResponseStream<$crate::interop::Count>); };
    (@sum_up) => { $crate::left_to_service!(@sum_up: frpc::Streaming<$crate::interop::Count> => $crate::interop::Sum); };
    (@chat) => { $crate::left_to_service!(@chat: frpc::Streaming<$crate::interop::Text> => frpc::ResponseStream<$crate::interop::Text>); };
    (@$method:ident: $request:ty => $reply:ty) => {
        async fn $method(&self, request: frpc::Request<$request>) -> Result<frpc::Response<$reply>, frpc::Status> {
            $crate::interop::Interop::$method(&$crate::service::Service, request).await
        }
    };
    ($($method:ident),+) => { $($crate::left_to_service!(@$method);)+ };
}

/// Rejects calls of methods, for the `impl Extension` of a service that implements only some methods:
/// `not_served!(echo, sink);`.
#[macro_export]
macro_rules! not_served {
    (@echo) => { $crate::not_served!(@echo: $crate::extension::Maybe => $crate::extension::Maybe); };
    (@fail) => { $crate::not_served!(@fail: $crate::extension::Failure => $crate::extension::Maybe); };
    (@wait) => { $crate::not_served!(@wait: $crate::extension::Time => $crate::extension::Time); };
    (@ask) => { $crate::not_served!(@ask: $crate::extension::Time => $crate::extension::Time); };
    (@get) => { $crate::not_served!(@get: $crate::extension::Time => $crate::extension::Time); };
    (@flood) => { $crate::not_served!(@flood: $crate::extension::Time => frpc::ResponseStream<$crate::extension::Chunk>); };
    (@sink) => { $crate::not_served!(@sink: frpc::Streaming<$crate::extension::Chunk> => $crate::extension::Time); };
    (@$method:ident: $request:ty => $reply:ty) => {
        async fn $method(&self, _request: frpc::Request<$request>) -> Result<frpc::Response<$reply>, frpc::Status> {
            Err(frpc::Status::unimplemented("not used here"))
        }
    };
    ($($method:ident),+) => { $($crate::not_served!(@$method);)+ };
}

/// Returns decoded values as text. An enum is shown as its number on the wire, which is the index of its value.
pub fn describe(scalars: &Scalars) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    // Each value of Color has its index as its number. An index that the schema does not declare is stored as a number
    // counted from i32::MIN.
    let color = if scalars.color < 0 { scalars.color.wrapping_sub(i32::MIN) } else { scalars.color };
    format!(
        "flag={} i32={} i64={} u32={} u64={} s32={} s64={} fx32={} fx64={} sfx32={} sfx64={} f={:08x} d={:016x} \
         text={} raw={} color={color}",
        scalars.flag,
        scalars.i32,
        scalars.i64,
        scalars.u32,
        scalars.u64,
        scalars.s32,
        scalars.s64,
        scalars.fx32,
        scalars.fx64,
        scalars.sfx32,
        scalars.sfx64,
        scalars.f.to_bits(),
        scalars.d.to_bits(),
        hex(scalars.text.as_bytes()),
        hex(&scalars.raw),
    )
}
