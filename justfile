# Commands of daily work, for https://just.systems. CONTRIBUTING.md describes when to use each of them.

# Lists the commands.
default:
    @just --list

# Serves and calls methods of every kind, and prints the rate of calls.
try:
    cargo run --release -p quickstart

# Checks formatting and lints changed packages. Takes a minute.
quick:
    .ci/quick

# Checks formatting and lints all packages.
lint:
    cargo fmt --all --check
    bash -c '. .ci/env; cargo clippy --workspace --all-targets --locked --features "$features" -- -D warnings'

# Runs the tests of a package, or a selection: `just test frisbee-core decoder`.
test package *arguments:
    cargo test --locked -p {{package}} {{arguments}}

# Tests the code of the README and of the pages in docs/.
docs:
    cargo test --locked -p docs-tests
    RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps -p frisbee-rs -p frpc-rs --features frpc-rs/tls,frpc-rs/zstd

# Runs the tests of the kernel.
kernel:
    cargo test --locked

# Runs all tests. Takes a quarter of an hour, or a few minutes if they are built.
all:
    cargo test --workspace --locked

# Runs all checks that a change must pass.
ci:
    .ci/run

# Runs tests that take many hours: sanitizers, fuzzers, seeds, loads and planted defects.
full:
    .ci/full

# Builds the files of a release in target/artifacts, and makes a call with each: docs/releasing.md.
release-artifacts:
    .ci/artifacts

# Replays one seed of the simulation: `just seed 7`.
seed number:
    FRISBEE_SEED={{number}} cargo test --locked -p frisbee-tests --test connections no_seed -- --nocapture

# Compares the instructions of the hot path with the committed counts. Needs valgrind.
instructions:
    cargo run --release --locked -p cost --bin hot_path -- check

# Rewrites the committed generated code. Review the diff.
golden:
    UPDATE_GOLDEN=1 cargo test --locked -p frpc-build -p frpc-languages

# Rewrites the lists of public items in docs/api. Review the diff.
api:
    .ci/api update

# Builds the book and opens it in a browser. Needs mdbook.
book:
    mdbook serve --open
