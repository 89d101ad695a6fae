package suite

// This file contains the checks that cases use.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

// echo calls a method that returns its request, and compares the two.
func echo[M messages.Message](call func(*service.Client, context.Context, M) (M, error), sent ...M) body {
	return func(ctx context.Context, c *service.Client) error {
		for i, m := range sent {
			got, err := call(c, ctx, m)
			if err != nil {
				return fmt.Errorf("message %d: %w", i+1, err)
			}
			if err := same(got, m); err != nil {
				return fmt.Errorf("message %d: %w", i+1, err)
			}
		}
		return nil
	}
}

// same compares encodings, because they distinguish NaNs and zeros. Maps are
// sorted.
func same(got, want messages.Message) error {
	g, w := messages.Marshal(got), messages.Marshal(want)
	if bytes.Equal(g, w) {
		return nil
	}
	return fmt.Errorf("got %.100x (%d bytes), want %.100x (%d bytes)", g, len(g), w, len(w))
}

func equal[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %v, want %v", what, got, want)
}

// failsWith expects an error from the peer with the given text.
func failsWith(err error, text string) error {
	var remote *rpc.RemoteError
	if !errors.As(err, &remote) {
		return fmt.Errorf("got %v, want an error from the peer: %q", err, text)
	}
	return equal("the text of the error", fmt.Sprintf("%q", remote.Text), fmt.Sprintf("%q", text))
}

func adds(ctx context.Context, c *service.Client, a, b int64) error {
	sum, err := c.Add(ctx, a, b)
	if err != nil {
		return err
	}
	return same(sum, &messages.Sum{Total: a + b, Count: 2})
}

// ends expects the end of the server's direction.
func ends(ctx context.Context, s *rpc.ClientStream) error {
	var m messages.Empty
	err := s.Receive(ctx, &m)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("got %v, want the end of the stream", err)
}

// counts reads the numbers from, from+1, ... of a stream.
func counts(ctx context.Context, s *rpc.ClientStream, from, count int64) error {
	for i := range count {
		var m messages.Count
		if err := s.Receive(ctx, &m); err != nil {
			return fmt.Errorf("message %d of %d: %w", i+1, count, err)
		}
		if err := equal(fmt.Sprintf("message %d", i+1), m.Value, from+i); err != nil {
			return err
		}
	}
	return nil
}

// parallel calls f with the numbers from 0 to n-1 in this number of goroutines,
// and returns the first error. It waits for all calls, and f must observe its
// context.
func parallel(n, workers int, f func(i int) error) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		next  int
		first error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if first != nil || next == n {
			return 0, false
		}
		next++
		return next - 1, true
	}
	fail := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = fmt.Errorf("number %d: %w", i, err)
		}
	}
	for range min(workers, n) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i, ok := take(); ok; i, ok = take() {
				if err := f(i); err != nil {
					fail(i, err)
				}
			}
		}()
	}
	group.Wait()
	return first
}

// together runs the functions concurrently and returns the first error.
func together(fs ...func() error) error {
	return parallel(len(fs), len(fs), func(i int) error { return fs[i]() })
}
