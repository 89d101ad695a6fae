package suite

// This file contains cases with concurrent calls: order of replies,
// concurrency, ids, and load.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

var sleepCases = []Case{
	small("sleep/returns-its-argument", func(ctx context.Context, c *service.Client) error { return sleeps(ctx, c, 20, 4_000_000_000) }),
	small("sleep/out-of-order-replies", outOfOrder),
	small("sleep/100-at-once", func(ctx context.Context, c *service.Client) error {
		begin := time.Now()
		if err := parallel(100, 100, func(i int) error { return sleeps(ctx, c, 300, uint32(i)) }); err != nil {
			return err
		}
		return quickerThan(begin, 3*time.Second)
	}),
	full("sleep/quick-calls-overtake", func(ctx context.Context, c *service.Client) error {
		slow := make(chan error, 1)
		go func() { slow <- sleeps(ctx, c, 800, 1) }()
		begin := time.Now()
		for i := range int64(20) {
			if err := adds(ctx, c, i, i); err != nil {
				return err
			}
		}
		if err := quickerThan(begin, 700*time.Millisecond); err != nil {
			return err
		}
		return <-slow
	}),
}

func sleeps(ctx context.Context, c *service.Client, millis, tag uint32) error {
	got, err := c.Sleep(ctx, millis, tag)
	if err != nil {
		return err
	}
	return same(got, &messages.SleepRequest{Millis: millis, Tag: tag})
}

func quickerThan(begin time.Time, most time.Duration) error {
	if took := time.Since(begin); took > most {
		return fmt.Errorf("took %s, want less than %s", took.Round(time.Millisecond), most)
	}
	return nil
}

// outOfOrder starts the longest sleep first and expects its reply last. If the
// machine stands still for longer than the sleeps differ, the replies may
// arrive in another order. It then repeats the case with longer sleeps.
func outOfOrder(ctx context.Context, c *service.Client) error {
	var err error
	for step := uint32(200); step <= 3200; step *= 2 {
		if err = inReverse(ctx, c, []uint32{3 * step, 2 * step, step, 0}); !errors.Is(err, errOrder) {
			return err
		}
	}
	return err
}

var errOrder = errors.New("out of order")

func inReverse(ctx context.Context, c *service.Client, millis []uint32) error {
	arrived := make(chan uint32, len(millis))
	failed := make(chan error, len(millis))
	for _, ms := range millis {
		go func() {
			if err := sleeps(ctx, c, ms, ms); err != nil {
				failed <- err
				return
			}
			arrived <- ms
		}()
		time.Sleep(5 * time.Millisecond)
	}
	got := make([]uint32, 0, len(millis))
	for range millis {
		select {
		case ms := <-arrived:
			got = append(got, ms)
		case err := <-failed:
			return err
		}
	}
	for i, ms := range got {
		if want := millis[len(millis)-1-i]; ms != want {
			return fmt.Errorf("reply %d is %d, want %d: %w", i+1, ms, want, errOrder)
		}
	}
	return nil
}

var idCases = []Case{
	full("ids/70000-calls-wrap", func(ctx context.Context, c *service.Client) error {
		return parallel(70_000, 256, func(i int) error { return adds(ctx, c, int64(i), 1) })
	}).within(40 * time.Second),
	full("ids/0-and-65535-are-ids", func(ctx context.Context, c *service.Client) error {
		for _, id := range []uint16{0, 65535, 15, 0x1234} {
			if err := addsWithID(ctx, c, id); err != nil {
				return err
			}
		}
		return nil
	}),
	full("ids/used-again-after-the-reply", func(ctx context.Context, c *service.Client) error {
		for range 100 {
			if err := addsWithID(ctx, c, 42); err != nil {
				return err
			}
		}
		return nil
	}),
	full("ids/same-on-every-method", sameIDOnEveryMethod),
}

func addsWithID(ctx context.Context, c *service.Client, id uint16) error {
	content, err := c.CallWithID(ctx, service.Add, id, messages.Marshal(&messages.AddRequest{A: int64(id), B: 1}))
	if err != nil {
		return err
	}
	var sum messages.Sum
	if err := messages.Unmarshal(content, &sum); err != nil {
		return err
	}
	return same(&sum, &messages.Sum{Total: int64(id) + 1, Count: 2})
}

// sameIDOnEveryMethod has calls with id 1 in flight on five methods at the same
// time, because each method counts its own ids.
func sameIDOnEveryMethod(ctx context.Context, c *service.Client) error {
	return together(
		func() error { return sleeps(ctx, c, 200, 1) },
		func() error { return adds(ctx, c, 1, 2) },
		func() error { return echoPayload(ctx, c, 3, 100_000) },
		func() error { return failsWith(c.Fail(ctx, "five"), "five") },
		func() error { return echo(echoScalars, typical())(ctx, c) },
	)
}

var loadCases = []Case{
	small("load/1000-concurrent-calls", func(ctx context.Context, c *service.Client) error {
		return parallel(1000, 1000, func(i int) error { return sleeps(ctx, c, 300, uint32(i)) })
	}),
	full("load/10000-concurrent-calls", func(ctx context.Context, c *service.Client) error {
		// The sleep keeps all of these calls in flight at the same time.
		return parallel(10_000, 10_000, func(i int) error { return sleeps(ctx, c, 1000, uint32(i)) })
	}).within(30 * time.Second),
	full("load/20000-calls-64-at-a-time", func(ctx context.Context, c *service.Client) error {
		return parallel(20_000, 64, func(i int) error { return adds(ctx, c, int64(i), -7) })
	}).within(30 * time.Second),
	full("load/all-methods-at-once", func(ctx context.Context, c *service.Client) error {
		return parallel(3000, 300, func(i int) error { return anyCall(ctx, c, i) })
	}),
}

// anyCall makes one of several calls in turn.
func anyCall(ctx context.Context, c *service.Client, i int) error {
	switch i % 8 {
	case 0:
		return adds(ctx, c, int64(i), 1)
	case 1:
		return echo(echoScalars, typical())(ctx, c)
	case 2:
		return echo(echoLists, fullLists())(ctx, c)
	case 3:
		return echoPayload(ctx, c, uint32(i), i)
	case 4:
		text := fmt.Sprint("failure ", i)
		return failsWith(c.Fail(ctx, text), text)
	case 5:
		return c.DoNothing(ctx)
	case 6:
		return sleeps(ctx, c, uint32(i%5), uint32(i))
	default:
		return echo(echoMaps, longMaps(5))(ctx, c)
	}
}
