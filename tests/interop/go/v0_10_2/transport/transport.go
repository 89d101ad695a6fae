// Package transport connects the common client and server to frisbee-go
// v0.10.2, whose header has 8 bytes and no magic number.
//
// The parent module contains the same code for frisbee-go v0.11.0. There are
// two copies, because a build can contain only one version of a package.
package transport

import (
	"context"
	"net"

	frisbee "github.com/loopholelabs/frisbee-go"
	"github.com/loopholelabs/frisbee-go/pkg/packet"

	"example.test/interop/common/rpc"
)

// Frisbee is the rpc.Transport.
type Frisbee struct{}

// Dial implements rpc.Transport.
func (Frisbee) Dial(addr string, operations []uint16, onReply func(operation, id uint16, content []byte)) (rpc.Conn, error) {
	table := make(frisbee.HandlerTable)
	for _, operation := range operations {
		table[operation] = func(_ context.Context, p *packet.Packet) (*packet.Packet, frisbee.Action) {
			onReply(p.Metadata.Operation, p.Metadata.Id, copyOf(p))
			return nil, frisbee.NONE
		}
	}
	client, err := frisbee.NewClient(table, context.Background())
	if err != nil {
		return nil, err
	}
	// Without a handler for new streams, frisbee-go drops the packets of all
	// streams, including those that this end has opened.
	if err := client.Connect(addr, func(*frisbee.Stream) {}); err != nil {
		return nil, err
	}
	return conn{client}, nil
}

// Serve implements rpc.Transport.
func (Frisbee) Serve(listener net.Listener, concurrency uint64, operations []uint16, handler rpc.Handler) error {
	table := make(frisbee.HandlerTable)
	for _, operation := range operations {
		table[operation] = func(_ context.Context, p *packet.Packet) (*packet.Packet, frisbee.Action) {
			reply, answered := handler.ServeCall(p.Metadata.Operation, p.Content.Bytes())
			if !answered {
				return nil, frisbee.NONE
			}
			fill(p, reply)
			return p, frisbee.NONE
		}
	}
	server, err := frisbee.NewServer(table, context.Background())
	if err != nil {
		return err
	}
	server.SetConcurrency(concurrency)
	err = server.SetStreamHandler(func(_ context.Context, s *frisbee.Stream) {
		handler.ServeStream(stream{s})
	})
	if err != nil {
		return err
	}
	return server.StartWithListener(listener)
}

type conn struct{ client *frisbee.Client }

func (c conn) Send(operation, id uint16, content []byte) error {
	p := packet.Get()
	defer packet.Put(p)
	p.Metadata.Operation = operation
	p.Metadata.Id = id
	fill(p, content)
	return c.client.WritePacket(p)
}

func (c conn) OpenStream(id uint16) rpc.Stream { return stream{c.client.Stream(id)} }
func (c conn) Done() <-chan struct{}           { return c.client.CloseChannel() }
func (c conn) Close() error                    { return c.client.Close() }

type stream struct{ *frisbee.Stream }

func (s stream) Send(content []byte) error {
	p := packet.Get()
	defer packet.Put(p)
	fill(p, content)
	return s.WritePacket(p)
}

func (s stream) Receive() ([]byte, error) {
	p, err := s.ReadPacket()
	if err != nil {
		return nil, err
	}
	defer packet.Put(p)
	return copyOf(p), nil
}

func fill(p *packet.Packet, content []byte) {
	p.Content.Reset()
	p.Content.Write(content)
	p.Metadata.ContentLength = uint32(len(content))
}

// copyOf copies the content of a packet, because the packet returns to the
// pool.
func copyOf(p *packet.Packet) []byte {
	return append([]byte(nil), p.Content.Bytes()...)
}
