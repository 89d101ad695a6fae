package cli

// This file contains the server command.

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"example.test/interop/common/service"
)

// serve serves until SIGTERM or SIGINT, or until standard input is closed. A
// server can therefore not outlive the test that started it.
func (p Peer) serve(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	set := p.flags("serve", stderr)
	concurrency := set.Uint64("concurrent", 0, "calls of one connection that run at once; 0: any number")
	rest, ok := parse(set, args, 1)
	if !ok {
		return 2
	}
	listener, err := net.Listen("tcp", rest[0])
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer listener.Close()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(stop)
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		close(ended)
	}()
	failed := make(chan error, 1)
	go func() {
		failed <- p.Transport.Serve(listener, *concurrency, service.UnaryOperations, service.NewServer())
	}()

	fmt.Fprintf(stdout, "listening on %s\n", listener.Addr())
	select {
	case <-ended:
		return 0
	case <-stop:
		return 0
	case err := <-failed:
		fmt.Fprintln(stderr, "serve:", err)
		return 1
	}
}
