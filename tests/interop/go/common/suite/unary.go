package suite

// This file contains cases with ordinary unary calls, and the text of Describe.

import (
	"context"
	"math"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

var unaryCases = []Case{
	small("unary/add", addOf(1, 2)),
	full("unary/add-negative", addOf(-5, 3)),
	full("unary/add-zero", addOf(0, 0)),
	full("unary/add-extremes", func(ctx context.Context, c *service.Client) error {
		for _, pair := range [][2]int64{{math.MaxInt64, 0}, {math.MinInt64, 0}, {math.MinInt64, math.MaxInt64}} {
			if err := adds(ctx, c, pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	}),
	small("unary/do-nothing", func(ctx context.Context, c *service.Client) error { return c.DoNothing(ctx) }),
	small("unary/1000-calls-one-by-one", func(ctx context.Context, c *service.Client) error {
		for i := range int64(1000) {
			if err := adds(ctx, c, i, -1); err != nil {
				return err
			}
		}
		return nil
	}),
	small("describe/typical", describesAs(typical(),
		"flag=true i32=-123456 i64=-1234567890123 u32=300 u64=1099511627776 s32=64 s64=-65 fx32=3735928559 "+
			"fx64=81985529216486895 sfx32=-2 sfx64=2 f=3fc00000 d=c002000000000000 "+
			"text=6772c3bcc39f652c20e4b896e7958c raw=000102ff color=3")),
	small("describe/zero", describesAs(&messages.Scalars{},
		"flag=false i32=0 i64=0 u32=0 u64=0 s32=0 s64=0 fx32=0 fx64=0 sfx32=0 sfx64=0 f=00000000 d=0000000000000000 text= raw= color=0")),
	full("describe/maxima", describes(maxima())),
	full("describe/minima", describes(minima())),
	full("describe/floats", describes(floats()...)),
	full("describe/texts", describes(texts()...)),
	full("describe/unknown-enum-index", describes(&messages.Scalars{Color: 4}, &messages.Scalars{Color: 99})),
}

func addOf(a, b int64) body {
	return func(ctx context.Context, c *service.Client) error { return adds(ctx, c, a, b) }
}

func describesAs(m *messages.Scalars, want string) body {
	return func(ctx context.Context, c *service.Client) error {
		got, err := c.Describe(ctx, m)
		if err != nil {
			return err
		}
		return equal("the description", got, want)
	}
}

func describes(all ...*messages.Scalars) body {
	return func(ctx context.Context, c *service.Client) error {
		for _, m := range all {
			if err := describesAs(m, service.Description(m))(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
}
