#!/usr/bin/env bash
# Compares echoes of 100 bytes by AF_XDP and by sockets over a veth pair: `sudo benches/af_xdp/run.sh [ROUNDS]`.
# Needs root, gcc and the package libxdp-dev. The client runs in a network namespace, which is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d)
gcc -O2 -Wall -Wextra echo.c -o "$work/echo" -lxdp
trap 'ip link delete xdp-echo 2>/dev/null; ip netns delete xdp-echo 2>/dev/null; rm -rf "$work"' EXIT
within() { ip netns exec xdp-echo "$@"; }
ip netns add xdp-echo
ip link add xdp-echo type veth peer name xdp-load netns xdp-echo
ip address add 10.253.0.1/30 dev xdp-echo
within ip address add 10.253.0.2/30 dev xdp-load
ip link set xdp-echo up
within ip link set xdp-load up
# AF_XDP receives every frame of the queue, including those of ARP.
ip neighbour replace 10.253.0.2 lladdr "$(within cat /sys/class/net/xdp-load/address)" dev xdp-echo nud permanent
within ip neighbour replace 10.253.0.1 lladdr "$(cat /sys/class/net/xdp-echo/address)" dev xdp-load nud permanent

busy() { awk '/^cpu /{print $2 + $3 + $4 + $7 + $8}' /proc/stat; }
for round in $(seq "${1:-7}"); do
    for in_flight in 1 32; do
        for server in 'socket 1' 'socket 64' 'xdp xdp-echo'; do
            read -ra arguments <<<"$server"
            "$work/echo" "${arguments[@]}" 2 >"$work/served" 2>"$work/errors" &
            served=$!
            sleep 0.3
            before=$(busy)
            within "$work/echo" load 10.253.0.1 1.9 "$in_flight" 100 >"$work/loaded"
            after=$(busy)
            wait "$served" || cat "$work/errors"
            echo "round $round, $in_flight in flight, $(cat "$work/served"); $(cat "$work/loaded"); machine busy for" \
                "$(((after - before) * 10)) ms"
        done
    done
done
