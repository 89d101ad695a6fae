package suite

// This file contains cases with bidirectional streams and their ends.

import (
	"context"
	"fmt"
	"strings"

	"example.test/interop/common/messages"
	"example.test/interop/common/rpc"
	"example.test/interop/common/service"
)

var chatCases = []Case{
	small("chat/one", chatPingPong(1, "a")),
	small("chat/1000-ping-pong", chatPingPong(1000, "number")),
	full("chat/1000-sent-before-reading", chatPipelined(1000, true)),
	full("chat/10000-while-reading", chatPipelined(10_000, false)),
	small("chat/half-close-at-once", func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		if err := s.SendEnd(); err != nil {
			return err
		}
		return ends(ctx, s)
	}),
	full("chat/stays-open-until-half-closed", func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		if err := say(ctx, s, "first"); err != nil {
			return err
		}
		if err := adds(ctx, c, 1, 2); err != nil {
			return err
		}
		if err := say(ctx, s, "second"); err != nil {
			return err
		}
		if err := s.SendEnd(); err != nil {
			return err
		}
		return ends(ctx, s)
	}),
	full("chat/texts", func(ctx context.Context, c *service.Client) error {
		return chatWith(ctx, c, "", "\x00", "世界 \U0001F980", "re:", strings.Repeat("long ", 20_000))
	}),
	full("chat/text-EOF-is-no-end", func(ctx context.Context, c *service.Client) error { return chatWith(ctx, c, "EOF", "after") }),
	full("chat/1MiB-messages", func(ctx context.Context, c *service.Client) error {
		return chatWith(ctx, c, strings.Repeat("a", miB), strings.Repeat("b", miB+1))
	}),
	full("chat/closed-by-the-client", func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		if err := say(ctx, s, "hello"); err != nil {
			return err
		}
		// No packet is in flight now. If packets are still arriving, Close of
		// frisbee-go can close the whole connection.
		if err := s.Close(); err != nil {
			return err
		}
		if err := adds(ctx, c, 1, 2); err != nil {
			return err
		}
		return chatOnce(ctx, c, "another")
	}),
	full("chat/id-used-again-after-a-close", func(ctx context.Context, c *service.Client) error {
		for i := range 20 {
			s, err := c.OpenRaw(9, messages.MarshalOpen(service.Chat))
			if err != nil {
				return err
			}
			if err := say(ctx, s, fmt.Sprint("round ", i)); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		return nil
	}),
}

// say sends a text and expects the reply to be the next message.
func say(ctx context.Context, s *rpc.ClientStream, text string) error {
	if err := s.Send(&messages.Text{Value: text}); err != nil {
		return err
	}
	return hears(ctx, s, text)
}

func hears(ctx context.Context, s *rpc.ClientStream, text string) error {
	var answer messages.Text
	if err := s.Receive(ctx, &answer); err != nil {
		return err
	}
	return same(&answer, &messages.Text{Value: "re:" + text})
}

func chatWith(ctx context.Context, c *service.Client, texts ...string) error {
	s, err := c.Chat()
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := say(ctx, s, text); err != nil {
			return err
		}
	}
	if err := s.SendEnd(); err != nil {
		return err
	}
	return ends(ctx, s)
}

func chatOnce(ctx context.Context, c *service.Client, text string) error {
	return chatWith(ctx, c, text)
}

func chatPingPong(n int, text string) body {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint(text, " ", i)
	}
	return func(ctx context.Context, c *service.Client) error { return chatWith(ctx, c, texts...) }
}

// chatPipelined sends all texts and ends its direction. It reads the replies
// afterwards, or at the same time.
func chatPipelined(n int, sendFirst bool) body {
	text := func(i int) string { return fmt.Sprint("message ", i) }
	return func(ctx context.Context, c *service.Client) error {
		s, err := c.Chat()
		if err != nil {
			return err
		}
		send := func() error {
			for i := range n {
				if err := s.Send(&messages.Text{Value: text(i)}); err != nil {
					return err
				}
			}
			return s.SendEnd()
		}
		receive := func() error {
			for i := range n {
				if err := hears(ctx, s, text(i)); err != nil {
					return fmt.Errorf("answer %d: %w", i, err)
				}
			}
			return ends(ctx, s)
		}
		if !sendFirst {
			return together(send, receive)
		}
		if err := send(); err != nil {
			return err
		}
		return receive()
	}
}
