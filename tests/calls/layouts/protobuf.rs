//! The same peers with messages in protobuf's encoding, which need no translation.

use frisbee_tests::evolution::protobuf as evolution;

#[allow(clippy::duplicate_mod, reason = "the tests use other message types")]
#[path = "shop.rs"]
mod shop;
