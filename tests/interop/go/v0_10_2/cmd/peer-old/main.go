// Command peer-old is peer on frisbee-go v0.10.2, with the header of 8 bytes.
// Its suite is the small one unless -small=false is given.
package main

import (
	"os"

	"example.test/interop/common/cli"
	"example.test/interop/peer-old/transport"
)

func main() {
	os.Exit(cli.Peer{Name: "peer-old", Transport: transport.Frisbee{}, Small: true}.Main())
}
