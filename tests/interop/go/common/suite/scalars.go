package suite

// This file contains the values of single fields, and the cases that echo them.

import (
	"math"
	"strings"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

var echoScalars = (*service.Client).EchoScalars

var scalarCases = []Case{
	small("unary/echo-scalars-typical", echo(echoScalars, typical())),
	small("unary/echo-scalars-zero", echo(echoScalars, &messages.Scalars{})),
	small("unary/echo-scalars-extremes", echo(echoScalars, maxima(), minima())),
	full("scalars/varint-borders", echo(echoScalars, varintBorders()...)),
	full("scalars/floats", echo(echoScalars, floats()...)),
	full("scalars/nan-payloads", echo(echoScalars, nans()...)),
	full("scalars/minus-zero", echo(echoScalars, &messages.Scalars{F: float32(math.Copysign(0, -1)), D: math.Copysign(0, -1)})),
	full("scalars/infinities", echo(echoScalars,
		&messages.Scalars{F: float32(math.Inf(1)), D: math.Inf(1)}, &messages.Scalars{F: float32(math.Inf(-1)), D: math.Inf(-1)})),
	full("scalars/text-unicode", echo(echoScalars, &messages.Scalars{Text: "grüße, 世界 \U0001F980 e\u0301 \u200d \uffff \U0010FFFF"})),
	full("scalars/text-nul", echo(echoScalars, &messages.Scalars{Text: "\x00"}, &messages.Scalars{Text: "a\x00b\x00"})),
	full("scalars/text-lengths", echo(echoScalars, textLengths()...)),
	full("scalars/bytes-all-values", echo(echoScalars, &messages.Scalars{Raw: pattern(256)})),
	full("scalars/bytes-lengths", echo(echoScalars, bytesLengths()...)),
	full("scalars/enum-every-color", echo(echoScalars,
		&messages.Scalars{}, &messages.Scalars{Color: messages.Red}, &messages.Scalars{Color: messages.Green}, &messages.Scalars{Color: messages.Blue})),
	full("scalars/enum-unknown-index", echo(echoScalars,
		&messages.Scalars{Color: 4}, &messages.Scalars{Color: 99}, &messages.Scalars{Color: 1 << 20}, &messages.Scalars{Color: math.MaxInt32})),
}

func typical() *messages.Scalars {
	return &messages.Scalars{
		Flag: true, I32: -123456, I64: -1234567890123, U32: 300, U64: 1 << 40, S32: 64, S64: -65,
		Fx32: 0xdeadbeef, Fx64: 0x0123456789abcdef, Sfx32: -2, Sfx64: 2, F: 1.5, D: -2.25,
		Text: "grüße, 世界", Raw: []byte{0, 1, 2, 255}, Color: messages.Blue,
	}
}

func maxima() *messages.Scalars {
	return &messages.Scalars{
		Flag: true, I32: math.MaxInt32, I64: math.MaxInt64, U32: math.MaxUint32, U64: math.MaxUint64,
		S32: math.MaxInt32, S64: math.MaxInt64, Fx32: math.MaxUint32, Fx64: math.MaxUint64,
		Sfx32: math.MaxInt32, Sfx64: math.MaxInt64, F: math.MaxFloat32, D: math.MaxFloat64,
	}
}

func minima() *messages.Scalars {
	return &messages.Scalars{
		I32: math.MinInt32, I64: math.MinInt64, S32: math.MinInt32, S64: math.MinInt64,
		Sfx32: math.MinInt32, Sfx64: math.MinInt64, F: -math.MaxFloat32, D: -math.MaxFloat64,
	}
}

// varintBorders returns the smallest and largest value of each length of a
// varint.
func varintBorders() (all []*messages.Scalars) {
	for bits := 7; bits < 64; bits += 7 {
		for _, u := range []uint64{1<<bits - 1, 1 << bits} {
			i := int64(u>>1) ^ -int64(u&1)
			all = append(all, &messages.Scalars{
				U32: uint32(u), U64: u, I32: int32(i), I64: i, S32: int32(i), S64: i,
				Fx32: uint32(u), Fx64: u, Sfx32: int32(i), Sfx64: i,
			})
		}
	}
	return all
}

func nans() (all []*messages.Scalars) {
	for _, bits := range [][2]uint64{
		{0x7fc00000, 0x7ff8000000000000}, // the usual one
		{0x7fc12345, 0x7ff8000123456789}, // with a payload
		{0xffc00001, 0xfff8000000000001}, // with a sign
		{0x7f800001, 0x7ff0000000000001}, // signalling
		{0xffffffff, 0xffffffffffffffff},
	} {
		all = append(all, &messages.Scalars{F: math.Float32frombits(uint32(bits[0])), D: math.Float64frombits(bits[1])})
	}
	return all
}

func floats() []*messages.Scalars {
	return append(nans(),
		&messages.Scalars{F: float32(math.Copysign(0, -1)), D: math.Copysign(0, -1)},
		&messages.Scalars{F: float32(math.Inf(1)), D: math.Inf(-1)},
		&messages.Scalars{F: math.SmallestNonzeroFloat32, D: math.SmallestNonzeroFloat64},
		&messages.Scalars{F: math.Float32frombits(0x00800000), D: math.Float64frombits(0x0010000000000000)},
		&messages.Scalars{F: math.Pi, D: -math.E},
	)
}

func texts() []*messages.Scalars {
	return []*messages.Scalars{{Text: ""}, {Text: "a b=c"}, {Text: "\x00"}, {Text: "世界\U0001F980"}, {Text: "EOF"}, {Raw: pattern(256)}}
}

func textLengths() (all []*messages.Scalars) {
	for _, n := range []int{0, 1, 127, 128, 16383, 16384, 100_000} {
		all = append(all, &messages.Scalars{Text: strings.Repeat("é", n/2) + strings.Repeat("x", n%2)})
	}
	return all
}

func bytesLengths() (all []*messages.Scalars) {
	for _, n := range []int{0, 1, 127, 128, 16383, 16384, 100_000} {
		all = append(all, &messages.Scalars{Raw: pattern(n)})
	}
	return all
}

// pattern returns n bytes. They start with every value in turn and repeat no
// block, so that a misplaced block is detected.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*31 ^ byte(i>>16)*17
	}
	return b
}
