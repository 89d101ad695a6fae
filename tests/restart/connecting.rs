//! Tests of clients that continuously connect, make one call and disconnect. They send no HELLO, like Go programs. None
//! of them may be refused, reset or left without a reply.

use super::{Programs, number};
use frisbee_tests::interop::{AddRequest, Sum};
use frisbee_tests::raw::{encoded, packet};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Number of threads that connect.
const THREADS: usize = 24;

/// Minimum number of connections between two restarts.
const BETWEEN: usize = 400;

/// The operation of `Add`, which is the ninth method of the schema.
const ADD: u16 = 18;

/// Connects, makes a call and disconnects.
fn call(address: SocketAddr, request: &[u8], reply: &[u8]) -> io::Result<()> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(super::TIMEOUT))?;
    socket.write_all(request)?;
    let mut answer = vec![0; reply.len()];
    socket.read_exact(&mut answer)?;
    if answer == reply { Ok(()) } else { Err(io::Error::other(format!("answered {answer:02x?}"))) }
}

/// With `FRISBEE_RESTARTS=20`, a release build takes several seconds and counts the connections per thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_lose_no_plain_client_connection() {
    let restarts = number("FRISBEE_RESTARTS", 5);
    let programs = Programs::new();
    let mut program = programs.start("serve").await;
    let address = program.address;
    let (is_over, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let connect = |_| {
        let (is_over, made) = (is_over.clone(), made.clone());
        thread::spawn(move || {
            let request = packet(1, ADD, &encoded(&AddRequest { a: 20, b: 22 }));
            let reply = packet(1, ADD, &encoded(&Sum { total: 42, count: 2 }));
            let mut failures = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                if let Err(error) = call(address, &request, &reply) {
                    failures.push(error.to_string());
                }
                made.fetch_add(1, Ordering::Relaxed);
            }
            failures
        })
    };
    let threads: Vec<_> = (0..THREADS).map(connect).collect();
    for _ in 0..restarts {
        let until = made.load(Ordering::Relaxed) + BETWEEN;
        frisbee_tests::until("the threads connect", || made.load(Ordering::Relaxed) >= until).await;
        programs.replace(&mut program).await;
    }
    is_over.store(true, Ordering::Relaxed);
    let failures =
        threads.into_iter().flat_map(|thread| thread.join().expect("thread should not panic")).collect::<Vec<_>>();
    let made = made.load(Ordering::Relaxed);
    println!("{} of {made} connections over {restarts} restarts were lost", failures.len());
    assert!(failures.is_empty(), "{} of {made} were lost: {:#?}", failures.len(), &failures[..failures.len().min(10)]);
    program.stop().await;
}
