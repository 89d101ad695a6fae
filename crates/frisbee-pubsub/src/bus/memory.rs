//! An in-memory backplane for the brokers of one process. It is used in tests and in simulations, which can make it
//! lose frames and disconnect.

use super::{Backplane, BackplaneError, Interest, Node, PendingInterest};
use crate::topics::Trie;
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An in-memory bus for the brokers of one process.
///
/// ```
/// use frisbee_pubsub::{Broker, Client, MemoryBus};
/// use frisbee::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bus = MemoryBus::new();
/// let mut addresses = Vec::new();
/// for _ in 0..2 {
///     let broker = Broker::builder().backplane(bus.member()).build();
///     let server = Server::builder().bind("127.0.0.1:0", broker).await?;
///     addresses.push(server.local_addr());
///     tokio::spawn(server.serve());
/// }
/// let reader = Client::connect(addresses[0]).await?;
/// let mut orders = reader.subscribe("orders.>").await?;
/// let writer = Client::connect(addresses[1]).await?;
/// writer.publish("orders.north", "42 apples").await?;
/// assert_eq!(orders.recv().await?.payload(), "42 apples");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryBus(Arc<Mutex<Members>>);

/// [`Backplane`] that connects one broker to a [`MemoryBus`].
#[derive(Debug)]
pub struct MemoryMember {
    bus: MemoryBus,
    number: u64,
}

#[derive(Debug, Default)]
struct Members {
    next: u64,
    nodes: BTreeMap<u64, Node>,
    /// Patterns registered by all brokers of the bus, by the numbers of the broker and of the registration.
    interests: Trie<(u64, u64), Arc<Interest>>,
    /// Number of messages sent to queue groups. Seeds the selection of a member.
    drawn: u64,
    is_away: bool,
    /// Number of frames that the bus will drop next, to simulate a broken connection.
    lose: u64,
}

impl MemoryBus {
    /// Creates a bus without brokers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a backplane that connects one more broker to the bus.
    pub fn member(&self) -> MemoryMember {
        let mut members = self.0.lock();
        members.next += 1;
        MemoryMember { bus: self.clone(), number: members.next }
    }

    /// Disconnects all brokers from the bus or reconnects them.
    pub fn set_away(&self, is_away: bool) {
        let mut members = self.0.lock();
        let is_back = std::mem::replace(&mut members.is_away, is_away) && !is_away;
        let nodes: Vec<_> = members.nodes.values().cloned().collect();
        // Release the lock before calling `linked` and `tick`, because they may publish on the bus, which takes the
        // lock.
        drop(members);
        if is_back {
            nodes.iter().for_each(Node::linked);
            nodes.iter().for_each(Node::tick);
        }
    }

    /// Drops the next `count` frames, to simulate a broken connection.
    pub fn lose(&self, count: u64) {
        self.0.lock().lose = count;
    }
}

#[cfg(test)]
impl MemoryBus {
    /// Simulates that a broker has reconnected to the bus.
    pub(crate) fn relink(&self, number: u64) {
        let node = self.0.lock().nodes.get(&number).cloned().expect("bus should have a member with this number");
        node.linked();
    }
}

impl Backplane for MemoryMember {
    fn attach(&self, node: Node) {
        let before = self.bus.0.lock().nodes.insert(self.number, node);
        assert!(before.is_none(), "bus member should belong to a single broker");
    }

    fn join(&self, interest: &Arc<Interest>, _joined: PendingInterest) {
        let key = (self.number, interest.number());
        self.bus.0.lock().interests.insert(interest.pattern(), key, interest.clone());
    }

    fn leave(&self, interest: &Arc<Interest>) {
        self.bus.0.lock().interests.remove(interest.pattern(), &(self.number, interest.number()));
    }

    fn publish(&self, topic: &str, frame: Bytes) -> Result<(), BackplaneError> {
        let recipients = self.bus.0.lock().recipients(self.number, topic)?;
        // Deliver outside of the lock, because a broker that handles a frame may publish on the bus, which takes the
        // lock.
        for (node, interest) in recipients {
            node.deliver(&interest, [(topic, frame.clone())]);
        }
        Ok(())
    }

