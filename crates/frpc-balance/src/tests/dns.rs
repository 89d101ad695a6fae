//! Tests of names with changing records, with a small DNS server on loopback.

use frpc::Channel;
use frpc_balance::dns::DnsResolver;
use frpc_balance::resolve::{Endpoint, Resolver};
use frpc_balance::{Balance, FleetView};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::timeout;

const A: u16 = 1;
const AAAA: u16 = 28;
const SRV: u16 = 33;

/// Response code of a DNS server that cannot answer.
const SERVFAIL: u8 = 2;

/// Data of the records, by name and type. A name without records does not exist.
type Zone = BTreeMap<(&'static str, u16), Vec<Vec<u8>>>;

/// Record type whose queries fail. The failure is a response code, or `None` for no response.
type Broken = Option<(u16, Option<u8>)>;

/// A DNS server on loopback, which fails as the test requests.
#[derive(Clone)]
struct Dns {
    zone: Arc<Mutex<Zone>>,
    /// Response code of all responses, if they are to fail.
    failure: Arc<Mutex<Option<u8>>>,
    /// Record type whose queries fail, and how they fail.
    broken: Arc<Mutex<Broken>>,
    /// Name whose queries fail.
    broken_name: Arc<Mutex<Option<&'static str>>>,
    address: SocketAddr,
}

impl Dns {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let address = socket.local_addr().expect("socket should have a local address");
        let (zone, failure, broken, broken_name) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        let dns = Self { zone, failure, broken, broken_name, address };
        let answering = dns.clone();
        tokio::spawn(async move {
            let mut question = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                if let Some(answer) = answering.answer(&question[..length]) {
                    drop(socket.send_to(&answer, from).await);
                }
            }
        });
        dns
    }

    fn set(&self, name: &'static str, kind: u16, data: impl IntoIterator<Item = Vec<u8>>) {
        self.zone.lock().expect("lock should not be poisoned").insert((name, kind), data.into_iter().collect());
    }

    fn break_kind(&self, broken: Broken) {
        *self.broken.lock().expect("lock should not be poisoned") = broken;
    }

    fn break_name(&self, name: Option<&'static str>) {
        *self.broken_name.lock().expect("lock should not be poisoned") = name;
    }

    fn fail(&self, code: Option<u8>) {
        *self.failure.lock().expect("lock should not be poisoned") = code;
    }

    /// Returns the response to a query, with a TTL of one second.
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (mut at, mut name) = (12, String::new());
        while let length @ 1.. = usize::from(*question.get(at)?) {
            name += if name.is_empty() { "" } else { "." };
            name += std::str::from_utf8(question.get(at + 1..=at + length)?).ok()?;
            at += 1 + length;
        }
        let kind = u16::from_be_bytes([*question.get(at + 1)?, *question.get(at + 2)?]);
        let zone = self.zone.lock().expect("lock should not be poisoned");
        let exists = zone.iter().any(|((recorded, _), data)| *recorded == name && !data.is_empty());
        let mut failure = *self.failure.lock().expect("lock should not be poisoned");
        if let Some((broken, code)) = *self.broken.lock().expect("lock should not be poisoned")
            && broken == kind
        {
            failure = Some(code?);
        }
        if self.broken_name.lock().expect("lock should not be poisoned").is_some_and(|broken| broken == name) {
            failure = Some(SERVFAIL);
        }
        let none = Vec::new();
        let recorded = zone.iter().find(|((recorded, of), _)| (*recorded, *of) == (&*name, kind));
        let data = recorded.map(|(_, data)| data).filter(|_| failure.is_none()).unwrap_or(&none);
        let code = failure.unwrap_or(if exists { 0 } else { 3 });
        let mut answer = question[..2].to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1]);
        answer.extend((data.len() as u16).to_be_bytes());
        answer.extend([0; 4]);
        answer.extend(question.get(12..at + 5)?);
        for data in data {
            answer.extend([0xC0, 12]);
            answer.extend(kind.to_be_bytes());
            answer.extend([0, 1, 0, 0, 0, 1]);
            answer.extend((data.len() as u16).to_be_bytes());
            answer.extend(data);
        }
        Some(answer)
    }

    /// Returns a resolver that repeats its lookups immediately.
    fn resolver(&self, name: &str) -> DnsResolver {
        let resolver: DnsResolver =
            format!("dns://{}/{name}", self.address).parse().expect("DNS address should be valid");
        resolver.with_bounds(Duration::from_millis(5)..=Duration::from_millis(10))
    }
}

