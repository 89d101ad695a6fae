package suite

// This file contains cases with nil requests, errors, and content that
// generated code never sends but that a server must handle.

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

var nilCases = []Case{
	small("nil-request/do-nothing", nilGives(service.DoNothing, &messages.Empty{})),
	full("nil-request/add", nilGives(service.Add, &messages.Sum{Count: 2})),
	full("nil-request/echo-scalars", nilGives(service.EchoScalars, &messages.Scalars{})),
	full("nil-request/echo-nested", nilGives(service.EchoNested, &messages.Nested{})),
	full("nil-request/echo-lists", nilGives(service.EchoLists, &messages.Lists{})),
	full("nil-request/echo-maps", nilGives(service.EchoMaps, &messages.Maps{})),
	full("nil-request/fail", func(ctx context.Context, c *service.Client) error {
		return failsWith(c.Call(ctx, service.Fail, nil, &messages.Text{}), "")
	}),
}

func nilGives[T any, P messages.Pointer[T]](operation uint16, want P) body {
	return func(ctx context.Context, c *service.Client) error {
		got := P(new(T))
		if err := c.Call(ctx, operation, nil, got); err != nil {
			return err
		}
		return same(got, want)
	}
}

var errorCases = []Case{
	small("error/text", failing("no such thing")),
	small("error/empty-text", failing("")),
	full("error/unicode-text", failing("größer als 世界 \U0001F980")),
	full("error/text-with-nul-and-newline", failing("a\x00b\nc")),
	full("error/text-EOF-is-no-end", failing("EOF")),
	full("error/long-text", failing(strings.Repeat("too long ", 10_000))),
	small("error/then-success", func(ctx context.Context, c *service.Client) error {
		for i := range 50 {
			text := fmt.Sprint("failure ", i)
			if err := failsWith(c.Fail(ctx, text), text); err != nil {
				return err
			}
			if err := adds(ctx, c, int64(i), 1); err != nil {
				return err
			}
		}
		return nil
	}),
	full("error/1000-at-once", func(ctx context.Context, c *service.Client) error {
		return parallel(1000, 1000, func(i int) error {
			text := fmt.Sprint("failure ", i)
			return failsWith(c.Fail(ctx, text), text)
		})
	}),
}

func failing(text string) body {
	return func(ctx context.Context, c *service.Client) error { return failsWith(c.Fail(ctx, text), text) }
}

// Prefixes of messages in hexadecimal digits: a Mixed before its lists, a Mixed
// with its lists, and a Maps before its last map.
const (
	mixedScalars = "08000c00050a000a00"
	mixedLists   = mixedScalars + "01050a0001030a00"
	mapsButLast  = "08000205050a00020c050a00020b070a0002070d0a0002050f0a0002050a0a00"
)

var contentCases = []Case{
	full("content/trailing-bytes", contentGives[messages.Sum](service.Add, "08000d020d04ffff", "08000d060d04")),
	full("content/nil-then-trailing-bytes", contentGives[messages.Sum](service.Add, "00ffff", "08000d000d04")),
	full("content/flags-mean-nothing", contentGives[messages.SleepRequest](service.Sleep, "08ff0a000a01", "08000a000a01")),
	full("content/padded-varints", contentGives[messages.SleepRequest](service.Sleep, "08000a80000a8180808000", "08000a000a01")),
	full("content/nil-map", contentGives[messages.Mixed](service.EchoMixed, mixedLists+"0000", mixedLists+"0002050c0a00")),
	full("content/nil-item-becomes-empty", contentGives[messages.Mixed](service.EchoMixed,
		mixedScalars+"01050a0001030a01000002050c0a00", mixedScalars+"01050a0001030a0108000c00050a000002050c0a00")),
	full("content/nil-map-value-becomes-empty", contentGives[messages.Maps](service.EchoMaps,
		mapsButLast+"0205030a01050a016b00", mapsButLast+"0205030a01050a016b08000c00050a00")),
	full("content/last-of-equal-keys", contentGives[messages.Mixed](service.EchoMixed,
		mixedLists+"0002050c0a02050a01610c02050a01610c04", mixedLists+"0002050c0a01050a01610c04")),
	full("content/undecodable-leaves-the-connection", survives(undecodable(service.Add, "08000a02"))),
	full("content/no-bytes-leaves-the-connection", survives(undecodable(service.Add, ""))),
	full("content/missing-field-leaves-the-connection", survives(undecodable(service.Add, "08000d02"))),
	full("content/unknown-operation-leaves-the-connection", survives(func(_ context.Context, c *service.Client) error {
		return c.SendOnly(9999, 7, []byte{8, 0})
	})),
}

// contentGives sends a request in hexadecimal digits and compares the reply
// with want. It ignores flags, because fRPC echoes them and other servers need
// not.
func contentGives[T any, P messages.Pointer[T]](operation uint16, request, want string) body {
	return func(ctx context.Context, c *service.Client) error {
		content, err := hex.DecodeString(request)
		if err != nil {
			return err
		}
		reply, err := c.CallRaw(ctx, operation, content)
		if err != nil {
			return err
		}
		m := P(new(T))
		if err := messages.Unmarshal(reply, m); err != nil {
			return fmt.Errorf("%x: %w", reply, err)
		}
		m.Head().WireFlags = 0
		return equal("the reply", hex.EncodeToString(messages.Marshal(m)), want)
	}
}

// undecodable sends a request that cannot be decoded. fRPC does not reply, and
// an error is permitted too. A message is not.
func undecodable(operation uint16, request string) body {
	return func(ctx context.Context, c *service.Client) error {
		content, err := hex.DecodeString(request)
		if err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		defer cancel()
		reply, err := c.CallRaw(short, operation, content)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return err
		}
		var m messages.Empty
		if err := messages.Unmarshal(reply, &m); err != nil || m.Err == nil {
			return fmt.Errorf("got the reply %x, want none or an error", reply)
		}
		return nil
	}
}

// survives does something unusual between two ordinary calls on the same
// connection.
func survives(odd body) body {
	return func(ctx context.Context, c *service.Client) error {
		if err := adds(ctx, c, 1, 2); err != nil {
			return err
		}
		if err := odd(ctx, c); err != nil {
			return err
		}
		if err := adds(ctx, c, 3, 4); err != nil {
			return fmt.Errorf("the call after it: %w", err)
		}
		return chatOnce(ctx, c, "still here")
	}
}
