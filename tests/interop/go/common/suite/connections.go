package suite

// This file contains cases with many connections, connections that are closed
// early, and silent ones.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.test/interop/common/service"
)

var connectionCases = []Case{
	full("connection/everything-on-one", everythingOnOne),
	{Name: "connection/50-at-once", run: func(ctx context.Context, dial dialer) error {
		return parallel(50, 50, func(i int) error {
			c, err := dial()
			if err != nil {
				return err
			}
			if err := chatOnce(ctx, c, fmt.Sprint("connection ", i)); err != nil {
				return err
			}
			return parallel(20, 5, func(j int) error { return adds(ctx, c, int64(i), int64(j)) })
		})
	}},
	{Name: "connection/100-one-after-the-other", run: func(ctx context.Context, dial dialer) error {
		for i := range int64(100) {
			c, err := dial()
			if err != nil {
				return err
			}
			if err := adds(ctx, c, i, 1); err != nil {
				return err
			}
			c.Close()
		}
		return nil
	}},
	{Name: "connection/left-with-calls-in-flight", run: func(ctx context.Context, dial dialer) error {
		return leftAlone(ctx, dial, func(c *service.Client) error {
			for id := range uint16(100) {
				// A sleep of 300 ms.
				if err := c.SendOnly(service.Sleep, id, []byte{8, 0, 10, 0xac, 2, 10, 1}); err != nil {
					return err
				}
			}
			return nil
		})
	}},
	{Name: "connection/left-with-streams-open", run: func(ctx context.Context, dial dialer) error {
		return leftAlone(ctx, dial, func(c *service.Client) error {
			for range 20 {
				s, err := c.Chat()
				if err != nil {
					return err
				}
				if err := say(ctx, s, "and goodbye"); err != nil {
					return err
				}
			}
			return nil
		})
	}},
}

// leftAlone closes a connection while something is in progress. Another
// connection, which is open during this time, must not be affected.
func leftAlone(ctx context.Context, dial dialer, begin func(c *service.Client) error) error {
	healthy, err := dial()
	if err != nil {
		return err
	}
	leaving, err := dial()
	if err != nil {
		return err
	}
	if err := begin(leaving); err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond)
	leaving.Close()
	begun := time.Now()
	for i := int64(0); time.Since(begun) < 500*time.Millisecond; i++ {
		if err := adds(ctx, healthy, i, 1); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return chatOnce(ctx, healthy, "still here")
}

// everythingOnOne makes the calls of the other cases on one connection.
func everythingOnOne(ctx context.Context, c *service.Client) error {
	return together(
		func() error { return parallel(800, 40, func(i int) error { return anyCall(ctx, c, i) }) },
		func() error { return manyStreams(ctx, c, 60) },
		func() error { return parallel(4, 2, func(i int) error { return echoPayload(ctx, c, uint32(i), miB) }) },
		func() error { return parallel(10, 10, func(i int) error { return countsDown(int64(i), -1)(ctx, c) }) },
		func() error { return chatPipelined(2000, false)(ctx, c) },
		func() error { return outOfOrder(ctx, c) },
	)
}

// silence is longer than the 5 s after which frisbee-go closes the connection
// to a peer that sends nothing. Only PINGs and PONGs are sent during this time.
const silence = 6 * time.Second

var silenceCases = []Case{
	small("silence/6s", func(ctx context.Context, c *service.Client) error {
		if err := adds(ctx, c, 1, 2); err != nil {
			return err
		}
		if err := wait(ctx, silence); err != nil {
			return err
		}
		return adds(ctx, c, 3, 4)
	}).inBackground(),
	full("silence/6s-before-the-first-call", func(ctx context.Context, c *service.Client) error {
		if err := wait(ctx, silence); err != nil {
			return err
		}
		return adds(ctx, c, 3, 4)
	}).inBackground(),
	full("silence/6s-with-a-stream-open", func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		if err := say(ctx, s, "before"); err != nil {
			return err
		}
		if err := wait(ctx, silence); err != nil {
			return err
		}
		if err := say(ctx, s, "after"); err != nil {
			return err
		}
		if err := s.SendEnd(); err != nil {
			return err
		}
		return ends(ctx, s)
	}).inBackground(),
	full("silence/6s-until-the-reply", func(ctx context.Context, c *service.Client) error {
		return sleeps(ctx, c, uint32(silence.Milliseconds()), 1)
	}).inBackground(),
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return errors.New("the time ran out in the silence")
	}
}
