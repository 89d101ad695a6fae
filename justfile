# The commands of daily work, for https://just.systems. CONTRIBUTING.md says when to use which.

# Lists the commands.
default:
    @just --list

# Serves and calls every kind of method, and prints how fast that is.
try:
    cargo run --release -p quickstart

# Formatting, and lints of changed packages: a minute.
quick:
    .ci/quick

# Lints of everything.
lint:
    cargo fmt --all --check
    bash -c '. .ci/env; cargo clippy --workspace --all-targets --locked --features "$features" -- -D warnings'

# Tests of one package, or some of them: `just test frisbee-core decoder`.
test package *arguments:
    cargo test --locked -p {{package}} {{arguments}}

# The code of the README and of the pages.
docs:
    cargo test --locked -p docs-tests
    RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps -p frisbee-rs -p frpc-rs --features frpc-rs/tls,frpc-rs/zstd

# Tests of the kernel.
kernel:
    cargo test --locked

# All tests: a quarter of an hour, a few minutes when they are built.
all:
    cargo test --workspace --locked

# All checks of a change.
ci:
    .ci/run

# Tests that take an hour: sanitizers, fuzzers, seeds, loads and planted defects.
full:
    .ci/full

# Makes the files of a release in target/artifacts, and calls each: docs/releasing.md.
release-artifacts:
    .ci/artifacts

# Replays one seed of the simulation: `just seed 7`.
seed number:
    FRISBEE_SEED={{number}} cargo test --locked -p frisbee-tests --test connections no_seed -- --nocapture

# Instructions of the hot path, against the counts in the repository. Needs valgrind.
instructions:
    cargo run --release --locked -p cost --bin hot_path -- check

# Rewrites generated code; read the diff.
golden:
    UPDATE_GOLDEN=1 cargo test --locked -p frpc-build -p frpc-languages

# Rewrites the lists of public items in docs/api; read the diff.
api:
    .ci/api update

# Builds the book and opens it. Needs mdbook.
book:
    mdbook serve --open
