package suite

// This file contains cases with streams in one direction, streams that fail,
// and many streams.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

var streamCases = []Case{
	small("stream/count-up-0", countsUp(5, 0)),
	small("stream/count-up-1", countsUp(7, 1)),
	small("stream/count-up-10", countsUp(-5, 10)),
	full("stream/count-up-to-the-maximum", countsUp(math.MaxInt64-2, 3)),
	small("stream/count-up-1000", countsUp(1, 1000)),
	full("stream/count-up-10000", countsUp(1, 10_000)),
	full("stream/count-up-slow-reader", func(ctx context.Context, c *service.Client) error {
		// The queue of frisbee-go holds 3000 packets. More would block the whole
		// connection at the Go end.
		s, err := c.CountUp(0, 3000)
		if err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
		if err := adds(ctx, c, 1, 2); err != nil {
			return fmt.Errorf("a call beside it: %w", err)
		}
		return countsThenEnds(ctx, s, 0, 3000)
	}),
	small("stream/sum-up-nothing", sumsUp(0)),
	small("stream/sum-up-one", sumsUp(1)),
	small("stream/sum-up-100", sumsUp(100)),
	full("stream/sum-up-10000", sumsUp(10_000)),
	full("stream/sum-up-replies-only-after-the-end", repliesOnlyAfterTheEnd),
	full("stream/nothing-after-the-end", nothingAfterTheEnd),
	full("stream/ids-0-and-65535", func(ctx context.Context, c *service.Client) error {
		for _, id := range []uint16{0, 65535} {
			s, err := c.OpenRaw(id, messages.MarshalOpen(service.CountUp))
			if err != nil {
				return err
			}
			if err := s.Send(&messages.Range{From: 1, Count: 3}); err != nil {
				return err
			}
			if err := countsThenEnds(ctx, s, 1, 3); err != nil {
				return fmt.Errorf("id %d: %w", id, err)
			}
		}
		return nil
	}),
	full("stream/nil-request", func(ctx context.Context, c *service.Client) error {
		s, err := c.Open(service.CountUp)
		if err != nil {
			return err
		}
		if err := s.Send(nil); err != nil {
			return err
		}
		return ends(ctx, s)
	}),
}

func countsUp(from, count int64) body {
	return func(ctx context.Context, c *service.Client) error {
		s, err := c.CountUp(from, count)
		if err != nil {
			return err
		}
		return countsThenEnds(ctx, s, from, count)
	}
}

func countsThenEnds(ctx context.Context, s *rpc.ClientStream, from, count int64) error {
	if err := counts(ctx, s, from, count); err != nil {
		return err
	}
	return ends(ctx, s)
}

func sumsUp(n int64) body {
	return func(ctx context.Context, c *service.Client) error {
		s, err := c.SumUp()
		if err != nil {
			return err
		}
		var total int64
		for i := range n {
			value := i*7 - 3
			total += value
			if err := s.Send(&messages.Count{Value: value}); err != nil {
				return err
			}
		}
		if err := s.SendEnd(); err != nil {
			return err
		}
		return repliesThenEnds(ctx, s, &messages.Sum{Total: total, Count: n})
	}
}

func repliesThenEnds(ctx context.Context, s *rpc.ClientStream, want *messages.Sum) error {
	var sum messages.Sum
	if err := s.Receive(ctx, &sum); err != nil {
		return err
	}
	if err := same(&sum, want); err != nil {
		return err
	}
	return ends(ctx, s)
}

func repliesOnlyAfterTheEnd(ctx context.Context, c *service.Client) error {
	s, err := c.SumUp()
	if err != nil {
		return err
	}
	for _, v := range []int64{5, 7} {
		if err := s.Send(&messages.Count{Value: v}); err != nil {
			return err
		}
	}
	if err := silent(ctx, s, 200*time.Millisecond); err != nil {
		return err
	}
	if err := s.SendEnd(); err != nil {
		return err
	}
	return repliesThenEnds(ctx, s, &messages.Sum{Total: 12, Count: 2})
}

// silent expects no packet for this time, except another end or a close.
func silent(ctx context.Context, s *rpc.ClientStream, while time.Duration) error {
	short, cancel := context.WithTimeout(ctx, while)
	defer cancel()
	for {
		var m messages.Empty
		err := s.Receive(short, &m)
		var remote *rpc.RemoteError
		switch {
		case errors.Is(err, io.EOF):
			continue
		case err == nil, errors.As(err, &remote):
			return fmt.Errorf("got a message or error (%v), want nothing", err)
		default:
			return nil
		}
	}
}