fn service(priority: u16, weight: u16, port: u16, target: &str) -> Vec<u8> {
    let mut data: Vec<u8> = [priority, weight, port].iter().flat_map(|number| number.to_be_bytes()).collect();
    for label in target.split('.').filter(|label| !label.is_empty()) {
        data.push(label.len() as u8);
        data.extend(label.as_bytes());
    }
    data.push(0);
    data
}

async fn next(resolver: &mut DnsResolver) -> std::io::Result<Vec<Endpoint>> {
    timeout(Duration::from_secs(30), resolver.next()).await.expect("resolver should return within the timeout")
}

fn texts(endpoints: &[Endpoint]) -> Vec<String> {
    let mut texts: Vec<_> = endpoints.iter().map(ToString::to_string).collect();
    texts.sort();
    texts
}

#[tokio::test]
async fn name_resolves_to_both_address_families() {
    let dns = Dns::start().await;
    dns.set("shop.test", A, [vec![127, 0, 0, 1], vec![127, 0, 0, 2]]);
    let v6 = [vec![0; 15], vec![1]].concat();
    dns.set("shop.test", AAAA, [v6]);
    let mut resolver = dns.resolver("shop.test.:80");
    let endpoints = next(&mut resolver).await.expect("host name should have addresses");
    let name = "server_name=shop.test";
    let all = ["127.0.0.1:80", "127.0.0.2:80", "[::1]:80"].map(|address| format!("{address} {name}"));
    assert_eq!(texts(&endpoints), all);
    dns.set("shop.test", A, [vec![127, 0, 0, 3]]);
    dns.set("shop.test", AAAA, []);
    assert_eq!(
        texts(&next(&mut resolver).await.expect("host name should have an IPv4 address")),
        [format!("127.0.0.3:80 {name}")]
    );
}

#[tokio::test]
async fn service_records_have_ports_weights_priorities() {
    let dns = Dns::start().await;
    let services =
        [service(1, 3, 80, "a.test"), service(1, 0, 81, "b.test"), service(2, 1, 82, "a.test"), service(0, 0, 1, ".")];
    dns.set("_shop._tcp.test", SRV, services);
    dns.set("a.test", A, [vec![127, 0, 0, 1]]);
    dns.set("b.test", A, [vec![127, 0, 0, 2]]);
    let endpoints = next(&mut dns.resolver("_shop._tcp.test.")).await.expect("SRV records should have targets");
    let all = ["127.0.0.1:80 weight=3 server_name=a.test", "127.0.0.2:81 server_name=b.test"];
    assert_eq!(texts(&endpoints), all);
}

/// Regression test: each address of an SRV target had the weight of the whole target. A target with two addresses
/// received twice its share of the calls.
#[tokio::test]
async fn addresses_of_service_target_share_its_weight() {
    let dns = Dns::start().await;
    dns.set("_shop._tcp.test", SRV, [service(1, 10, 80, "a.test"), service(1, 10, 80, "b.test")]);
    dns.set("a.test", A, [vec![127, 0, 0, 1]]);
    dns.set("a.test", AAAA, [[vec![0; 15], vec![1]].concat()]);
    let shares = async || {
        let endpoints = next(&mut dns.resolver("_shop._tcp.test.")).await.expect("SRV records should have targets");
        texts(&endpoints)
    };
    for (others, weights) in [(1, [10, 10, 20]), (2, [10, 10, 10]), (3, [30, 30, 20])] {
        dns.set("b.test", A, (0..others).map(|last| vec![127, 0, 1, last]));
        let mut expected: Vec<_> = (0..others)
            .map(|last| format!("127.0.1.{last}:80 weight={} server_name=b.test", weights[2]))
            .chain([format!("127.0.0.1:80 weight={} server_name=a.test", weights[0])])
            .chain([format!("[::1]:80 weight={} server_name=a.test", weights[1])])
            .collect();
        expected.sort();
        assert_eq!(shares().await, expected);
    }
}

