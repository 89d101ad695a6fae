"""Compares the processor time of a call by the C++ client, with native bytes and with JSON, and by the Rust client.

All clients call the same server over 16 connections with 10 calls in flight on each. They take turns in seven rounds of
two seconds each, which takes a minute. With native bytes, the C++ client should use at most 1.3 times the processor
time of the Rust client. With LIBRARY=static, the C++ client links the static library instead of the shared one.

    cargo build --release -p frpc-c --example load
    cargo rustc --release -p frpc-c --lib --crate-type cdylib,staticlib
    python3 clients/c/bench/compare.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = 7
SECONDS = sys.argv[1] if len(sys.argv) > 1 else "2"


def cost(command: list[str]) -> float:
    """Returns the processor time of a program per call, in microseconds."""
    reported = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    calls, microseconds = reported.stdout.split()
    return float(microseconds) / int(calls)


def main() -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / os.environ.get("PROFILE", "release")
    rust = str(target / "examples/load")
    with tempfile.TemporaryDirectory() as folder:
        cpp = f"{folder}/load"
        compiler = [os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-Wall", "-Wextra", "-pthread"]
        source = [str(ROOT / "clients/c/bench/load.cpp"), "-I", str(ROOT / "clients/c/include")]
        if os.environ.get("LIBRARY") == "static":
            library = [str(target / "libfrisbee_c.a"), "-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"]
        else:
            library = ["-L", str(target), "-lfrisbee_c", f"-Wl,-rpath,{target}"]
        subprocess.run([*compiler, *source, "-o", cpp, *library], check=True)
        server = subprocess.Popen([rust, "serve", "127.0.0.1:0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdin and server.stdout
        address = server.stdout.readline().strip()
        clients = {
            "Rust": [rust, "call", address, SECONDS],
            "C++, native bytes": [cpp, address, SECONDS, "native"],
            "C++, JSON": [cpp, address, SECONDS, "json"],
        }
        costs: dict[str, list[float]] = {name: [] for name in clients}
        for _ in range(ROUNDS):
            for name, command in clients.items():
                costs[name].append(cost(command))
        for name, of in costs.items():
            ratio = statistics.median(ours / rust for ours, rust in zip(of, costs["Rust"]))
            print(f"{name:17} {statistics.median(of):6.3f} us a call ({min(of):.3f} to {max(of):.3f}), {ratio:.2f} x of Rust")
        server.stdin.close()
        server.wait()


if __name__ == "__main__":
    main()
