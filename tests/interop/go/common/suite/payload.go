package suite

// This file contains cases with large requests and replies.

import (
	"context"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

const (
	kiB = 1 << 10
	miB = 1 << 20
	// contentMax is the maximum length of the content of a packet.
	contentMax = 5 * miB
	// payloadOverhead is the number of bytes of a Payload of several MiB other
	// than its data: the flags, a seq below 128, and the head of the bytes field.
	payloadOverhead = 2 + 2 + 2 + 4
)

var payloadCases = []Case{
	small("payload/empty", payloadOf(0)),
	small("payload/1KiB", payloadOf(kiB)),
	full("payload/around-64KiB", func(ctx context.Context, c *service.Client) error {
		// frisbee-go reads and writes through buffers of 64 KiB.
		for n := 64*kiB - 24; n <= 64*kiB+8; n++ {
			if err := payloadOf(n)(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}),
	small("payload/1MiB", payloadOf(miB)),
	full("payload/4MiB", payloadOf(4*miB)),
	full("payload/content-of-exactly-5MiB", payloadOf(contentMax-payloadOverhead)),
	full("payload/4MiB-ten-times", func(ctx context.Context, c *service.Client) error {
		for range 10 {
			if err := payloadOf(4*miB)(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}),
	full("payload/1MiB-sixteen-at-once", func(ctx context.Context, c *service.Client) error {
		return parallel(16, 16, func(i int) error { return echoPayload(ctx, c, uint32(i), miB+i) })
	}),
	full("payload/large-beside-small", func(ctx context.Context, c *service.Client) error {
		return together(
			func() error {
				return parallel(8, 2, func(i int) error { return echoPayload(ctx, c, uint32(i), 2*miB) })
			},
			func() error { return parallel(2000, 8, func(i int) error { return adds(ctx, c, int64(i), 1) }) },
		)
	}),
}

func payloadOf(n int) body {
	return func(ctx context.Context, c *service.Client) error { return echoPayload(ctx, c, 7, n) }
}

func echoPayload(ctx context.Context, c *service.Client, seq uint32, n int) error {
	sent := &messages.Payload{Seq: seq, Data: pattern(n)}
	got, err := c.EchoPayload(ctx, sent)
	if err != nil {
		return err
	}
	return same(got, sent)
}
