//! `frpc load`: makes many calls of one or several methods and measures them. `frpc compare`: compares two such load
//! tests.
//!
//! `load/engine.rs` makes the calls, `schedule.rs` schedules them, `stats.rs` measures them, and `report.rs` and
//! `html.rs` report the results. `template.rs` implements templates in requests.

mod engine;
mod html;
mod report;
mod schedule;
mod stats;
mod template;

use crate::arguments::{CompareArguments, LoadArguments, Ramp};
use crate::call::{metadata, request};
use crate::failure::Failure;
use crate::input::Input;
use crate::schema::{Callable, Schema};
use crate::show::{Screen, note};
use crate::source::Context;
use engine::{Caller, Clock, Loop};
use fastrand::Rng;
use frpc::{Channel, Code, Metadata, Request, Status};
use frpc_dynamic::Body;
use report::Report;
use schedule::Schedule;
use serde_json::json;
use stats::{Outcome, Stats};
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use template::Template;
use tokio::task::JoinSet;

/// Default number of callers in a closed loop. Each caller waits for the reply to its call before it makes the next
/// call.
const CALLERS_CLOSED: usize = 10;

/// Default number of callers in an open loop. It is also the maximum number of calls in flight.
const CALLERS_OPEN: usize = 1000;

/// How long a call waits until a lost connection is restored. A load test ends after this time if the server has
/// stopped.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval at which the progress of the load test is printed.
const PROGRESS: Duration = Duration::from_millis(500);

