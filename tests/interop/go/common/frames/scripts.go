// Package frames checks a transport against frames that were captured between
// programs with the generated code of fRPC.
//
// It contains the captured frames and the two ends that replay them: a server
// that expects the frames of the client, and a client that expects the frames
// of the server.
package frames

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

// frame is a captured frame in hexadecimal digits, with the header of 10 bytes.
type frame struct {
	fromClient bool
	hex        string
}

func client(hex string) frame { return frame{true, hex} }
func server(hex string) frame { return frame{false, hex} }

const (
	clientOpensCountUp = "000f00010002000000020915"
	clientOpensSumUp   = "000f00010002000000020916"
	clientOpensChat    = "000f00010002000000020917"
	endOfStream        = "000f000100020000000706050a03454f46"
)

// script contains the frames of one connection, and the calls that produce
// them.
type script struct {
	name   string
	frames []frame
	drive  func(ctx context.Context, c *service.Client) error
}

var scripts = []script{
	{"unary call", []frame{
		client("000f000100120000000608000d020d04"),
		server("000f000100120000000608000d060d04"),
		client("000f000200120000000608000d040d04"),
		server("000f000200120000000608000d080d04"),
	}, func(ctx context.Context, c *service.Client) error {
		_, first := c.Add(ctx, 1, 2)
		_, second := c.Add(ctx, 2, 2)
		return errors.Join(first, second)
	}},
	{"unary call of another method", []frame{
		client("000f000100120000000608000d000d00"),
		server("000f000100120000000608000d000d04"),
		client("000f0001000f000000020800"),
		server("000f0001000f000000020800"),
	}, func(ctx context.Context, c *service.Client) error {
		_, err := c.Add(ctx, 0, 0)
		return errors.Join(err, c.DoNothing(ctx))
	}},
	{"unary call with a nil request", []frame{
		client("000f0001000f0000000100"),
		server("000f0001000f000000020800"),
	}, func(ctx context.Context, c *service.Client) error {
		return c.Call(ctx, service.DoNothing, nil, &messages.Empty{})
	}},
	{"unary error", []frame{
		client("000f00010010000000120800050a0d6e6f2073756368207468696e67"),
		server("000f000100100000001106050a0d6e6f2073756368207468696e67"),
	}, func(ctx context.Context, c *service.Client) error {
		return wantsError(c.Fail(ctx, "no such thing"), "no such thing")
	}},
	{"server stream", []frame{
		client(clientOpensCountUp),
		client("000f000100020000000608000d0e0d04"),
		server("000f000100020000000408000d0e"),
		server("000f000100020000000408000d10"),
		server(endOfStream),
	}, func(ctx context.Context, c *service.Client) error {
		s, err := c.CountUp(7, 2)
		return errors.Join(err, reads(ctx, s, 2, io.EOF))
	}},
	{"server stream that fails", []frame{
		client(clientOpensCountUp),
		client("000f000100020000000608000d0a0d01"),
		server("000f000100020000000408000d0a"),
		server("000f000100020000000408000d0c"),
		server("000f000100020000001206050a0e6e6567617469766520636f756e74"),
		server(endOfStream),
	}, func(ctx context.Context, c *service.Client) error {
		s, err := c.CountUp(5, -1)
		return errors.Join(err, reads(ctx, s, 2, &rpc.RemoteError{Text: "negative count"}), reads(ctx, s, 0, io.EOF))
	}},
	{"client stream", []frame{
		client(clientOpensSumUp),
		client("000f000100020000000408000d0a"),
		client("000f000100020000000408000d0e"),
		client(endOfStream),
		server("000f000100020000000608000d180d04"),
		server(endOfStream),
		server(endOfStream),
	}, func(ctx context.Context, c *service.Client) error {
		s, err := c.SumUp()
		if err != nil {
			return err
		}
		return errors.Join(s.Send(&messages.Count{Value: 5}), s.Send(&messages.Count{Value: 7}), s.SendEnd(),
			reads(ctx, s, 1, io.EOF), reads(ctx, s, 0, io.EOF))
	}},
	{"both ways", []frame{
		client(clientOpensChat),
		client("000f00010002000000060800050a0161"),
		server("000f00010002000000090800050a0472653a61"),
		client("000f00010002000000060800050a0162"),
		server("000f00010002000000090800050a0472653a62"),
		client(endOfStream),
		server(endOfStream),
	}, func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		return errors.Join(says(ctx, s, "a"), says(ctx, s, "b"), s.SendEnd(), reads(ctx, s, 0, io.EOF))
	}},
	{"stream closed by the client", []frame{
		client(clientOpensChat),
		client("000f00010002000000060800050a0161"),
		server("000f00010002000000090800050a0472653a61"),
		client("000f0001000200000000"),
	}, func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		return errors.Join(says(ctx, s, "a"), s.Close())
	}},
}

func wantsError(err error, text string) error {
	var remote *rpc.RemoteError
	if errors.As(err, &remote) && remote.Text == text {
		return nil
	}
	return fmt.Errorf("got %v, want the error %q", err, text)
}

// reads receives this number of messages, and then the error.
func reads(ctx context.Context, s *rpc.ClientStream, count int, last error) error {
	for range count {
		if err := s.Receive(ctx, &messages.Count{}); err != nil {
			return err
		}
	}
	err := s.Receive(ctx, &messages.Count{})
	if err == nil || err.Error() != last.Error() {
		return fmt.Errorf("got %v, want %v", err, last)
	}
	return nil
}

func says(ctx context.Context, s *rpc.ClientStream, text string) error {
	var answer messages.Text
	err := errors.Join(s.Send(&messages.Text{Value: text}), s.Receive(ctx, &answer))
	if err == nil && answer.Value != "re:"+text {
		err = fmt.Errorf("got %q", answer.Value)
	}
	return err
}
