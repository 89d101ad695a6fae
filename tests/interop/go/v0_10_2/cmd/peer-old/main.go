// Command peer-old is peer on frisbee-go v0.10.2, with the header of 8 bytes.
// Its suite is the small one unless -small=false is given.
package main

import (
	"os"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"

	"example.test/interop/common/cli"
	"example.test/interop/peer-old/transport"
)

// patience is how long the other end may take to read what is written, and to
// write what is read: frisbee-go's five seconds are too short for megabytes on a
// machine that does something else as well.
const patience = 2 * time.Minute

func main() {
	frisbee.DefaultDeadline = patience
	os.Exit(cli.Peer{Name: "peer-old", Transport: transport.Frisbee{}, Small: true}.Main())
}