#[tokio::test]
async fn missing_name_and_failing_server_are_errors() {
    let dns = Dns::start().await;
    let mut resolver = dns.resolver("shop.test.:80");
    for failure in [None, Some(2), Some(5)] {
        dns.fail(failure);
        next(&mut resolver).await.expect_err("failed lookup should be an error");
    }
    dns.fail(None);
    dns.set("shop.test", A, [vec![127, 0, 0, 1]]);
    next(&mut resolver).await.expect("name should exist by now");
    dns.set("shop.test", A, []);
    next(&mut resolver).await.expect_err("name without records should be an error");
}

#[tokio::test]
async fn one_known_address_family_suffices() {
    const NOTIMP: u8 = 4;
    const REFUSED: u8 = 5;
    let dns = Dns::start().await;
    dns.set("shop.test", A, [vec![127, 0, 0, 1]]);
    for failure in [Some(SERVFAIL), Some(NOTIMP), Some(REFUSED), None] {
        dns.break_kind(Some((AAAA, failure)));
        let mut resolver = dns.resolver("shop.test.:80");
        let all = ["127.0.0.1:80 server_name=shop.test"];
        assert_eq!(
            texts(&next(&mut resolver).await.expect("host name should have an IPv4 address")),
            all,
            "{failure:?}"
        );
        if failure.is_some() {
            assert_eq!(
                texts(&next(&mut resolver).await.expect("host name should have an IPv4 address")),
                all,
                "again: {failure:?}"
            );
        }
    }
    let v6 = || [vec![0; 15], vec![1]].concat();
    dns.set("six.test", AAAA, [v6()]);
    dns.set("_shop._tcp.test", SRV, [service(1, 0, 80, "six.test")]);
    dns.break_kind(Some((A, Some(SERVFAIL))));
    let endpoints = next(&mut dns.resolver("_shop._tcp.test.")).await.expect("SRV target should have an IPv6 address");
    assert_eq!(texts(&endpoints), ["[::1]:80 server_name=six.test"]);
}

/// Regression test: if the lookup of one SRV target failed, the channel received no addresses of the other targets and
/// no further changes.
#[tokio::test]
async fn failing_target_without_servers_is_omitted() {
    let dns = Dns::start().await;
    dns.set("_shop._tcp.test", SRV, [service(1, 0, 80, "a.test"), service(1, 0, 81, "b.test")]);
    dns.set("a.test", A, [vec![127, 0, 0, 1]]);
    dns.set("b.test", A, [vec![127, 0, 0, 2]]);
    let [one, other] = ["127.0.0.1:80 server_name=a.test", "127.0.0.2:81 server_name=b.test"];
    let mut resolver = dns.resolver("_shop._tcp.test.");
    dns.break_name(Some("b.test"));
    assert_eq!(texts(&next(&mut resolver).await.expect("one target should have an address")), [one]);
    dns.break_name(None);
    assert_eq!(texts(&next(&mut resolver).await.expect("both targets should have addresses")), [one, other]);
    dns.break_name(Some("b.test"));
    next(&mut resolver).await.expect_err("lookup of a known target should fail");
    dns.set("_shop._tcp.test", SRV, [service(1, 0, 81, "b.test")]);
    next(&mut dns.resolver("_shop._tcp.test.")).await.expect_err("lookup without any working target should fail");
}

