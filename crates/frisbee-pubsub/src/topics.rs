//! Topics and patterns: their syntax and matching.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

/// Maximum length of a topic or pattern in bytes. Typical names are shorter. A million names of this length take 255
/// MB.
pub(crate) const TOPIC_MAX: usize = 255;

/// Maximum number of tokens in a topic or pattern. It bounds the time of a lookup: at each token, a lookup may follow
/// two branches, so that it visits fewer than 2^17 nodes. It visits that many only if there are about as many patterns.
pub(crate) const DEPTH_MAX: usize = 16;

/// Wildcard that matches exactly one token.
const ONE: &str = "*";

/// Wildcard that matches one or more remaining tokens.
const REST: &str = ">";

/// Reason why a topic or pattern is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TopicError {
    /// The length of the topic in bytes is 0 or more than 255.
    Length(usize),
    /// The topic has more than 16 tokens.
    Depth,
    /// A token of the topic is empty: there are two adjacent dots, or a dot at the start or end.
    EmptyToken,
    /// The topic contains white space or a control character, or a `*` or `>` within a longer token.
    Character(char),
    /// A topic to publish to contains a wildcard, which only patterns may contain.
    Wildcard,
    /// The wildcard `>` occurs before the last token of the pattern.
    RestWithin,
    /// The topic is not valid UTF-8.
    NotText,
    /// The topic is reserved. Only the broker may publish to it.
    Reserved,
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => write!(f, "a topic must have 1 to {TOPIC_MAX} bytes, not {length}"),
            Self::Depth => write!(f, "a topic must have at most {DEPTH_MAX} tokens"),
            Self::EmptyToken => f.write_str("a token of a topic must not be empty"),
            Self::Character(character) => write!(f, "a token must not contain {character:?}"),
            Self::Wildcard => f.write_str("a topic to publish to must not have wildcards"),
            Self::RestWithin => f.write_str("the token > must be the last one"),
            Self::NotText => f.write_str("a topic must be UTF-8"),
            Self::Reserved => f.write_str("only the broker publishes to topics below $presence"),
        }
    }
}

impl std::error::Error for TopicError {}

/// Validates a topic to publish to.
///
/// # Errors
/// Returns the first problem that is found.
pub fn check_topic(topic: &[u8]) -> Result<&str, TopicError> {
    let topic = check_pattern(topic)?;
    let wild = topic.split('.').any(|token| token == ONE || token == REST);
    if wild { Err(TopicError::Wildcard) } else { Ok(topic) }
}

/// Validates a pattern to subscribe to.
///
/// # Errors
/// Returns the first problem that is found.
pub fn check_pattern(pattern: &[u8]) -> Result<&str, TopicError> {
    if pattern.is_empty() || pattern.len() > TOPIC_MAX {
        return Err(TopicError::Length(pattern.len()));
    }
    let pattern = std::str::from_utf8(pattern).map_err(|_| TopicError::NotText)?;
    if pattern.split('.').count() > DEPTH_MAX {
        return Err(TopicError::Depth);
    }
    let mut rest = false;
    for token in pattern.split('.') {
        if rest {
            return Err(TopicError::RestWithin);
        }
        match token {
            "" => return Err(TopicError::EmptyToken),
            ONE => {}
            REST => rest = true,
            _ => {
                let bad = |c: char| c.is_whitespace() || c.is_control() || c == '*' || c == '>';
                if let Some(character) = token.chars().find(|c| bad(*c)) {
                    return Err(TopicError::Character(character));
                }
            }
        }
    }
    Ok(pattern)
}

/// Returns whether every topic that matches `other` also matches `pattern`. For example, `orders.>` covers
/// `orders.*.created`. A topic without wildcards is a pattern that matches only itself.
///
/// ```
/// use frisbee_pubsub::covers;
///
/// assert!(covers("orders.>", "orders.*.created") && covers("orders.*", "orders.north"));
/// assert!(!covers("orders.*", "orders.>"));
/// ```
#[must_use]
pub fn covers(pattern: &str, other: &str) -> bool {
    let (mut tokens, mut others) = (pattern.split('.'), other.split('.'));
    loop {
        match (tokens.next(), others.next()) {
            (None, None) | (Some(REST), Some(_)) => return true,
            (Some(ONE), Some(token)) if token != REST => {}
            (Some(wanted), Some(token)) if wanted == token => {}
            _ => return false,
        }
    }
}

