package suite

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"example.test/interop/common/rpc"
)

func TestNamesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range All() {
		if seen[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		seen[c.Name] = true
	}
}

// silentTransport does not connect and receives nothing.
type silentTransport struct{}

type silentConn struct{ never chan struct{} }

func (silentTransport) Dial(string, []uint16, func(uint16, uint16, []byte)) (rpc.Conn, error) {
	return silentConn{make(chan struct{})}, nil
}

func (silentTransport) Serve(net.Listener, uint64, []uint16, rpc.Handler) error {
	return errors.New("not a server")
}

func (c silentConn) Send(uint16, uint16, []byte) error { return nil }
func (c silentConn) OpenStream(uint16) rpc.Stream      { return silentStream(c) }
func (c silentConn) Done() <-chan struct{}             { return c.never }
func (c silentConn) Close() error                      { return nil }

type silentStream silentConn

func (s silentStream) Send([]byte) error { return nil }
func (s silentStream) Close() error      { return nil }

func (s silentStream) Receive() ([]byte, error) {
	<-s.never
	return nil, errors.New("closed")
}

func TestEveryCaseFailsInTimeAgainstASilentPeer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	begin := time.Now()
	var out bytes.Buffer
	if failed := Run(ctx, All(), silentTransport{}, "", &out); failed != len(All()) {
		t.Errorf("%d of %d failed:\n%s", failed, len(All()), out.String())
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	if lines := strings.Count(out.String(), "\n"); lines != len(All())+1 {
		t.Errorf("%d lines for %d cases", lines, len(All()))
	}
}

func TestACaseThatHangsOrPanicsIsReported(t *testing.T) {
	cases := []Case{
		{Name: "hangs", run: func(context.Context, dialer) error { select {} }},
		{Name: "panics", run: func(context.Context, dialer) error { panic("oh\nno") }},
		{Name: "works", run: func(context.Context, dialer) error { return nil }},
	}
	cases[0] = cases[0].within(10 * time.Millisecond)
	var out bytes.Buffer
	if failed := Run(context.Background(), cases, silentTransport{}, "", &out); failed != 2 {
		t.Errorf("%d failed", failed)
	}
	got := strings.Split(out.String(), "\n")
	for i, want := range []string{"FAIL hangs: hangs, ", "FAIL panics: panic: oh | no", "ok works (0ms)", "1 passed, 2 failed", ""} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("line %d is %q", i+1, got[i])
		}
	}
}
