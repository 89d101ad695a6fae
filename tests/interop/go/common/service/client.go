package service

// This file contains the typed client, which has a method for each method of
// the service and for the three kinds of streams.

import (
	"context"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
)

// Client calls the service on one connection.
type Client struct{ *rpc.Client }

// Dial connects to a server.
func Dial(transport rpc.Transport, addr string) (*Client, error) {
	c, err := rpc.Dial(transport, addr, UnaryOperations)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

func call[R any, P messages.Pointer[R]](ctx context.Context, c *Client, operation uint16, request messages.Message) (P, error) {
	reply := P(new(R))
	if err := c.Call(ctx, operation, request, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

// EchoScalars returns its argument.
func (c *Client) EchoScalars(ctx context.Context, m *messages.Scalars) (*messages.Scalars, error) {
	return call[messages.Scalars](ctx, c, EchoScalars, m)
}

// EchoNested returns its argument.
func (c *Client) EchoNested(ctx context.Context, m *messages.Nested) (*messages.Nested, error) {
	return call[messages.Nested](ctx, c, EchoNested, m)
}

// EchoLists returns its argument.
func (c *Client) EchoLists(ctx context.Context, m *messages.Lists) (*messages.Lists, error) {
	return call[messages.Lists](ctx, c, EchoLists, m)
}

// EchoMaps returns its argument.
func (c *Client) EchoMaps(ctx context.Context, m *messages.Maps) (*messages.Maps, error) {
	return call[messages.Maps](ctx, c, EchoMaps, m)
}

// EchoMixed returns its argument.
func (c *Client) EchoMixed(ctx context.Context, m *messages.Mixed) (*messages.Mixed, error) {
	return call[messages.Mixed](ctx, c, EchoMixed, m)
}

// DoNothing returns an empty message.
func (c *Client) DoNothing(ctx context.Context) error {
	_, err := call[messages.Empty](ctx, c, DoNothing, &messages.Empty{})
	return err
}

// Fail returns an error of the given text, always.
func (c *Client) Fail(ctx context.Context, text string) error {
	_, err := call[messages.Text](ctx, c, Fail, &messages.Text{Value: text})
	return err
}

// EchoPayload returns its argument.
func (c *Client) EchoPayload(ctx context.Context, m *messages.Payload) (*messages.Payload, error) {
	return call[messages.Payload](ctx, c, EchoPayload, m)
}

// Add adds.
func (c *Client) Add(ctx context.Context, a, b int64) (*messages.Sum, error) {
	return call[messages.Sum](ctx, c, Add, &messages.AddRequest{A: a, B: b})
}

// Sleep returns its argument after a while.
func (c *Client) Sleep(ctx context.Context, millis, tag uint32) (*messages.SleepRequest, error) {
	return call[messages.SleepRequest](ctx, c, Sleep, &messages.SleepRequest{Millis: millis, Tag: tag})
}

// Describe returns a text with the values that the server received.
func (c *Client) Describe(ctx context.Context, m *messages.Scalars) (string, error) {
	reply, err := call[messages.Text](ctx, c, Describe, m)
	if err != nil {
		return "", err
	}
	return reply.Value, nil
}

// CountUp opens a stream of count numbers.
func (c *Client) CountUp(from, count int64) (*rpc.ClientStream, error) {
	s, err := c.Open(CountUp)
	if err != nil {
		return nil, err
	}
	return s, s.Send(&messages.Range{From: from, Count: count})
}

// SumUp opens a stream to send numbers to.
func (c *Client) SumUp() (*rpc.ClientStream, error) { return c.Open(SumUp) }

// Chat opens a stream on which the server replies to each text.
func (c *Client) Chat() (*rpc.ClientStream, error) { return c.Open(Chat) }