/// Map from patterns to values, which are looked up by topics that match the patterns. The key of a value is unique
/// among the values of its pattern.
///
/// Stored as a tree with one node per pattern prefix. Empty nodes are removed, so that removed patterns use no memory.
/// Insertion and removal move only a few entries at any size, which bounds the time that they block other threads.
#[derive(Debug)]
pub(crate) struct Trie<K, V> {
    root: Node<K, V>,
    nodes: usize,
    len: usize,
}

#[derive(Debug)]
struct Node<K, V> {
    /// Child nodes, by the next token of their patterns.
    children: Table<Box<str>, Box<Self>>,
    one: Option<Box<Self>>,
    /// Values of patterns that end at this node. They match topics that also end here.
    here: Table<K, V>,
    /// Values of patterns that end with `>` after this node. They match all topics that continue beyond this node.
    rest: Table<K, V>,
}

/// A table sorted by key. Growing moves only a few entries, whereas a hash table would rehash all of them at once. Most
/// tables have a single entry, which is stored inline because a map would use ten times the memory.
#[derive(Debug)]
enum Table<K, V> {
    None,
    One(K, V),
    Many(BTreeMap<K, V>),
}

impl<K, V> Default for Node<K, V> {
    fn default() -> Self {
        Self { children: Table::None, one: None, here: Table::None, rest: Table::None }
    }
}

impl<K, V> Default for Trie<K, V> {
    fn default() -> Self {
        Self { root: Node::default(), nodes: 0, len: 0 }
    }
}

impl<K: Ord, V> Trie<K, V> {
    /// Returns the number of values in the tree.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of tree nodes, excluding the root.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Inserts a value for a valid pattern. Replaces the value with the same key of the same pattern, if there is one.
    pub(crate) fn insert(&mut self, pattern: &str, key: K, value: V) {
        let mut node = &mut self.root;
        for token in pattern.split('.') {
            match token {
                REST => {
                    self.len += usize::from(node.rest.insert(key, value));
                    return;
                }
                ONE => {
                    self.nodes += usize::from(node.one.is_none());
                    node = node.one.get_or_insert_default();
                }
                _ => {
                    if node.children.get(token).is_none() {
                        node.children.insert(token.into(), Box::default());
                        self.nodes += 1;
                    }
                    node = node.children.get_mut(token).expect("child node should exist after it was inserted");
                }
            }
        }
        self.len += usize::from(node.here.insert(key, value));
    }

    /// Removes the value with this key from a pattern's values, and returns it.
    pub(crate) fn remove(&mut self, pattern: &str, key: &K) -> Option<V> {
        let removed = self.root.remove(Some(pattern), key, &mut self.nodes);
        self.len -= usize::from(removed.is_some());
        removed
    }

    /// Calls `show` with the key and value of each entry whose pattern matches the topic, in unspecified order.
    pub(crate) fn for_each_match<'a>(&'a self, topic: &str, mut show: impl FnMut(&'a K, &'a V)) {
        self.root.visit(Some(topic), &mut show);
    }
}

impl<K: Ord, V> Node<K, V> {
    fn remove(&mut self, pattern: Option<&str>, key: &K, nodes: &mut usize) -> Option<V> {
        let Some(pattern) = pattern else { return self.here.remove(key) };
        let (token, next) = split(pattern);
        match token {
            REST => self.rest.remove(key),
            ONE => {
                let one = self.one.as_mut()?;
                let removed = one.remove(next, key, nodes);
                if one.is_empty() {
                    self.one = None;
                    *nodes -= 1;
                }
                removed
            }
            _ => {
                let child = self.children.get_mut(token)?;
                let removed = child.remove(next, key, nodes);
                // Remove empty nodes, so that patterns without values occupy no memory.
                if child.is_empty() {
                    self.children.remove(token);
                    *nodes -= 1;
                }
                removed
            }
        }
    }

    fn visit<'a>(&'a self, topic: Option<&str>, show: &mut impl FnMut(&'a K, &'a V)) {
        let Some(topic) = topic else {
            self.here.for_each(show);
            return;
        };
        self.rest.for_each(show);
        let (token, next) = split(topic);
        if let Some(child) = self.children.get(token) {
            child.visit(next, show);
        }
        if let Some(one) = &self.one {
            one.visit(next, show);
        }
    }

    fn is_empty(&self) -> bool {
        self.children.is_empty() && self.one.is_none() && self.here.is_empty() && self.rest.is_empty()
    }
}

