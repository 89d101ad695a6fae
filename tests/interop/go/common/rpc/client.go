package rpc

// This file has unary calls, the client's side.

import (
	"context"
	"fmt"
	"sync"

	"example.test/interop/common/messages"
)

// Client makes calls on one connection.
type Client struct {
	conn Conn

	mu      sync.Mutex
	methods map[uint16]*method
	strays  int
	// lastStream counts per connection. The original counts per service, so
	// that the streams of two services collide.
	lastStream uint16
}

// method has the ids of one method. They start with 1 and wrap.
type method struct {
	lastID  uint16
	waiting map[uint16]chan []byte
}

// Dial connects to a server of the given unary operations.
func Dial(transport Transport, addr string, operations []uint16) (*Client, error) {
	c := &Client{methods: make(map[uint16]*method)}
	for _, operation := range operations {
		c.methods[operation] = &method{waiting: make(map[uint16]chan []byte)}
	}
	conn, err := transport.Dial(addr, operations, c.onReply)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	return c, nil
}

// Close closes the connection without waiting for it: the original's Close can
// wait forever for a read loop that waits for a lock which Close holds.
func (c *Client) Close() {
	go func() { _ = c.conn.Close() }()
}

// Strays is the number of replies so far that no call was waiting for.
func (c *Client) Strays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.strays
}

// Call makes a call. A nil request goes out as the one byte of nil.
func (c *Client) Call(ctx context.Context, operation uint16, request, reply messages.Message) error {
	content, err := c.CallRaw(ctx, operation, messages.Marshal(request))
	if err != nil {
		return err
	}
	return decodeInto(content, reply)
}

// CallRaw makes a call of bytes and returns the bytes of the reply.
func (c *Client) CallRaw(ctx context.Context, operation uint16, content []byte) ([]byte, error) {
	c.mu.Lock()
	m := c.methods[operation]
	if m == nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("operation %d was not named when dialling", operation)
	}
	m.lastID++
	id := m.lastID
	c.mu.Unlock()
	return c.CallWithID(ctx, operation, id, content)
}

// CallWithID makes a call of bytes under an id of the caller's choice.
func (c *Client) CallWithID(ctx context.Context, operation, id uint16, content []byte) ([]byte, error) {
	reply, err := c.expect(operation, id)
	if err != nil {
		return nil, err
	}
	defer c.forget(operation, id)
	if err := c.conn.Send(operation, id, content); err != nil {
		return nil, err
	}
	select {
	case content := <-reply:
		return content, nil
	case <-c.conn.Done():
		return nil, ErrConnClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("no reply to id %d of operation %d: %w", id, operation, ctx.Err())
	}
}

// SendOnly sends a packet that no reply is expected for, of any operation.
func (c *Client) SendOnly(operation, id uint16, content []byte) error {
	return c.conn.Send(operation, id, content)
}

func (c *Client) expect(operation, id uint16) (<-chan []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.methods[operation].waiting
	if _, taken := waiting[id]; taken {
		return nil, fmt.Errorf("id %d of operation %d is still in use", id, operation)
	}
	reply := make(chan []byte, 1)
	waiting[id] = reply
	return reply, nil
}

func (c *Client) forget(operation, id uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.methods[operation].waiting, id)
}

func (c *Client) onReply(operation, id uint16, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.methods[operation].waiting
	reply, ok := waiting[id]
	if !ok {
		c.strays++
		return
	}
	// A second reply to the same id is a stray.
	delete(waiting, id)
	reply <- content
}

// decodeInto decodes a message, or gives the error in its place.
func decodeInto(content []byte, m messages.Message) error {
	if err := messages.Unmarshal(content, m); err != nil {
		return fmt.Errorf("cannot be decoded: %w (%d bytes, %.64x)", err, len(content), content)
	}
	if err := m.Head().Err; err != nil {
		return &RemoteError{Text: err.Error()}
	}
	return nil
}
