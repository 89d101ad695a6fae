// Command raw makes or accepts one connection, takes over its transport with
// Raw(), and uses it for bytes: `raw serve ADDR` echoes them, and `raw call
// ADDR` sends bytes and compares the echo.
//
// frisbee-go loses the bytes that it has read ahead when Raw() is called, and
// it may send PINGs until then. Each end therefore sends raw bytes only when it
// knows that the other end is raw: the server sends a greeting, and the client
// waits for it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"
	"github.com/loopholelabs/frisbee-go/pkg/packet"
)

// turn is the operation that requests the connection. The reply grants it.
const turn = 10

const greeting = "raw from here on\n"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: raw serve|call ADDR")
		os.Exit(2)
	}
	run := map[string]func(string) error{"serve": serve, "call": call}[os.Args[1]]
	if run == nil {
		os.Exit(2)
	}
	if err := run(os.Args[2]); err != nil {
		fmt.Println("FAIL raw:", err)
		os.Exit(1)
	}
}

// serve serves until standard input is closed.
func serve(addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go echo(conn)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

func echo(socket net.Conn) {
	conn := frisbee.NewAsync(socket, nil)
	for {
		p, err := conn.ReadPacket()
		if err != nil {
			return
		}
		// A peer may start with packets of reserved operations.
		if p.Metadata.Operation == turn {
			if err := conn.WritePacket(p); err != nil {
				return
			}
			break
		}
		packet.Put(p)
	}
	raw := conn.Raw() // Writes what waits, the reply.
	defer raw.Close()
	_, _ = raw.Write([]byte(greeting))
	_, _ = io.Copy(raw, raw)
}

func call(addr string) error {
	granted := make(chan struct{})
	table := frisbee.HandlerTable{
		turn: func(context.Context, *packet.Packet) (*packet.Packet, frisbee.Action) {
			close(granted)
			return nil, frisbee.NONE
		},
	}
	client, err := frisbee.NewClient(table, context.Background())
	if err != nil {
		return err
	}
	if err := client.Connect(addr); err != nil {
		return err
	}
	p := packet.Get()
	p.Metadata.Operation = turn
	p.Metadata.Id = 7
	if err := client.WritePacket(p); err != nil {
		return err
	}
	select {
	case <-granted:
	case <-time.After(10 * time.Second):
		return fmt.Errorf("the connection was not granted")
	}
	raw, err := client.Raw()
	if err != nil {
		return err
	}
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := raw.Write([]byte(greeting)); err != nil {
		return err
	}
	answer := make([]byte, len(greeting))
	if _, err := io.ReadFull(raw, answer); err != nil || string(answer) != greeting {
		return fmt.Errorf("greeted by %q: %w", answer, err)
	}
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() { _, _ = raw.Write(sent) }()
	back := make([]byte, len(sent))
	if _, err := io.ReadFull(raw, back); err != nil {
		return err
	}
	if !bytes.Equal(sent, back) {
		return fmt.Errorf("what came back is something else")
	}
	fmt.Println("ok raw")
	return nil
}
