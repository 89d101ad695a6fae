package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"example.test/interop/common/cli"
	"example.test/interop/peer/transport"
)

func TestServerEndsWithItsStdin(t *testing.T) {
	peer := cli.Peer{Name: "peer", Transport: transport.Frisbee{}}
	stdin, parent := io.Pipe()
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- peer.Run([]string{"serve", "127.0.0.1:0", "-concurrent", "4"}, stdin, stdout, io.Discard)
	}()

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("the first line is %q", line)
	}
	var report bytes.Buffer
	if got := peer.Run([]string{"call", addr, "-only", "^(unary|chat)/"}, nil, &report, io.Discard); got != 0 {
		t.Errorf("call: exit code %d\n%s", got, report.String())
	}
	if got := peer.Run([]string{"call", "127.0.0.1:1", "-only", "^unary/add$"}, nil, &report, io.Discard); got != 1 {
		t.Errorf("call to nobody: exit code %d\n%s", got, report.String())
	}

	parent.Close()
	select {
	case got := <-code:
		if got != 0 {
			t.Errorf("serve: exit code %d", got)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the server outlives its parent")
	}
}
