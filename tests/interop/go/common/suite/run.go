package suite

// This file runs cases and prints a line for each.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.test/interop/common/rpc"
)

// defaultLimit is the time limit of a case. It allows for a slow peer on a busy
// machine.
const defaultLimit = 15 * time.Second

var errSuiteOver = errors.New("the time for the suite is over")

type result struct {
	err  error
	took time.Duration
}

// Run runs the cases against the server at addr. It prints a line for each case
// and one for all of them, and returns the number of failures.
func Run(ctx context.Context, cases []Case, transport rpc.Transport, addr string, out io.Writer) (failed int) {
	started := make([]<-chan result, len(cases))
	for i, c := range cases {
		if c.background {
			started[i] = start(ctx, c, transport, addr)
		}
	}
	for i, c := range cases {
		if started[i] == nil {
			started[i] = start(ctx, c, transport, addr)
		}
		r := <-started[i]
		if r.err != nil {
			failed++
			fmt.Fprintf(out, "FAIL %s: %s\n", c.Name, oneLine(r.err))
			continue
		}
		fmt.Fprintf(out, "ok %s (%dms)\n", c.Name, r.took.Milliseconds())
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", len(cases)-failed, failed)
	return failed
}

// start runs a case. It returns a result even if the case blocks.
func start(ctx context.Context, c Case, transport rpc.Transport, addr string) <-chan result {
	limit := c.limit
	if limit == 0 {
		limit = defaultLimit
	}
	begin := time.Now()
	caseCtx, cancel := context.WithTimeout(ctx, limit)
	finished := make(chan error, 1)
	go func() { finished <- runOnce(caseCtx, c, transport, addr) }()

	results := make(chan result, 1)
	go func() {
		defer cancel()
		// The case observes its time limit as well, and can report what it was
		// waiting for. It therefore gets a moment to return.
		select {
		case err := <-finished:
			results <- result{err, time.Since(begin)}
		case <-after(caseCtx, 500*time.Millisecond):
			err := fmt.Errorf("hangs, %s after its start", time.Since(begin).Round(time.Millisecond))
			if ctx.Err() != nil {
				err = errSuiteOver
			}
			results <- result{err, time.Since(begin)}
		}
	}()
	return results
}

func after(ctx context.Context, grace time.Duration) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(over) }) })
	return over
}

func runOnce(ctx context.Context, c Case, transport rpc.Transport, addr string) (err error) {
	if ctx.Err() != nil {
		return errSuiteOver
	}
	s := &connections{transport: transport, addr: addr}
	defer s.close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if err := c.run(ctx, s.dial); err != nil {
		return err
	}
	if n := s.strays(); n > 0 {
		return fmt.Errorf("%d replies that no call was waiting for", n)
	}
	return nil
}

// oneLine shortens an error, so that the report has one readable line per case.
func oneLine(err error) string {
	const most = 600
	text := strings.ReplaceAll(err.Error(), "\n", " | ")
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
