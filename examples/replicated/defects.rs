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
    /// A client repeats what may have run as a new command.
    RetriesAnew,
    /// A leader reads although others may have elected another one.
    StaleLeader,
    /// Followers read, too.
    StaleRead,
    /// A new leader reads before it knows which entries stay.
    ReadsTooEarly,
    /// A handler whose caller has gone keeps its place.
    ForgottenCancel,
    /// A client tries for longer than it was told to.
    IgnoresDeadline,
    /// A leader grants a lease before a majority knows of it.
    SplitBrainOfLease,
    /// Leases run out by the wall clock, which is set now and then.
    TrustsWallClock,
    /// A holder believes that the clocks of two machines go equally fast.
    TrustsDrift,
    /// A holder counts the time of its lease from the answer on, and not from its question.
    CountsFromAnswer,
    /// A leader that nobody follows any more goes on renewing leases.
    OldLeaderRenews,
    /// A new leader believes leases to have run out of which it only has not seen the last renewal.
    ForgetsRenewals,
    /// Entries are acknowledged before they are on the disk.
    AnswersBeforeSync,
    /// The first of several entries is stored, and all are acknowledged.
    PartialWrite,
    /// One entry too many is removed where two logs part.
    TruncatesTooMuch,
    /// Nothing is removed where two logs part.
    KeepsConflicts,
    /// Entries are stored behind others than those that they follow.
    SkipsPreviousEntry,
    /// A replica votes for everybody who asks.
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
    /// All of them, in the order in which the page about simulations shows them.
    pub(crate) const ALL: [Self; 25] = [
        Self::AnswersBeforeCommit,
        Self::AnswersForOthers,
        Self::AppliesTwice,
        Self::RetriesAnew,
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