pub(crate) async fn load(arguments: &LoadArguments, context: &Context) -> Result<(), Failure> {
    let (schema, screen) = (context.schema().await?, &context.screen);
    let methods = prepare(&schema, arguments)?;
    let weights = methods.iter().map(|method| u64::from(method.weight)).sum::<u64>();
    if weights == 0 {
        return Err(Failure::new("all weights are 0: set at least one weight above 0"));
    }
    let how = how(arguments)?;
    let is_open = matches!(how, Loop::Open(_));
    let callers = if is_open { CALLERS_OPEN } else { CALLERS_CLOSED };
    let callers = arguments.concurrency.unwrap_or(callers);

    let target = context.target()?;
    let mut channels = Vec::new();
    for _ in 0..arguments.connections {
        channels.push(target.connect(target.builder().reconnect_timeout(RECONNECT_TIMEOUT), None).await?);
    }
    let names = methods.iter().map(|method| method.callable.name()).collect();
    let calls = Arc::new(Calls {
        schema,
        channels,
        methods,
        weights,
        metadata: metadata(&arguments.metadata)?,
        deadline: arguments.deadline,
        failure: Mutex::default(),
    });
    // Make one call on each connection first, to establish the connection.
    let mut first = JoinSet::new();
    for round in (0..).take(calls.channels.len()) {
        let calls = calls.clone();
        first.spawn(async move { calls.call(round).await });
    }
    first.join_all().await;
    calls.failure.lock().unwrap_or_else(PoisonError::into_inner).take();

    let stats = Arc::new(Mutex::new(Stats::new(names, arguments.duration)));
    let showing = (!screen.json && io::stderr().is_terminal()).then(|| tokio::spawn(progress(stats.clone())));
    engine::run(calls.clone(), callers, how, Clock::Thread, stats.clone()).await;
    if let Some(showing) = showing {
        showing.abort();
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let mut stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
    stats.finish();
    let mode = mode(how, callers);
    let report = Report::new(&stats, &target.address, mode, calls.channels.len(), arguments.duration, arguments.slow);
    put_report(&report, arguments, screen)?;
    let failure = calls.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(status) = failure else { return Ok(()) };
    if !screen.json {
        note("the first failure:");
    }
    Err(status.into())
}

/// Prints a comparison of two saved load reports.
pub(crate) fn compare(arguments: &CompareArguments, screen: &Screen) -> Result<(), Failure> {
    let read = |path: &Path| {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
        let report = serde_json::from_str::<Report>(&text);
        report.map_err(|error| Failure::new(format!("{} is not a report: {error}", path.display())))
    };
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let figures = report::figures(&before, &after);
    let load = |report: &Report| json!({ "server": report.server, "mode": report.mode });
    let json = || json!({ "before": load(&before), "after": load(&after), "figures": figures }).to_string();
    screen.show(json, || report::comparison(&before, &after, &figures))
}

/// Prints a report and writes it to files.
fn put_report(report: &Report, arguments: &LoadArguments, screen: &Screen) -> Result<(), Failure> {
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| {
        path.iter().try_for_each(|path| fs::write(path, text()).map_err(|error| Failure::file(path, &error)))
    };
    // Continue after a failed write, so that a long load test is not lost without a report.
    let written = [
        write(&arguments.html, &|| html::page(report)),
        write(&arguments.save, &|| report.json()),
        screen.show(|| report.json(), || report.text()),
    ];
    written.into_iter().collect()
}

/// Prepares all methods that the load test calls.
fn prepare(schema: &Schema, arguments: &LoadArguments) -> Result<Vec<Prepared>, Failure> {
    let mut methods = vec![Prepared::new(schema, arguments.weight, &arguments.method, &arguments.parameters)?];
    for also in &arguments.also {
        let mut words = also.split_whitespace();
        let wrong = || Failure::new(format!("{also:?}: write WEIGHT METHOD PARAMETER…"));
        let weight = words.next().and_then(|weight| weight.parse().ok()).ok_or_else(wrong)?;
        let method = words.next().ok_or_else(wrong)?;
        let mut parameters = Vec::<String>::new();
        for word in words {
            // A template such as {{random 1 6}} contains spaces.
            match parameters.last_mut().filter(|last| last.rfind("{{") > last.rfind("}}")) {
                Some(open) => open.extend([" ", word]),
                None => parameters.push(word.to_owned()),
            }
        }
        methods.push(Prepared::new(schema, weight, method, &parameters)?);
    }
    Ok(methods)
}

/// Describes the mode of a load test in its report.
fn mode(how: Loop, callers: usize) -> String {
    match how {
        Loop::Closed { .. } => format!("closed loop, {callers} callers"),
        Loop::Open(schedule) if schedule.ramp.is_zero() => format!("open loop, {} calls/s", schedule.to),
        Loop::Open(Schedule { from, to, ramp, .. }) => format!("open loop, {from} to {to} calls/s in {ramp:?}"),
    }
}

fn how(arguments: &LoadArguments) -> Result<Loop, Failure> {
    let duration = arguments.duration;
    match (arguments.rate, arguments.ramp) {
        _ if duration.is_zero() => Err(Failure::new("a load of 0 s makes no call: set --duration")),
        (None, None) => Ok(Loop::Closed { duration }),
        (Some(rate), None) => Ok(Loop::Open(Schedule::constant(rate, duration))),
        (_, Some(Ramp { length, .. })) if length > duration => {
            Err(Failure::new("the ramp is longer than the load: set --duration"))
        }
        (_, Some(Ramp { from, to, length })) => Ok(Loop::Open(Schedule { from, to, ramp: length, duration })),
    }
}

/// A method that is called in the load test, with its weight and its prepared requests.
struct Prepared {
    weight: u32,
    callable: Callable,
    requests: Requests,
}

/// Requests that a load test sends to one method.
enum Requests {
    /// All calls send the same request, which was encoded in advance.
    Constant(Vec<Body>),
    /// Each call sends another request, made by expanding the templates in the parameters.
    Templates(Vec<Template>),
}

impl Prepared {
    fn new(schema: &Schema, weight: u32, method: &str, parameters: &[String]) -> Result<Self, Failure> {
        let callable = schema.method(method)?.clone();
        let templates: Result<Vec<_>, _> = parameters.iter().map(|parameter| Template::new(parameter)).collect();
        let templates = templates.map_err(Failure::new)?;
        if parameters.iter().any(|parameter| parameter == "-") {
            return Err(Failure::new("a load cannot read requests from standard input: name a file, @FILE"));
        }
        let constant = templates.iter().all(Template::is_constant);
        // Detect mistakes in templates before the load test begins.
        let bodies = bodies(schema, &callable, &templates, 0, &mut Rng::new())?;
        let requests = if constant { Requests::Constant(bodies) } else { Requests::Templates(templates) };
        Ok(Self { weight, callable, requests })
    }
}

/// Encodes the requests of one call.
fn bodies(
    schema: &Schema,
    callable: &Callable,
    templates: &[Template],
    number: u64,
    random: &mut Rng,
) -> Result<Vec<Body>, Failure> {
    let parameters: Vec<String> = templates.iter().map(|template| template.render(number, random)).collect();
    let input = Input::new(&parameters, &callable.descriptor.input(), callable.descriptor.is_client_streaming())?;
    input.messages.iter().map(|message| schema.body(message)).collect()
}

/// The calls of a load test: selects the method of each call, encodes its requests, and stores the status of the first
/// failed call.
struct Calls {
    schema: Schema,
    channels: Vec<Channel>,
    methods: Vec<Prepared>,
    /// Sum of the weights of all methods.
    weights: u64,
    metadata: Metadata,
    deadline: Option<Duration>,
    /// Status of the first failed call.
    failure: Mutex<Option<Status>>,
}

impl Caller for Calls {
    async fn call(&self, number: u64) -> Outcome {
        let method = method_of(number, self.methods.iter().map(|method| method.weight), self.weights);
        let code = match self.make(number, method).await {
            Ok(()) => Code::Ok,
            Err(status) => {
                let code = status.code();
                self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(status);
                code
            }
        };
        Outcome { method, code }
    }
}

impl Calls {
    async fn make(&self, number: u64, method: usize) -> Result<(), Status> {
        let gone = || Status::internal("there is no such method or channel");
        let Prepared { callable, requests, .. } = self.methods.get(method).ok_or_else(gone)?;
        let channel = self.channels.get(number as usize % self.channels.len()).ok_or_else(gone)?;
        let made;
        let bodies = match requests {
            Requests::Constant(bodies) => bodies,
            Requests::Templates(templates) => {
                let random = &mut Rng::new();
                let bodies = bodies(&self.schema, callable, templates, number, random);
                made = bodies.map_err(|error| Status::invalid_argument(error.to_string()))?;
                &made
            }
        };
        let one = || self.request(bodies.first().cloned().unwrap_or_default());
        let many = || self.request(frpc::iter(bodies.clone()));
        let (method, descriptor) = (callable.method, &callable.descriptor);
        let replies = match (descriptor.is_client_streaming(), descriptor.is_server_streaming()) {
            (false, false) => return channel.unary::<Body, Body>(method, one()).await.map(drop),
            (true, false) => return channel.client_streaming::<_, Body>(method, many()).await.map(drop),
            (false, true) => channel.server_streaming::<Body, Body>(method, one()).await?,
            (true, true) => channel.streaming::<_, Body>(method, many()).await?,
        };
        let mut replies = replies.into_inner();
        while replies.message().await?.is_some() {}
        Ok(())
    }

    fn request<T>(&self, message: T) -> Request<T> {
        request(message, self.deadline, self.metadata.clone())
    }
}

/// Returns the index of the method for call `number`. Each method is called in proportion to its weight.
fn method_of(number: u64, weights: impl Iterator<Item = u32>, sum: u64) -> usize {
    // 2^64 divided by the golden ratio. Its multiples modulo 2^64 distribute the calls evenly in any part of the load.
    let fraction = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut offset = (u128::from(fraction) * u128::from(sum)) >> 64;
    for (at, weight) in weights.enumerate() {
        match offset.checked_sub(weight.into()) {
            Some(left) => offset = left,
            None => return at,
        }
    }
    0
}

/// Prints the progress of the load test until it is aborted.
async fn progress(stats: Arc<Mutex<Stats>>) {
    let started = tokio::time::Instant::now();
    let mut before = 0;
    let mut interval = tokio::time::interval(PROGRESS);
    interval.tick().await;
    loop {
        interval.tick().await;
        let line = {
            let stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
            let calls = stats.calls();
            let rate = (calls.saturating_sub(before)) as f64 / PROGRESS.as_secs_f64();
            before = calls;
            let seconds = started.elapsed().as_secs_f64();
            let (failed, max) = (stats.failed(), stats.max().as_secs_f64() * 1e3);
            format!("{seconds:6.1} s  {calls} calls  {rate:.0}/s  {failed} failed  max {max:.1} ms")
        };
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: with large weights, a short load called the first method only. If the number of connections and
    /// the sum of the weights had a common factor, each method was called on some of the connections only.
    #[test]
    fn calls_of_each_method_are_distributed() {
        for weights in [[1, 1], [3, 1], [1000, 1000], [4_000_000_000, 1_000_000_000], [1, 999], [1, 0]] {
            let sum = weights.iter().copied().map(u64::from).sum();
            for channels in [1, 2, 3, 8] {
                for calls in [20, 1000, 10_000] {
                    let numbers = (0..calls).filter(|number| method_of(*number, weights.into_iter(), sum) == 0);
                    let count = numbers.filter(|number| number % channels == 0).count() as f64;
                    let expected = (calls / channels) as f64 * f64::from(weights[0]) / sum as f64;
                    let case = format!("{calls} calls of {weights:?} over {channels} connections");
                    assert!((count - expected).abs() <= 0.02 * calls as f64 + 2.0, "{case}: {count}, not {expected}");
                }
            }
        }
    }
}
