//! The state that all replicas agree on, as they apply the same commands in the same order. Nothing here knows of time,
//! chance or the network.

use crate::defects::Defect;
use examples::replicated::{Change, Command, Entry, Item, Kind, Lease, Machine, Outcome, Session};

/// The value of a key. Keys that nobody has set have the value 0.
pub(crate) fn value(machine: &Machine, key: &str) -> i64 {
    machine.items.iter().find(|item| item.key == key).map_or(0, |item| item.value)
}

/// The last grant of a lease.
pub(crate) fn lease<'a>(machine: &'a Machine, name: &str) -> Option<&'a Lease> {
    machine.leases.iter().find(|lease| lease.name == name)
}

/// The outcome of a command that was applied, unless its client has gone on to the next since.
pub(crate) fn outcome(machine: &Machine, command: &Command) -> Option<Outcome> {
    let session = machine.sessions.iter().find(|session| session.client == command.client)?;
    session.outcome.filter(|_| session.number == command.number)
}

/// Applies the next entry.
pub(crate) fn apply(machine: &mut Machine, entry: &Entry, defect: Option<Defect>) {
    machine.index += 1;
    machine.term = entry.term;
    let Some(command) = entry.command.as_ref().filter(|command| command.kind() != Kind::Nothing) else { return };
    let known = machine.sessions.iter().position(|session| session.client == command.client);
    let is_old = known.is_some_and(|at| machine.sessions[at].number >= command.number);
    if is_old && defect != Some(Defect::AppliesTwice) {
        return;
    }
    let outcome = execute(machine, command);
    let session = Session { client: command.client, number: command.number, outcome: Some(outcome) };
    match known {
        Some(at) => machine.sessions[at] = session,
        None => machine.sessions.push(session),
    }
}

fn execute(machine: &mut Machine, command: &Command) -> Outcome {
    let before = value(machine, &command.key);
    match command.kind() {
        Kind::Acquire => acquire(machine, command),
        Kind::Swap if before != command.expected => Outcome { done: false, value: before },
        _ => {
            let (key, value) = (command.key.clone(), command.value);
            match machine.items.iter_mut().find(|item| item.key == key) {
                Some(item) => item.value = value,
                None => machine.items.push(Item { key: key.clone(), value }),
            }
            machine.changes.push(Change { revision: machine.changes.len() as u64 + 1, key, value });
            Outcome { done: true, value: before }
        }
    }
}

/// A lease goes to whoever holds it, and to others if the leader says that this very grant has run out.
fn acquire(machine: &mut Machine, command: &Command) -> Outcome {
    let known = machine.leases.iter().position(|lease| lease.name == command.key);
    if let Some(lease) = known.map(|at| &machine.leases[at])
        && lease.holder != command.client
        && lease.grant != command.expected
    {
        return Outcome { done: false, value: lease.holder as i64 };
    }
    let (name, holder) = (command.key.clone(), command.client);
    let lease = Lease { name, holder, grant: machine.index as i64, millis: command.value };
    match known {
        Some(at) => machine.leases[at] = lease,
        None => machine.leases.push(lease),
    }
    Outcome { done: true, value: command.client as i64 }
}
