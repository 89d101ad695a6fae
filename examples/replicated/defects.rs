//! The defects that can be planted in the store, one at a time, to see whether the simulation notices.

/// A mistake that services of this kind have really had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    /// The leader answers a write when its own disk has it: the acknowledged write may be lost.
    AnswersBeforeCommit,
    /// A write whose entry has given way to that of another leader is answered as done.
    AnswersForOthers,
    /// A command that comes twice is applied twice.
    AppliesTwice,
    /// A client repeats a command that may have run as a new command.
    RetriesUnderNewId,
    /// A leader reads although others may have elected another one.
    StaleLeader,
    /// Followers read, too.
    StaleRead,
    /// A new leader reads before it knows which entries stay.
    ReadsTooEarly,
    /// A handler whose caller has gone keeps its place.
    ForgottenCancel,
    /// A client tries for longer than its limit.
    IgnoresDeadline,
    /// A leader grants a lease before a majority knows of it.
    SplitBrainOfLease,
    /// Leases run out by the wall clock, which is set now and then.
    TrustsWallClock,
    /// A holder believes that the clocks of two machines go equally fast.
    TrustsDrift,
    /// A holder counts the time of its lease from the answer on, and not from its question.
    CountsFromAnswer,
    /// A leader without followers continues to renew leases.
    OldLeaderRenews,
    /// A new leader treats leases as expired although it has only missed their last renewal.
    ForgetsRenewals,
    /// Entries are acknowledged before they are on the disk.
    AnswersBeforeSync,
    /// The first of several entries is stored, and all are acknowledged.
    PartialWrite,
    /// One entry too many is removed where two logs part.
    TruncatesTooMuch,
    /// Nothing is removed where two logs part.
    KeepsConflicts,
    /// Entries are stored after others than their predecessors.
    SkipsPreviousEntry,
    /// A replica votes for every candidate.
    VotesTwice,
    /// A vote is not on the disk when it is given.
    VoteNotOnDisk,
    /// A replica votes for one who lacks entries that it has.
    VotesForShortLog,
    /// Entries of a leader that has been replaced are taken.
    TermNotChecked,
    /// A minority counts as a majority.
    CommitsByMinority,
}

impl Defect {
    /// All of them, in the order of the page about simulations.
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
