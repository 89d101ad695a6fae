//! Compares two versions of an ordered list and determines which items were kept, moved, inserted or removed, and
//! where.

/// What happened to an item. Numbers are positions in the old and in the new list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The item is in order with its neighbours. Its position may differ because of insertions and removals.
    Matched { old: usize, new: usize },
    /// The item was reordered.
    Moved { old: usize, new: usize },
    /// The item is new and has the position of a removed item.
    Replaced { old: usize, new: usize },
    /// The item is new and precedes an old item, which is at `before` in the new list.
    Inserted { new: usize, before: usize },
    /// The item is new and is not followed by an old item.
    Appended { new: usize },
    /// The item was removed and no new item has its position.
    Removed { old: usize },
}

/// Compares a list of `old_len` items with a new list. `matches` contains the old position of each item in the new
/// list, if it has one.
pub(crate) fn align(old_len: usize, matches: &[Option<usize>]) -> Vec<Step> {
    let matched = longest_ascending(matches);
    let is_gone = |old: usize| !matches.contains(&Some(old));
    let mut steps = Vec::new();
    for (new, old) in matches.iter().copied().enumerate() {
        let next_old = (new + 1..matches.len()).find(|next| matches[*next].is_some());
        steps.push(match old {
            Some(old) if matched.contains(&new) => Step::Matched { old, new },
            Some(old) => Step::Moved { old, new },
            None if new < old_len && is_gone(new) => Step::Replaced { old: new, new },
            None => next_old.map_or(Step::Appended { new }, |before| Step::Inserted { new, before }),
        });
    }
    let is_replaced = |old: usize| matches!(matches.get(old), Some(None));
    steps.extend((0..old_len).filter(|old| is_gone(*old) && !is_replaced(*old)).map(|old| Step::Removed { old }));
    steps
}

/// Returns the positions of a longest subsequence with ascending old positions.
fn longest_ascending(matches: &[Option<usize>]) -> Vec<usize> {
    // best[at]: the length of the longest chain that ends at `at`, and the item before it. This takes quadratic time,
    // which is acceptable for the fields of a message. Unchanged messages are handled first.
    if matches.iter().flatten().is_sorted() {
        return (0..matches.len()).filter(|at| matches[*at].is_some()).collect();
    }
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(matches.len());
    for (at, old) in matches.iter().enumerate() {
        let Some(old) = old else {
            best.push((0, None));
            continue;
        };
        let before = (0..at).filter(|before| matches[*before].is_some_and(|before| before < *old));
        let longest = before.max_by_key(|before| best[*before].0);
        best.push((longest.map_or(0, |before| best[before].0) + 1, longest));
    }
    let mut chain = Vec::new();
    let mut end = (0..matches.len()).max_by_key(|at| best[*at].0);
    while let Some(at) = end {
        chain.push(at);
        end = best[at].1;
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::{Step, align};

    #[test]
    fn appending_leaves_all_others() {
        let steps = align(2, &[Some(0), Some(1), None]);
        assert_eq!(
            steps,
            [Step::Matched { old: 0, new: 0 }, Step::Matched { old: 1, new: 1 }, Step::Appended { new: 2 }]
        );
    }

    #[test]
    fn insertion_lists_following_fields() {
        let steps = align(2, &[Some(0), None, None, Some(1)]);
        assert!(steps.contains(&Step::Inserted { new: 1, before: 3 }));
        assert!(steps.contains(&Step::Inserted { new: 2, before: 3 }));
        assert!(steps.contains(&Step::Matched { old: 1, new: 3 }));
    }

    #[test]
    fn one_item_that_moves_does_not_move_the_others() {
        let steps = align(4, &[Some(3), Some(0), Some(1), Some(2)]);
        assert_eq!(steps[0], Step::Moved { old: 3, new: 0 });
        assert_eq!(steps.iter().filter(|step| matches!(step, Step::Moved { .. })).count(), 1);
    }

    #[test]
    fn a_missing_entry_was_replaced_or_removed() {
        assert_eq!(align(1, &[None]), [Step::Replaced { old: 0, new: 0 }]);
        assert_eq!(align(2, &[Some(1)]), [Step::Matched { old: 1, new: 0 }, Step::Removed { old: 0 }]);
        assert_eq!(align(1, &[]), [Step::Removed { old: 0 }]);
    }
}
