// Command compare-go contains the Go contestants of the comparison in the
// parent folder. It serves and loads like the Rust program, with the same
// arguments and the same lines on standard output.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// contestant is an implementation of the echo call.
type contestant struct {
	serve   func(listener net.Listener, sleep time.Duration) error
	connect func(address string, inFlight int) (client, error)
}

// client is a connection with any number of concurrent calls.
type client interface {
	// echo sends a text and returns the reply.
	echo(text string) (string, error)
	close()
}

var contestants = map[string]contestant{
	"go-frpc":       {serveFrisbee(1), connectFrisbee},
	"go-frpc-spawn": {serveFrisbee(0), connectFrisbee},
	"grpc-go":       {serveGRPC, connectGRPC},
	"twirp":         {serveTwirp, connectTwirp},
}

// gcPercent trades memory for CPU time, like fast servers do.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: compare-go serve|load CONTESTANT ...")
	}
	role, name := arguments[0], arguments[1]
	chosen, ok := contestants[name]
	if !ok {
		return fmt.Errorf("there is no contestant %s", name)
	}
	go exitWithParent()
	flags := flag.NewFlagSet(role, flag.ExitOnError)
	switch role {
	case "serve":
		sleep := flags.Int("sleep-us", 0, "how long the handler waits")
		flags.BoolVar(&blocks, "blocks", false, "the handler blocks a thread while it waits")
		flags.Int("in-flight", 1, "not used here")
		flags.BoolVar(&defaults, "defaults", false, "grpc-go and the garbage collector have no settings")
		if err := flags.Parse(arguments[2:]); err != nil {
			return err
		}
		if defaults {
			debug.SetGCPercent(100)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Printf("listening %s\n", listener.Addr())
		return chosen.serve(listener, time.Duration(*sleep)*time.Microsecond)
	case "load":
		load := newLoad(flags)
		if err := flags.Parse(arguments[2:]); err != nil {
			return err
		}
		return load.run(chosen)
	default:
		return fmt.Errorf("there is no role %s", role)
	}
}

// exitWithParent ends the process when its standard input ends, which happens
// when the parent ends for any reason.
func exitWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// blocks makes handlers block a thread while they wait.
var blocks bool

// defaults leaves grpc-go's server at its default settings.
var defaults bool

// pause runs in every handler before it replies.
func pause(sleep time.Duration) {
	if blocks {
		rest := syscall.NsecToTimespec(sleep.Nanoseconds())
		for syscall.Nanosleep(&rest, &rest) == syscall.EINTR {
		}
	} else if sleep > 0 {
		time.Sleep(sleep)
	}
}
