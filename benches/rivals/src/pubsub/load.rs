//! The process that publishes and subscribes. It prints `begin` after the warm-up, and `end` with the number of
//! messages delivered in between.

use crate::Scenario;
use crate::contestants::{Contestant, Frisbee, Name, Nats};
use bytes::Bytes;
use rivals::BoxError;
use rivals::process::exit_with_parent;
use std::sync::Arc;
use tokio::sync::{Barrier, mpsc};
use tokio::task::JoinSet;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    name: Name,
    address: String,
    scenario: Scenario,
    steps: usize,
}

/// Number of messages before a subscriber reports its position.
const STEP: u64 = 1024;

/// Maximum number of steps that a publisher is ahead of its slowest subscriber.
const AHEAD: usize = 8;

/// Number of steps before the measurement.
const WARM_UP: usize = 4;

/// Length of a message in bytes.
const LENGTH: usize = 32;

pub(crate) fn main(arguments: &Arguments) -> Result<(), BoxError> {
    exit_with_parent();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match arguments.name {
            Name::Frisbee => run::<Frisbee>(arguments).await,
            Name::Nats => run::<Nats>(arguments).await,
        }
    })
}

async fn run<C: Contestant>(arguments: &Arguments) -> Result<(), BoxError> {
    let (topics, readers) = if arguments.scenario == Scenario::FanOut { (1, 100) } else { (16, 1) };
    let steps = WARM_UP + arguments.steps;
    let phases = Arc::new(Barrier::new(topics + 1));
    let mut tasks = JoinSet::new();
    for topic in 0..topics {
        let topic = format!("bench.{topic}");
        let (tell, told) = mpsc::unbounded_channel();
        for _ in 0..readers {
            let reader = C::reader(&arguments.address, &topic).await?;
            tasks.spawn(read::<C>(reader, steps, tell.clone()));
        }
        let writer = C::writer(&arguments.address, &topic).await?;
        tasks.spawn(write::<C>(writer, steps, Progress { told, reached: vec![0; steps], readers }, phases.clone()));
    }
    phases.wait().await;
    println!("begin");
    phases.wait().await;
    phases.wait().await;
    println!("end {}", (topics * readers * arguments.steps) as u64 * STEP);
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

async fn read<C: Contestant>(
    mut reader: C::Reader,
    steps: usize,
    tell: mpsc::UnboundedSender<usize>,
) -> Result<(), BoxError> {
    for step in 0..steps {
        for number in 0..STEP {
            let payload = C::read(&mut reader).await.inspect_err(|error| eprintln!("{error}"))?;
            let expected = step as u64 * STEP + number;
            if payload.len() != LENGTH || payload[..8] != expected.to_be_bytes() {
                eprintln!("message {expected} has not arrived");
                std::process::exit(1);
            }
        }
        tell.send(step)?;
    }
    Ok(())
}

/// The positions of a topic's subscribers.
struct Progress {
    told: mpsc::UnboundedReceiver<usize>,
    reached: Vec<usize>,
    readers: usize,
}

impl Progress {
    /// Waits until all have reached the end of a step.
    async fn all_at(&mut self, step: usize) -> Result<(), BoxError> {
        while self.reached[step] < self.readers {
            let reached = self.told.recv().await.ok_or("a subscriber has failed")?;
            self.reached[reached] += 1;
        }
        Ok(())
    }
}

async fn write<C: Contestant>(
    mut writer: C::Writer,
    steps: usize,
    mut progress: Progress,
    phases: Arc<Barrier>,
) -> Result<(), BoxError> {
    let mut payload = [0; LENGTH];
    for step in 0..steps {
        if step == WARM_UP {
            progress.all_at(step - 1).await?;
            phases.wait().await;
            // The time was reported.
            phases.wait().await;
        }
        if let Some(before) = step.checked_sub(AHEAD) {
            progress.all_at(before).await?;
        }
        for number in 0..STEP {
            payload[..8].copy_from_slice(&(step as u64 * STEP + number).to_be_bytes());
            C::write(&mut writer, Bytes::copy_from_slice(&payload)).await?;
        }
    }
    progress.all_at(steps - 1).await?;
    phases.wait().await;
    Ok(())
}
