// Command nats serves like nats-server with its defaults, on a free port of the
// loopback, until its standard input ends. It reports its address like the
// other contestants.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	broker, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go broker.Start()
	if !broker.ReadyForConnections(10 * time.Second) {
		fmt.Fprintln(os.Stderr, "the server is not ready in time")
		os.Exit(1)
	}
	fmt.Println("listening", broker.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}
