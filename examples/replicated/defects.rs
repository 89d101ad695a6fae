//! Defects that can be injected into the store, one at a time, to check whether the simulation detects them.

/// A defect found in real systems of this kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    /// The leader acknowledges a write once it is on its own disk, so the write may be lost.
    AnswersBeforeCommit,
    /// A write whose entry was replaced by another leader's entry is acknowledged.
    AnswersForOthers,
    /// A duplicate command is applied twice.
    AppliesTwice,
    /// A client retries a command that may have run as a new command.
    RetriesUnderNewId,
    /// A leader serves reads although another leader may have been elected.
    StaleLeader,
    /// Followers serve reads.
    StaleRead,
    /// A new leader serves reads before it knows which entries are committed.
    ReadsTooEarly,
    /// A handler whose caller has disconnected keeps its permit.
    ForgottenCancel,
    /// A client exceeds its time limit.
    IgnoresDeadline,
    /// A leader grants a lease before a majority has stored the grant.
    SplitBrainOfLease,
    /// Leases expire by the wall clock, which is adjusted occasionally.
    TrustsWallClock,
    /// A holder assumes that the clocks of two machines run at the same rate.
    TrustsDrift,
    /// A holder counts its lease from the reply instead of the request.
    CountsFromAnswer,
    /// A leader without followers continues to renew leases.
    OldLeaderRenews,
    /// A new leader considers a lease expired although it only missed the last renewal.
    ForgetsRenewals,
    /// Entries are acknowledged before they are on disk.
    AnswersBeforeSync,
    /// Only the first of several entries is stored, but all are acknowledged.
    PartialWrite,
    /// One entry too many is removed at the point where two logs diverge.
    TruncatesTooMuch,
    /// Nothing is removed where two logs diverge.
    KeepsConflicts,
    /// Entries are stored without checking their predecessor.
    SkipsPreviousEntry,
    /// A replica votes for every candidate.
    VotesTwice,
    /// A vote is not persisted before it is granted.
    VoteNotOnDisk,
    /// A replica votes for a candidate that lacks some of its entries.
    VotesForShortLog,
    /// Entries of a replaced leader are accepted.
    TermNotChecked,
    /// A minority counts as a majority.
    CommitsByMinority,
}

impl Defect {
    /// All defects, in the order of the documentation.
    pub(crate) const ALL: [Self; 25] = [
        Self::AnswersBeforeCommit,
        Self::AnswersForOthers,
        Self::AppliesTwice,
        Self::RetriesUnderNewId,
        Self::StaleLeader,
        Self::StaleRead,
        Self::ReadsTooEarly,
        Self::ForgottenCancel,
        Self::IgnoresDeadline,
        Self::SplitBrainOfLease,
        Self::TrustsWallClock,
        Self::TrustsDrift,
        Self::CountsFromAnswer,
        Self::OldLeaderRenews,
        Self::ForgetsRenewals,
        Self::AnswersBeforeSync,
        Self::PartialWrite,
        Self::TruncatesTooMuch,
        Self::KeepsConflicts,
        Self::SkipsPreviousEntry,
        Self::VotesTwice,
        Self::VoteNotOnDisk,
        Self::VotesForShortLog,
        Self::TermNotChecked,
        Self::CommitsByMinority,
    ];
}