func nothingAfterTheEnd(ctx context.Context, c *service.Client) error {
	up, err := c.CountUp(1, 3)
	if err != nil {
		return err
	}
	sum, err := c.SumUp()
	if err != nil {
		return err
	}
	if err := sum.SendEnd(); err != nil {
		return err
	}
	if err := countsThenEnds(ctx, up, 1, 3); err != nil {
		return err
	}
	if err := repliesThenEnds(ctx, sum, &messages.Sum{}); err != nil {
		return err
	}
	return together(
		func() error { return silent(ctx, up, 150*time.Millisecond) },
		func() error { return silent(ctx, sum, 150*time.Millisecond) },
	)
}

var streamErrorCases = []Case{
	small("stream-error/negative-count", countsDown(5, -1)),
	full("stream-error/most-negative-count", countsDown(-1, math.MinInt64)),
	full("stream-error/leaves-the-connection", survives(countsDown(0, -2))),
	full("stream-error/100-at-once", func(ctx context.Context, c *service.Client) error {
		return parallel(100, 100, func(i int) error { return countsDown(int64(i), -1)(ctx, c) })
	}),
	full("stream-error/unknown-operation-leaves-the-connection", survives(opensWith(messages.MarshalOpen(300)))),
	full("stream-error/unary-operation-leaves-the-connection", survives(opensWith(messages.MarshalOpen(service.Add)))),
	full("stream-error/garbage-for-an-operation-leaves-the-connection", survives(opensWith([]byte{5, 10, 1, 'x'}))),
}

// countsDown expects two messages, the error, and then the end.
func countsDown(from, count int64) body {
	return func(ctx context.Context, c *service.Client) error {
		s, err := c.CountUp(from, count)
		if err != nil {
			return err
		}
		if err := counts(ctx, s, from, 2); err != nil {
			return err
		}
		var m messages.Count
		if err := failsWith(s.Receive(ctx, &m), "negative count"); err != nil {
			return err
		}
		return ends(ctx, s)
	}
}

// opensWith opens a stream of an unknown method. fRPC ignores the stream or
// closes it, and an error is permitted too.
func opensWith(content []byte) body {
	return func(ctx context.Context, c *service.Client) error {
		s, err := c.OpenRaw(c.NextStreamID(), content)
		if err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		defer cancel()
		var m messages.Empty
		if err := s.Receive(short, &m); err == nil {
			return errors.New("got a message")
		}
		return nil
	}
}

var manyStreamCases = []Case{
	small("streams/20-of-each-kind-at-once", func(ctx context.Context, c *service.Client) error { return manyStreams(ctx, c, 60) }),
	full("streams/600-at-once", func(ctx context.Context, c *service.Client) error { return manyStreams(ctx, c, 600) }),
	full("streams/many-beside-unary", func(ctx context.Context, c *service.Client) error {
		return together(
			func() error { return manyStreams(ctx, c, 300) },
			func() error { return parallel(5000, 50, func(i int) error { return anyCall(ctx, c, i) }) },
		)
	}).within(30 * time.Second),
	full("streams/1000-one-after-the-other", func(ctx context.Context, c *service.Client) error {
		return parallel(1000, 1, func(i int) error { return anyStream(ctx, c, i) })
	}),
	full("streams/100-open-and-in-turns", inTurns),
}

func manyStreams(ctx context.Context, c *service.Client, n int) error {
	return parallel(n, n, func(i int) error { return anyStream(ctx, c, i) })
}

// anyStream runs one of the three kinds of streams in turn.
func anyStream(ctx context.Context, c *service.Client, i int) error {
	switch i % 3 {
	case 0:
		return countsUp(int64(i), 50)(ctx, c)
	case 1:
		return sumsUp(50)(ctx, c)
	default:
		return chatPingPong(20, fmt.Sprint("stream ", i))(ctx, c)
	}
}

// inTurns keeps 100 streams open and sends on each of them in turn.
func inTurns(ctx context.Context, c *service.Client) error {
	streams := make([]*rpc.ClientStream, 100)
	for i := range streams {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		streams[i] = s
	}
	for round := range 10 {
		for i, s := range streams {
			if err := say(ctx, s, fmt.Sprint(round, " ", i)); err != nil {
				return fmt.Errorf("stream %d: %w", i, err)
			}
		}
	}
	for _, s := range streams {
		if err := s.SendEnd(); err != nil {
			return err
		}
		if err := ends(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
