package main

// This file implements the echo call on Go's frisbee runtime, like its
// generated code: with a mutex, a map of the calls in flight, and a channel for
// each call.

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	frisbee "github.com/loopholelabs/frisbee-go"
	"github.com/loopholelabs/frisbee-go/pkg/packet"
	polyglot "github.com/loopholelabs/polyglot/v2"
)

// operation is the operation number of the only method.
const operation = 10

// serveFrisbee serves with at most this many concurrent handlers per
// connection: 1 calls them inline, and 0 starts a goroutine for each.
func serveFrisbee(concurrency uint64) func(net.Listener, time.Duration) error {
	return func(listener net.Listener, sleep time.Duration) error {
		table := frisbee.HandlerTable{
			operation: func(_ context.Context, p *packet.Packet) (*packet.Packet, frisbee.Action) {
				text, err := decode(p)
				if err != nil {
					return nil, frisbee.CLOSE
				}
				pause(sleep)
				encode(p, text)
				return p, frisbee.NONE
			},
		}
		server, err := frisbee.NewServer(table, context.Background())
		if err != nil {
			return err
		}
		server.SetConcurrency(concurrency)
		return server.StartWithListener(listener)
	}
}

func encode(p *packet.Packet, text string) {
	p.Content.Reset()
	polyglot.Encoder(p.Content).String(text)
	p.Metadata.ContentLength = uint32(p.Content.Len())
}

func decode(p *packet.Packet) (string, error) {
	return polyglot.Decoder(p.Content.Bytes()).String()
}

type frisbeeClient struct {
	client *frisbee.Client

	mu      sync.Mutex
	lastID  uint16
	waiting map[uint16]chan string
}

func connectFrisbee(address string, _ int) (client, error) {
	c := &frisbeeClient{waiting: make(map[uint16]chan string)}
	table := frisbee.HandlerTable{operation: c.onReply}
	made, err := frisbee.NewClient(table, context.Background())
	if err != nil {
		return nil, err
	}
	c.client = made
	return c, made.Connect(address)
}

func (c *frisbeeClient) onReply(_ context.Context, p *packet.Packet) (*packet.Packet, frisbee.Action) {
	text, err := decode(p)
	if err != nil {
		return nil, frisbee.CLOSE
	}
	c.mu.Lock()
	reply := c.waiting[p.Metadata.Id]
	delete(c.waiting, p.Metadata.Id)
	c.mu.Unlock()
	if reply != nil {
		reply <- text
	}
	return nil, frisbee.NONE
}

func (c *frisbeeClient) echo(text string) (string, error) {
	reply := make(chan string, 1)
	p := packet.Get()
	encode(p, text)
	p.Metadata.Operation = operation
	c.mu.Lock()
	c.lastID++
	for c.waiting[c.lastID] != nil {
		c.lastID++
	}
	p.Metadata.Id = c.lastID
	c.waiting[c.lastID] = reply
	c.mu.Unlock()
	err := c.client.WritePacket(p)
	packet.Put(p)
	if err != nil {
		return "", err
	}
	select {
	case text := <-reply:
		return text, nil
	case <-c.client.CloseChannel():
		return "", errors.New("the connection was lost")
	}
}

// close does not wait, because Close of the original may deadlock: it holds a
// lock for which the read loop waits.
func (c *frisbeeClient) close() {
	go func() { _ = c.client.Close() }()
}
