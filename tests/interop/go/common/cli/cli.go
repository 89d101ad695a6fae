// Package cli is the command line of the peers: serve, call, cases, encode.
//
// It is responsible for arguments, output and exit codes: 0 for success, 1 if
// something failed, and 2 if the command line is invalid.
package cli

import (
	"flag"
	"fmt"
	"io"
	"os"

	"example.test/interop/common/rpc"
)

// Peer is a program, with its name and its version of frisbee.
type Peer struct {
	Name      string
	Transport rpc.Transport
	// Small selects the small suite by default.
	Small bool
}

const usage = `usage:
  %[1]s serve ADDR [-concurrent N]
  %[1]s call ADDR [-only REGEXP] [-small] [-timeout DURATION]
  %[1]s cases [-only REGEXP] [-small]
  %[1]s encode
`

// Main runs the program with the arguments and the streams of the process.
func (p Peer) Main() int {
	return p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs the program and returns its exit code.
func (p Peer) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "serve":
		return p.serve(args, stdin, stdout, stderr)
	case "call":
		return p.call(args, stdout, stderr)
	case "cases":
		return p.cases(args, stdout, stderr)
	case "encode":
		return encode(stdin, stdout, stderr)
	default:
		fmt.Fprintf(stderr, usage, p.Name)
		return 2
	}
}

func (p Peer) flags(command string, stderr io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet(p.Name+" "+command, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprintf(stderr, usage, p.Name)
		set.PrintDefaults()
	}
	return set
}

// parse accepts positional arguments before, between and after flags.
func parse(set *flag.FlagSet, args []string, positional int) ([]string, bool) {
	var found []string
	for {
		if set.Parse(args) != nil {
			return nil, false
		}
		if set.NArg() == 0 {
			break
		}
		found = append(found, set.Arg(0))
		args = set.Args()[1:]
	}
	if len(found) != positional {
		set.Usage()
		return nil, false
	}
	return found, true
}
