package rpc

// This file contains the client's side of unary calls.

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
	// lastStream counts the streams of the connection. fRPC counts per service, so
	// the streams of two services can have the same id.
	lastStream uint16
}

// method has the ids of one method. They start at 1 and wrap around.
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

// Close closes the connection without waiting. In frisbee-go, Close can wait
// forever for a read loop that waits for a lock which Close holds.
func (c *Client) Close() {
	go func() { _ = c.conn.Close() }()
}

// Strays returns the number of replies for which no call was waiting.
func (c *Client) Strays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.strays
}

// Call makes a call. A nil request is sent as a nil, which takes one byte.
func (c *Client) Call(ctx context.Context, operation uint16, request, reply messages.Message) error {
	content, err := c.CallRaw(ctx, operation, messages.Marshal(request))
	if err != nil {
		return err
	}
	return decodeInto(content, reply)
}

// CallRaw makes a call with the given bytes and returns the bytes of the reply.
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

// CallWithID makes a call with the given bytes and an id that the caller
// selects.
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

// SendOnly sends a packet of any operation without waiting for a reply.
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

// decodeInto decodes a message, or returns the error in its place.
func decodeInto(content []byte, m messages.Message) error {
	if err := messages.Unmarshal(content, m); err != nil {
		return fmt.Errorf("cannot be decoded: %w (%d bytes, %.64x)", err, len(content), content)
	}
	if err := m.Head().Err; err != nil {
		return &RemoteError{Text: err.Error()}
	}
	return nil
}