impl<K: Ord, V> Table<K, V> {
    fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::None => None,
            Self::One(found, value) => (found.borrow() == key).then_some(value),
            Self::Many(all) => all.get(key),
        }
    }

    fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::None => None,
            Self::One(found, value) => ((*found).borrow() == key).then_some(value),
            Self::Many(all) => all.get_mut(key),
        }
    }

    /// Inserts a value and returns whether its key is new.
    fn insert(&mut self, key: K, value: V) -> bool {
        match std::mem::replace(self, Self::None) {
            Self::One(other, before) if other != key => {
                *self = Self::Many(BTreeMap::from([(other, before), (key, value)]));
                true
            }
            Self::Many(mut all) => {
                let new = all.insert(key, value).is_none();
                *self = Self::Many(all);
                new
            }
            before @ (Self::None | Self::One(..)) => {
                *self = Self::One(key, value);
                before.is_empty()
            }
        }
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match std::mem::replace(self, Self::None) {
            Self::One(found, value) if found.borrow() == key => Some(value),
            Self::Many(mut all) => {
                let removed = all.remove(key);
                *self = match all.len() {
                    1 => all.pop_first().map_or(Self::None, |(key, value)| Self::One(key, value)),
                    _ => Self::Many(all),
                };
                removed
            }
            other => {
                *self = other;
                None
            }
        }
    }

    fn for_each<'a>(&'a self, show: &mut impl FnMut(&'a K, &'a V)) {
        match self {
            Self::None => {}
            Self::One(key, value) => show(key, value),
            Self::Many(all) => all.iter().for_each(|(key, value)| show(key, value)),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Splits a topic at its first dot into the first token and the rest.
fn split(topic: &str) -> (&str, Option<&str>) {
    match topic.split_once('.') {
        Some((token, next)) => (token, Some(next)),
        None => (topic, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference implementation of pattern matching for tests. It compares a pattern with a topic token by token.
    fn matches(pattern: &str, topic: &str) -> bool {
        let (mut pattern, mut topic) = (pattern.split('.'), topic.split('.'));
        loop {
            match (pattern.next(), topic.next()) {
                (None, None) => return true,
                (Some(">"), Some(_)) => return true,
                (Some("*"), Some(_)) => {}
                (Some(wanted), Some(token)) if wanted == token => {}
                _ => return false,
            }
        }
    }

    fn found(trie: &Trie<usize, ()>, topic: &str) -> Vec<usize> {
        let mut found = Vec::new();
        trie.for_each_match(topic, |key, ()| found.push(*key));
        found.sort_unstable();
        found
    }

    /// Returns the number of nodes below a node of the subscription tree.
    fn below<K: Ord, V>(node: &Node<K, V>) -> usize {
        let mut nodes = node.one.as_ref().map_or(0, |one| 1 + below(one));
        node.children.for_each(&mut |_, child| nodes += 1 + below(child));
        nodes
    }

    fn pattern() -> impl Strategy<Value = String> {
        let tokens = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "*"]), 1..5);
        (tokens, any::<bool>()).prop_map(|(mut tokens, rest)| {
            if rest {
                tokens.push(">");
            }
            tokens.join(".")
        })
    }

    fn topic() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 1..6).prop_map(|tokens| tokens.join("."))
    }

    proptest! {
        #[test]
        fn patterns_match_as_defined_after_any_removals(
            patterns in prop::collection::vec((pattern(), any::<bool>()), 0..40),
            topics in prop::collection::vec(topic(), 1..20),
        ) {
            let mut trie = Trie::default();
            for (key, (pattern, _)) in patterns.iter().enumerate() {
                trie.insert(pattern, key, ());
            }
            for (key, (pattern, removed)) in patterns.iter().enumerate() {
                if *removed {
                    prop_assert_eq!(trie.remove(pattern, &key), Some(()));
                    prop_assert_eq!(trie.remove(pattern, &key), None);
                }
            }
            for topic in &topics {
                let expected = patterns.iter().enumerate();
                let expected = expected.filter(|(_, (pattern, removed))| !removed && matches(pattern, topic));
                let expected: Vec<_> = expected.map(|(key, _)| key).collect();
                prop_assert_eq!(found(&trie, topic), expected, "{}", topic);
            }
            prop_assert_eq!(trie.nodes(), below(&trie.root));
            for (key, (pattern, removed)) in patterns.iter().enumerate() {
                prop_assert_eq!(trie.remove(pattern, &key).is_some(), !removed);
            }
            prop_assert_eq!((trie.len(), trie.nodes(), below(&trie.root)), (0, 0, 0));
            prop_assert!(trie.root.is_empty());
        }
    }

    proptest! {
        #[test]
        fn pattern_covers_another_with_all_topics(
            pair in (pattern(), pattern()), topics in proptest::collection::vec(topic(), 1..20)
        ) {
            let (wide, narrow) = pair;
            prop_assert!(covers(&wide, &wide));
            for topic in topics {
                prop_assert_eq!(covers(&wide, &topic), matches(&wide, &topic));
                prop_assert!(!covers(&wide, &narrow) || !matches(&narrow, &topic) || matches(&wide, &topic));
            }
        }
    }

    #[test]
    fn pattern_covers_narrower_patterns() {
        for (wide, narrow) in [(">", "*"), (">", ">"), ("a.>", "a.*.>"), ("*.*", "a.*"), ("a", "a"), ("*.>", "a.b.>")] {
            assert!(covers(wide, narrow), "{wide} {narrow}");
        }
        for (wide, other) in [("*", ">"), ("a.*", "a.>"), ("a", "*"), ("a.>", "a"), ("*", "a.b"), ("*.*", "*")] {
            assert!(!covers(wide, other), "{wide} {other}");
        }
    }

    #[test]
    fn wildcards_match_one_or_remaining_tokens() {
        let mut trie = Trie::default();
        for (key, pattern) in ["a.*.c", "a.>", ">", "a.b", "*"].into_iter().enumerate() {
            trie.insert(pattern, key, ());
        }
        assert_eq!(found(&trie, "a"), [2, 4]);
        assert_eq!(found(&trie, "a.b"), [1, 2, 3]);
        assert_eq!(found(&trie, "a.x.c"), [0, 1, 2]);
        assert_eq!(found(&trie, "b.x.c"), [2]);
    }

    #[test]
    fn reinserted_key_replaces_old_value() {
        let mut trie = Trie::default();
        for value in [5, 6] {
            trie.insert("a.b", 1, value);
            assert_eq!((trie.len(), trie.nodes()), (1, 2));
        }
        trie.insert("a.b", 2, 7);
        let mut found = Vec::new();
        trie.for_each_match("a.b", |key, value| found.push((*key, *value)));
        assert_eq!((found, trie.len()), (vec![(1, 6), (2, 7)], 2));
    }

    #[test]
    fn pattern_length_and_depth_are_bounded() {
        let tokens = |count: usize| vec!["a"; count].join(".");
        for (pattern, expected) in [
            ("a".repeat(TOPIC_MAX), Ok(())),
            ("a".repeat(TOPIC_MAX + 1), Err(TopicError::Length(TOPIC_MAX + 1))),
            (String::new(), Err(TopicError::Length(0))),
            (tokens(DEPTH_MAX), Ok(())),
            (tokens(DEPTH_MAX + 1), Err(TopicError::Depth)),
        ] {
            assert_eq!(check_pattern(pattern.as_bytes()).map(|_| ()), expected, "{pattern}");
        }
    }

    #[test]
    fn removed_topics_leave_no_trie_nodes() {
        let mut trie = Trie::default();
        trie.insert("base.topic", 0, ());
        let before = (trie.len(), trie.nodes());
        // Half of the topics fill one large table, and the other half fill many small ones.
        let topic = |number: usize| match number % 2 {
            0 => format!("topic.{}.{number}", number % 1000),
            _ => number.to_string(),
        };
        for number in 0..1_000_000 {
            trie.insert(&topic(number), number, ());
        }
        assert_eq!(trie.nodes(), before.1 + 1 + 500 + 1_000_000);
        for number in 0..100_000 {
            trie.insert(&format!("churn.{number}.*.>"), number, ());
            assert!(trie.remove(&format!("churn.{number}.*.>"), &number).is_some());
        }
        for number in 0..1_000_000 {
            assert!(trie.remove(&topic(number), &number).is_some());
        }
        assert_eq!((trie.len(), trie.nodes()), before);
        assert_eq!(below(&trie.root), before.1);
    }

    #[test]
    fn invalid_topic_is_rejected_with_reason() {
        use TopicError::*;
        assert_eq!(check_topic(b"a.b-c.\xC3\xA4"), Ok("a.b-c.\u{E4}"));
        assert_eq!(check_pattern(b"a.*.>"), Ok("a.*.>"));
        for (topic, error) in [
            (&b""[..], Length(0)),
            (&[b'a'; 256], Length(256)),
            (b"a.", EmptyToken),
            (b"a..b", EmptyToken),
            (b"a b", Character(' ')),
            (b"a\n", Character('\n')),
            (b"a*", Character('*')),
            (b">a", Character('>')),
            (b"*.a", Wildcard),
            (b"a.>", Wildcard),
            (b">.a", RestWithin),
            (b"\xFF", NotText),
            (b"1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17", Depth),
        ] {
            assert_eq!(check_topic(topic), Err(error), "{}", topic.escape_ascii());
        }
    }
}
