// Command peer is a Go program on frisbee-go v0.11.0 for the interop tests. It
// contains a server, a client with test cases, and an encoder. The README next
// to go.mod describes it.
package main

import (
	"fmt"
	"os"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"

	"example.test/interop/common/cli"
	"example.test/interop/peer/transport"
)

// patience is the time that the other end may take to read or write. The five
// seconds of frisbee-go are too short for megabytes on a busy machine.
const patience = 2 * time.Minute

func main() {
	frisbee.DefaultDeadline = patience
	config, err := cli.TLS()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(cli.Peer{Name: "peer", Transport: transport.Frisbee{TLS: config}}.Main())
}
