//! The static table of RFC 7541, appendix A, and the dynamic table of section 2.3.2.

use std::collections::VecDeque;

/// Size in bytes of a table entry in addition to the lengths of its name and value: RFC 7541, section 4.1.
pub(super) const ENTRY_COST: usize = 32;

/// The static table of RFC 7541, appendix A. The first entry has index 1.
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Offset of the entry in the text buffer, where its value follows its name.
    at: usize,
    name: usize,
    value: usize,
}

/// Dynamic table of HPACK, which evicts its oldest entries first.
///
/// One buffer contains the text of all entries, and new entries are appended. Evicted text is removed once the buffer
/// is twice the maximum size of the table, so each byte is moved about once.
#[derive(Debug)]
pub(super) struct Table {
    text: Vec<u8>,
    entries: VecDeque<Entry>,
    /// Size of all entries in bytes, counted as in RFC 7541, section 4.1.
    size: usize,
    size_max: usize,
}

impl Table {
    pub(super) fn new(size_max: usize) -> Self {
        Self { text: Vec::new(), entries: VecDeque::new(), size: 0, size_max }
    }

    pub(super) fn size_max(&self) -> usize {
        self.size_max
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the memory of the table's buffers in bytes.
    pub(super) fn memory(&self) -> usize {
        let entries = self.entries.capacity().saturating_mul(size_of::<Entry>());
        self.text.capacity().saturating_add(entries)
    }

    /// Returns the name and value at an index of the static or dynamic table. "The dynamic table is indexed from 62":
    /// RFC 7541, section 2.3.3.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let at = index.checked_sub(1)?;
        if let Some((name, value)) = STATIC.get(at) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        // The newest entry has the lowest index.
        let age = at.checked_sub(STATIC.len())?.checked_add(1)?;
        let entry = self.entries.get(self.entries.len().checked_sub(age)?)?;
        let text = self.text.get(entry.at..)?;
        let (name, text) = text.split_at_checked(entry.name)?;
        Some((name, text.get(..entry.value)?))
    }

    /// Returns the size of an entry in bytes, counted as in RFC 7541, section 4.1.
    pub(super) fn cost(name: &[u8], value: &[u8]) -> usize {
        name.len().saturating_add(value.len()).saturating_add(ENTRY_COST)
    }

    /// Returns whether an entry fits into the table without evicting others.
    pub(super) fn has_room(&self, name: &[u8], value: &[u8]) -> bool {
        self.size.saturating_add(Self::cost(name, value)) <= self.size_max
    }

    /// Inserts an entry. Evicts the oldest entries if there is not enough space.
    ///
    /// "An attempt to add an entry larger than the maximum size causes the table to be emptied of all existing entries
    /// and results in an empty table": RFC 7541, section 4.4.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let cost = Self::cost(name, value);
        self.evict(self.size_max.saturating_sub(cost));
        if cost > self.size_max {
            return;
        }
        let length = name.len().saturating_add(value.len());
        if self.text.len().saturating_add(length) > self.size_max.saturating_mul(2) {
            self.compact();
        }
        self.entries.push_back(Entry { at: self.text.len(), name: name.len(), value: value.len() });
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(value);
        self.size = self.size.saturating_add(cost);
    }

    fn compact(&mut self) {
        let start = self.entries.front().map_or(self.text.len(), |oldest| oldest.at);
        self.text.drain(..start.min(self.text.len()));
        for entry in &mut self.entries {
            entry.at = entry.at.saturating_sub(start);
        }
    }

    fn evict(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.size = self.size.saturating_sub(oldest.name.saturating_add(oldest.value).saturating_add(ENTRY_COST));
        }
    }

    /// Sets the maximum size of the table, and evicts the oldest entries if they exceed it.
    pub(super) fn resize(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.evict(size_max);
    }

    /// Removes the newest entries until `len` entries are left.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.entries.len() > len {
            let Some(newest) = self.entries.pop_back() else { return };
            self.text.truncate(newest.at);
            self.size = self.size.saturating_sub(newest.name.saturating_add(newest.value).saturating_add(ENTRY_COST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_text_over_many_evictions() {
        let mut table = Table::new(200);
        let text = |number: u32| number.to_string().into_bytes();
        for number in 0..10_000 {
            table.insert(b"name", &text(number));
            for back in 0..table.len() as u32 {
                let entry = table.get(62 + back as usize);
                assert_eq!(entry, Some((&b"name"[..], &text(number - back)[..])));
            }
            assert!(table.size <= 200 && table.text.len() <= 400);
            assert_eq!(table.get(62 + table.len()), None);
        }
        table.insert(b"name", &[b'x'; 200]);
        assert_eq!((table.len(), table.size), (0, 0), "entry longer than the table should empty the table");
    }

    #[test]
    fn truncated_table_is_as_it_was() {
        let mut table = Table::new(4096);
        table.insert(b"a", b"1");
        table.insert(b"b", b"2");
        table.truncate(1);
        assert_eq!((table.get(62), table.get(63), table.size), (Some((&b"a"[..], &b"1"[..])), None, 34));
    }
}