    fn control(&self, frame: Bytes) {
        let members = self.bus.0.lock();
        let others = members.nodes.iter().filter(|(number, _)| **number != self.number && !members.is_away);
        let others: Vec<_> = others.map(|(_, node)| node.clone()).collect();
        // Release the lock before delivering, because a broker that handles the frame may reply on the bus, which takes
        // the lock.
        drop(members);
        others.iter().for_each(|node| node.control(&frame));
    }
}

impl Members {
    /// Returns the brokers that receive a frame, with their registered patterns that match its topic.
    fn recipients(&mut self, from: u64, topic: &str) -> Result<Vec<(Node, Arc<Interest>)>, BackplaneError> {
        if self.is_away {
            return Err(BackplaneError::Away("the bus has been taken away".to_owned()));
        }
        if self.lose > 0 {
            self.lose -= 1;
            return Ok(Vec::new());
        }
        let mut groups = BTreeMap::<&str, Vec<_>>::new();
        let mut recipients = Vec::new();
        self.interests.for_each_match(topic, |key, interest| match interest.group() {
            Some(group) => groups.entry(group).or_default().push((key, interest)),
            None if key.0 != from => recipients.push((key, interest)),
            None => {}
        });
        for mut group in groups.into_values() {
            group.sort_unstable_by_key(|(key, _)| **key);
            self.drawn = self.drawn.wrapping_add(1);
            recipients.extend(group.get((scattered(self.drawn) % group.len() as u64) as usize).copied());
        }
        // Sort the receivers, to make simulation runs deterministic.
        recipients.sort_unstable_by_key(|(key, _)| **key);
        let node = |(key, interest): (&(u64, u64), &Arc<Interest>)| {
            self.nodes.get(&key.0).map(|node| (node.clone(), interest.clone()))
        };
        Ok(recipients.into_iter().filter_map(node).collect())
    }
}

/// Mixes the bits of a number to select group members at random. With a plain counter, two groups with alternating
/// messages would always select the same members.
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Drop for MemoryMember {
    fn drop(&mut self) {
        self.bus.0.lock().nodes.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{Member, runtime};
    use crate::{Broker, Kind};

    #[test]
    fn departed_members_leave_bus_empty() {
        let (runtime, bus) = (runtime(), MemoryBus::new());
        let interests = || bus.0.lock().interests.len();
        let [first, second] = [(); 2].map(|()| Broker::builder().backplane(bus.member()).build());
        let mut reader = Member::new(&first, runtime.handle());
        reader.subscribe(1, "a", "");
        assert_eq!((interests(), bus.0.lock().nodes.len()), (1, 2));
        let _ = reader.send(Kind::Unsubscribe, 1, "");
        assert_eq!(interests(), 0);
        drop(second);
        assert_eq!(bus.0.lock().nodes.len(), 1);
    }

    #[test]
    fn bus_wakes_every_subscriber() {
        let (runtime, bus) = (runtime(), MemoryBus::new());
        let [first, second] = [(); 2].map(|()| Broker::builder().backplane(bus.member()).build());
        let mut readers = [(); 3].map(|()| Member::new(&first, runtime.handle()));
        let mut writer = Member::new(&second, runtime.handle());
        for reader in &mut readers {
            reader.subscribe(1, "a", "");
            reader.was_woken();
        }
        writer.publish("a", "x");
        writer.run_batch();
        assert_eq!(readers.each_ref().map(Member::was_woken), [true; 3]);
    }

    #[test]
    fn group_members_are_drawn_evenly_at_random() {
        for members in [2, 3, 7] {
            let drawn: Vec<_> = (0..7000).map(|number| scattered(number) % members).collect();
            for member in 0..members {
                let count = drawn.iter().filter(|drawn| **drawn == member).count() as f64;
                let even = 7000.0 / members as f64;
                assert!(
                    (0.9..1.1).contains(&(count / even)),
                    "{count} messages were delivered instead of about {even}"
                );
            }
            let same = drawn.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 * members as f64 / 7000.0;
            assert!((0.9..1.1).contains(&same), "deviation is {same} times that of chance");
        }
    }
}
