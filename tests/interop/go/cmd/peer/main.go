// Command peer is a real Go program on frisbee-go v0.11.0 for the interop
// tests: a server, a client suite and an encoder. See the README beside go.mod.
package main

import (
	"fmt"
	"os"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"

	"example.test/interop/common/cli"
	"example.test/interop/peer/transport"
)

// patience is how long the other end may take to read what is written, and to
// write what is read: frisbee-go's five seconds are too short for megabytes on a
// machine that does something else as well.
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
