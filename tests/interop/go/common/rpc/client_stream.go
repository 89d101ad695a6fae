package rpc

// This file contains the client's side of streams.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"example.test/interop/common/messages"
)

// ClientStream is the client's end of a stream. One goroutine may send while
// another receives.
type ClientStream struct {
	raw    Stream
	in     chan received
	closed chan struct{}
	once   sync.Once
}

type received struct {
	content []byte
	err     error
}

// Open opens a stream of a method, with the next id of the connection.
func (c *Client) Open(operation uint16) (*ClientStream, error) {
	return c.OpenRaw(c.NextStreamID(), messages.MarshalOpen(operation))
}

// NextStreamID returns the next id of the connection, starting with 1.
func (c *Client) NextStreamID() uint16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastStream++
	return c.lastStream
}

// OpenRaw opens a stream with an id and a first packet that the caller selects.
func (c *Client) OpenRaw(id uint16, content []byte) (*ClientStream, error) {
	raw := c.conn.OpenStream(id)
	if err := raw.Send(content); err != nil {
		return nil, err
	}
	s := &ClientStream{raw: raw, in: make(chan received, 64), closed: make(chan struct{})}
	go s.pump()
	return s, nil
}

// pump moves packets to a channel, where they can be awaited with a timeout. It
// returns when the stream or the connection ends.
func (s *ClientStream) pump() {
	for {
		content, err := s.raw.Receive()
		select {
		case s.in <- received{content, err}:
		case <-s.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Send sends one message.
func (s *ClientStream) Send(m messages.Message) error {
	return s.raw.Send(messages.Marshal(m))
}

// SendEnd ends the client's direction.
func (s *ClientStream) SendEnd() error {
	return s.raw.Send(messages.MarshalError(endText))
}

// Receive receives a message. It returns io.EOF at the end of the server's
// direction, and a RemoteError for any other error message. The end follows
// such an error.
func (s *ClientStream) Receive(ctx context.Context, m messages.Message) error {
	select {
	case packet := <-s.in:
		if packet.err != nil {
			return fmt.Errorf("the stream is closed: %w", packet.err)
		}
		return endOr(decodeInto(packet.content, m))
	case <-ctx.Done():
		return fmt.Errorf("nothing on the stream: %w", ctx.Err())
	}
}

// Close ends both directions at once, which generated code never does.
func (s *ClientStream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.raw.Close()
}

// endOr turns the error message that marks the end into io.EOF.
func endOr(err error) error {
	var remote *RemoteError
	if errors.As(err, &remote) && remote.Text == endText {
		return io.EOF
	}
	return err
}
