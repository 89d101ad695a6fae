//! `frpc load`: reports, failures and the end of a load.

use super::{calculator, command, greeter, run, serve, stdout};
use frpc::{Request, Response, ResponseStream, Server, Status};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use samples::started::Polite;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

#[test]
fn load_report_covers_methods_and_formats() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let (saved, page) = (folder.path().join("load.json"), folder.path().join("load.html"));
    let (saved, page) = (saved.to_str().expect("path should be UTF-8"), page.to_str().expect("path should be UTF-8"));
    let address = calculator();
    let fixed =
        ["load", "-p", "quickstart/proto/quickstart.proto", "Add", "a={{n}}", "b={{random 1 6}}", "--weight", "3"];
    let more = [
        "--also",
        "1 CountUp from={{random 1 6}} count=3",
        "--rate",
        "400",
        "--duration",
        "200ms",
        "--save",
        saved,
        "--html",
        page,
    ];
    let text = stdout(&run(&address, &[&fixed[..], &more].concat()));
    assert!(text.contains("open loop, 400 calls/s") && text.contains("calls    80,"), "{text}");
    assert!(text.contains("quickstart.Calculator/Add: OK 60\n"), "{text}");
    assert!(text.contains("quickstart.Calculator/CountUp: OK 20\n"), "{text}");
    let report = fs::read_to_string(page).expect("HTML report should be readable");
    assert!(report.contains("</svg>"), "HTML report should contain a chart");
    let compared = stdout(&run("", &["compare", saved, saved]));
    assert!(compared.contains("p99, ms") && compared.contains("1.000"), "{compared}");
    let compared: Value = serde_json::from_str(&stdout(&run("", &["compare", saved, saved, "--json"])))
        .expect("comparison should be valid JSON");
    let figure = &compared["figures"][0];
    assert_eq!(
        (&figure["name"], &figure["ratio"], &compared["after"]["server"]),
        (&json!("calls/s"), &json!(1.0), &json!(address))
    );
    let closed = run(
        &address,
        &["load", "-p", "quickstart/proto/quickstart.proto", "Add", "--duration", "100ms", "-c", "2", "--json"],
    );
    let report: Value = serde_json::from_str(&stdout(&closed)).expect("load report should be valid JSON");
    assert_eq!(report["mode"], "closed loop, 2 callers");
    assert!(report["calls"].as_u64() > Some(0) && report["failed"] == 0, "{report}");
}

