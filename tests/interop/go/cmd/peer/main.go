// Command peer is a real Go program on frisbee-go v0.11.0 for the interop
// tests: a server, a client suite and an encoder. See the README beside go.mod.
package main

import (
	"fmt"
	"os"

	"example.test/interop/common/cli"
	"example.test/interop/peer/transport"
)

func main() {
	config, err := cli.TLS()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(cli.Peer{Name: "peer", Transport: transport.Frisbee{TLS: config}}.Main())
}