#[tokio::test(start_paused = true)]
async fn targets_are_looked_up_at_one_time() {
    let dns = Dns::start().await;
    let names: Vec<&str> = (0..32).map(|at| &*format!("h{at}.test").leak()).collect();
    names.iter().for_each(|name| dns.set(name, A, [vec![127, 0, 0, 1]]));
    dns.set("_shop._tcp.test", SRV, names.iter().map(|name| service(1, 0, 80, name)));
    dns.break_kind(Some((AAAA, None)));
    let mut resolver = dns.resolver("_shop._tcp.test.");
    assert_eq!(next(&mut resolver).await.expect("names should have addresses").len(), 32);
}

#[tokio::test]
async fn failing_family_with_servers_is_error() {
    let dns = Dns::start().await;
    dns.set("shop.test", A, [vec![127, 0, 0, 1]]);
    dns.set("shop.test", AAAA, [[vec![0; 15], vec![1]].concat()]);
    let mut resolver = dns.resolver("shop.test.:80");
    assert_eq!(next(&mut resolver).await.expect("name should have both addresses").len(), 2);
    dns.break_kind(Some((AAAA, Some(2))));
    next(&mut resolver).await.expect_err("lookup of a known address family should fail");
    dns.break_kind(None);
    assert_eq!(next(&mut resolver).await.expect("name should have both addresses").len(), 2);
}

/// Accepts connections and sends nothing.
async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let port = listener.local_addr().expect("socket should have a local address").port();
    (listener, port)
}

#[tokio::test]
async fn channel_keeps_servers_while_name_flaps() {
    let dns = Dns::start().await;
    let (_listener, port) = listener().await;
    let [one, other] = [vec![127, 0, 0, 1], vec![127, 0, 0, 2]];
    dns.set("shop.test", A, [one, other]);
    let channel = Channel::builder().balance().connect_resolved(dns.resolver(&format!("shop.test.:{port}"))).await;
    let channel = channel.expect("server should accept the connection");
    let fleet = || FleetView::of(&channel).expect("channel should have a fleet");
    assert_eq!(fleet().servers.len(), 2);
    dns.set("shop.test", A, []);
    timeout(Duration::from_secs(30), async {
        while fleet().resolver_failure.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("fleet should change within the timeout");
    assert_eq!(fleet().servers.len(), 2, "last valid set should stay in use");
}

/// Regression test: the hosts file and the list of DNS servers were read only once per process.
#[cfg(target_os = "linux")]
#[test]
fn file_of_hosts_is_read_at_each_lookup() {
    use std::process::Command;
    /// Environment variable that is set in the child process, which has its own hosts file.
    const FILE: &str = "FRPC_BALANCE_TEST_HOSTS";
    let of_name = |address| format!("{address} shop.test\n::1 shop.test\n");
    if let Some(file) = std::env::var_os(FILE) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime should start");
        runtime.block_on(async {
            let resolver: DnsResolver = "dns:///shop.test:80".parse().expect("DNS address should be valid");
            let mut resolver = resolver.with_bounds(Duration::from_millis(5)..=Duration::from_millis(10));
            for address in ["127.0.0.1", "127.0.0.2"] {
                std::fs::write(&file, of_name(address)).expect("hosts file should be written");
                let endpoints = texts(&next(&mut resolver).await.expect("file should contain the name"));
                assert_eq!(endpoints[0], format!("{address}:80 server_name=shop.test"));
            }
        });
        return;
    }
    let file = std::env::temp_dir().join(format!("frpc-hosts-{}", std::process::id()));
    std::fs::write(&file, of_name("127.0.0.1")).expect("hosts file should be written");
    let within = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(&file);
        command.arg(std::env::current_exe().expect("program should have a path")).env(FILE, &file);
        command.output().is_ok_and(|output| output.status.success())
    };
    let mount = "mount --bind \"$0\" /etc/hosts";
    if within(mount) {
        assert!(within(&format!("{mount} && \"$1\" --exact tests::dns::file_of_hosts_is_read_at_each_lookup")));
    } else {
        println!("skipped: this system has no namespaces for mounts");
    }
    std::fs::remove_file(&file).expect("file should be removed");
}