#[test]
fn failed_load_reports_causes_and_codes() {
    let address = greeter();
    let output = run(&address, &["load", "-p", "proto/greet.proto", "Greet", "--rate", "100", "--duration", "50ms"]);
    assert_eq!(output.status.code(), Some(64 + 3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("greet.Greeter/Greet: INVALID_ARGUMENT 5"), "{text}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("the first failure:\nINVALID_ARGUMENT (3): the name is empty"), "{text}");
    let fixed = ["load", "-p", "proto/greet.proto", "Greet"];
    let with = |arguments: &[&str]| run(&address, &[&fixed, arguments].concat());
    let wrong = with(&["name={{m}}"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("{{n}}, {{random}}"), "{wrong:?}");
    let json = with(&["--rate", "100", "--duration", "50ms", "--json"]);
    let failure: Value = serde_json::from_slice(&json.stderr).expect("error output should be valid JSON");
    assert_eq!(failure["code"], "INVALID_ARGUMENT");
    assert_eq!(with(&["name=Ada", "--duration", "0s"]).status.code(), Some(1));
    for of_none in [["-c", "0"], ["--connections", "0"]] {
        assert_eq!(with(&of_none).status.code(), Some(2), "{of_none:?}");
    }
}

/// Greeter service that shuts down its server during the hundredth call.
struct Stopping(Arc<Notify>, AtomicU32);

impl Greeter for Stopping {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        if self.1.fetch_add(1, Ordering::Relaxed) == 99 {
            self.0.notify_one();
        }
        Polite.greet(request).await
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Polite.recite(request).await
    }
}

/// Regression test: each call waited 10 s for the server to return, so a load of 6 s took 15.6 s.
#[test]
fn load_ends_soon_after_its_server() {
    for rate in [&[][..], &["--rate", "1000"]] {
        let address = serve(|| async {
            let stop = Arc::new(Notify::new());
            let service = Stopping(stop.clone(), AtomicU32::new(0));
            let server = Server::builder().add_service(GreeterServer::new(service)).bind("127.0.0.1:0").await?;
            let address = server.local_addr().to_string();
            // Dropping the server closes its port and connections.
            let serving = async move {
                tokio::select! {
                    ended = server.serve() => ended,
                    () = stop.notified() => Ok(()),
                }
            };
            Ok((address, serving))
        });
        let load = ["load", "-p", "proto/greet.proto", "Greet", "name=Ada", "--duration", "500ms"];
        let started = Instant::now();
        let output = run(&address, &[&load[..], rate].concat());
        assert_eq!(output.status.code(), Some(64 + 14), "{output:?}");
        // After the server has stopped, each caller waits at most 1 s for a new connection.
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    }
}

/// Greeter service whose first three calls wait for each other.
#[derive(Default)]
struct Meeting {
    calls: AtomicU32,
    waiting: AtomicU32,
    has_met: Arc<AtomicBool>,
    met: Notify,
}

/// Counts a call as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicU32);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Greeter for Meeting {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < 3 {
            let (met, _waiting) = (self.met.notified(), Waiting(&self.waiting));
            if self.waiting.fetch_add(1, Ordering::Relaxed) == 2 {
                self.has_met.store(true, Ordering::Relaxed);
                self.met.notify_waiters();
            } else {
                met.await;
            }
        }
        Polite.greet(request).await
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Polite.recite(request).await
    }
}

/// Regression test: a load of a slow method with many connections called the method on one after another before it
/// started.
#[test]
fn connections_are_tried_at_the_same_time() {
    let has_met = Arc::<AtomicBool>::default();
    let service = Meeting { has_met: has_met.clone(), ..Meeting::default() };
    let address = serve(|| async move {
        let server = Server::builder().add_service(GreeterServer::new(service)).bind("127.0.0.1:0").await?;
        Ok((server.local_addr().to_string(), server.serve()))
    });
    let load = ["load", "-p", "proto/greet.proto", "Greet", "name=Ada", "--duration", "50ms"];
    // Without other calls, each of the first ones ends at its deadline.
    let more = ["--connections", "3", "--deadline", "1s"];
    assert!(run(&address, &[&load[..], &more].concat()).status.success());
    assert!(has_met.load(Ordering::Relaxed));
}

/// Regression test: if the HTML file could not be written, the report of the whole load was lost.
#[test]
fn load_is_reported_despite_write_failure() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let (missing, page) = (folder.path().join("no/load.json"), folder.path().join("load.html"));
    let files = [
        "--save",
        missing.to_str().expect("path should be UTF-8"),
        "--html",
        page.to_str().expect("path should be UTF-8"),
    ];
    let load = ["load", "-p", "quickstart/proto/quickstart.proto", "Add", "--rate", "100", "--duration", "50ms"];
    let output = run(&calculator(), &[&load[..], &files].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("calls    5,"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no/load.json: "), "{output:?}");
    assert!(page.exists());
    // The page is also written if nobody reads standard output.
    let page = folder.path().join("closed.html");
    let (closed, written) = std::io::pipe().expect("descriptor should be available");
    drop(closed);
    let address = calculator();
    let mut command =
        command(&address, &[&load[..], &["--html", page.to_str().expect("path should be UTF-8")]].concat());
    assert!(command.stdin(Stdio::null()).stdout(written).status().expect("process should start").success());
    assert!(page.exists());
}
