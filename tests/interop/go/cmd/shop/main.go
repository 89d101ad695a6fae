// Command shop calls servers of the example evolve with version 1 of its schema,
// in rounds, until stdin ends: `shop ADDR...`. It prints a line after each round,
// and fails if a reply is not the expected one. A connection that a server has
// closed is replaced, and its call repeated.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/loopholelabs/polyglot/v2"

	"example.test/interop/common/rpc"
	"example.test/interop/peer/transport"
)

const (
	buy   = 10 // The operation of Shop.Buy.
	large = 1  // The index of LARGE.
	// attempts is more than the servers that an address has in its life.
	attempts = 10
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addresses []string) error {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	clients := make([]*rpc.Client, len(addresses))
	for round := 0; ; round++ {
		for at, addr := range addresses {
			if err := call(&clients[at], addr, fmt.Sprintf("go %d", round)); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		fmt.Println("round", round)
		select {
		case <-ended:
			return nil
		default:
		}
	}
}

func call(client **rpc.Client, addr, id string) error {
	order := items(polyglot.Encoder(polyglot.NewBuffer()).Uint8(0).String(id).Uint32(large).String("a note"))
	receipt := items(polyglot.Encoder(polyglot.NewBuffer()).Uint8(0).String(id).Uint32(7).Uint32(large))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for range attempts {
		var err error
		if *client == nil {
			if *client, err = rpc.Dial(transport.Frisbee{}, addr, []uint16{buy}); err != nil {
				return err
			}
		}
		reply, err := (*client).CallRaw(ctx, buy, order)
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			(*client).Close()
			*client = nil
		case !bytes.Equal(reply, receipt):
			return fmt.Errorf("%x is not %x", reply, receipt)
		default:
			return nil
		}
	}
	return fmt.Errorf("%s closed %d connections", addr, attempts)
}

// items appends the list of items, with which both messages end.
func items(e *polyglot.BufferEncoder) []byte {
	e.Slice(2, polyglot.AnyKind)
	e.Uint8(0).String("pen").Int32(3)
	e.Uint8(0).String("ink").Int32(4)
	return (*polyglot.Buffer)(e).Bytes()
}
