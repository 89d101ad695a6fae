// Command peer-old is the same as peer, but with frisbee-go v0.10.2 and its
// header of 8 bytes. By default, it runs the small suite; -small=false runs all
// cases.
package main

import (
	"os"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"

	"example.test/interop/common/cli"
	"example.test/interop/peer-old/transport"
)

// patience is the time that the other end may take to read or write. The five
// seconds of frisbee-go are too short for megabytes on a busy machine.
const patience = 2 * time.Minute

func main() {
	frisbee.DefaultDeadline = patience
	os.Exit(cli.Peer{Name: "peer-old", Transport: transport.Frisbee{}, Small: true}.Main())
}
