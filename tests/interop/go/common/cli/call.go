package cli

// This file contains the client commands: call runs the test cases, and cases
// lists them.

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"

	"example.test/interop/common/suite"
)

func (p Peer) call(args []string, stdout, stderr io.Writer) int {
	set := p.flags("call", stderr)
	choose := p.choice(set)
	timeout := set.Duration("timeout", 120*time.Second, "for the whole suite")
	rest, ok := parse(set, args, 1)
	if !ok {
		return 2
	}
	cases, err := choose()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	if suite.Run(ctx, cases, p.Transport, rest[0], stdout) > 0 {
		return 1
	}
	return 0
}

func (p Peer) cases(args []string, stdout, stderr io.Writer) int {
	set := p.flags("cases", stderr)
	choose := p.choice(set)
	if _, ok := parse(set, args, 0); !ok {
		return 2
	}
	cases, err := choose()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	for i, c := range cases {
		fmt.Fprintf(stdout, "%d %s\n", i+1, c.Name)
	}
	return 0
}

// choice adds the flags that select cases. It returns a function that returns
// the selected cases.
func (p Peer) choice(set *flag.FlagSet) func() ([]suite.Case, error) {
	only := set.String("only", "", "regular expression for the names of the cases to run")
	small := set.Bool("small", p.Small, "only the cases that mean something for v0.10.2")
	return func() ([]suite.Case, error) {
		pattern, err := regexp.Compile(*only)
		if err != nil {
			return nil, err
		}
		var chosen []suite.Case
		for _, c := range suite.All() {
			if pattern.MatchString(c.Name) && (c.Small || !*small) {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) == 0 {
			return nil, fmt.Errorf("no case is called %q", *only)
		}
		return chosen, nil
	}
}
