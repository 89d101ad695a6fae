package suite

// This file contains cases with nested messages, lists, maps, and the order of
// mixed fields.

import (
	"fmt"
	"math"

	"example.test/interop/common/messages"
	"example.test/interop/common/service"
)

var (
	echoNested = (*service.Client).EchoNested
	echoLists  = (*service.Client).EchoLists
	echoMaps   = (*service.Client).EchoMaps
	echoMixed  = (*service.Client).EchoMixed
)

type (
	nested = messages.Nested
	lists  = messages.Lists
	maps   = messages.Maps
	mixed  = messages.Mixed
	inner  = messages.Inner
)

var nestedCases = []Case{
	small("unary/echo-nested", echo(echoNested, &nested{
		First: &inner{ID: -1, Name: "in"}, Label: "out", Middle: &messages.Middle{Inner: &inner{}, Weight: 9},
	})),
	full("nested/all-absent", echo(echoNested, &nested{}, &nested{Label: "only"})),
	full("nested/all-present", echo(echoNested, &nested{
		First: &inner{ID: 1, Name: "a"}, Label: "b", Middle: &messages.Middle{Inner: &inner{ID: 2, Name: "c"}, Weight: math.MaxUint64},
		Absent: &inner{ID: 3, Name: "d"},
	})),
	full("nested/present-but-default", echo(echoNested, &nested{First: &inner{}, Middle: &messages.Middle{}, Absent: &inner{}})),
	full("nested/absent-inside-present", echo(echoNested, &nested{Middle: &messages.Middle{Weight: 1}})),
}

var listCases = []Case{
	small("lists/empty", echo(echoLists, &lists{})),
	small("lists/all-kinds", echo(echoLists, fullLists())),
	full("lists/bool", echo(echoLists, &lists{Flags: []bool{true}}, &lists{Flags: []bool{false, true, true, false}})),
	full("lists/int32", echo(echoLists, &lists{I32s: []int32{-1}}, &lists{I32s: []int32{0, 1, math.MinInt32, math.MaxInt32}})),
	full("lists/int64", echo(echoLists, &lists{I64s: []int64{-1}}, &lists{I64s: []int64{0, 1, math.MinInt64, math.MaxInt64}})),
	full("lists/uint32", echo(echoLists, &lists{U32s: []uint32{1}}, &lists{U32s: []uint32{0, 127, 128, math.MaxUint32}})),
	full("lists/uint64", echo(echoLists, &lists{U64s: []uint64{1}}, &lists{U64s: []uint64{0, 127, 128, math.MaxUint64}})),
	full("lists/sint32", echo(echoLists, &lists{S32s: []int32{-1}}, &lists{S32s: []int32{0, 1, math.MinInt32, math.MaxInt32}})),
	full("lists/sint64", echo(echoLists, &lists{S64s: []int64{-1}}, &lists{S64s: []int64{0, 1, math.MinInt64, math.MaxInt64}})),
	full("lists/fixed32", echo(echoLists, &lists{Fx32s: []uint32{1}}, &lists{Fx32s: []uint32{0, 127, 128, math.MaxUint32}})),
	full("lists/sfixed64", echo(echoLists, &lists{Sfx64s: []int64{-1}}, &lists{Sfx64s: []int64{0, 1, math.MinInt64, math.MaxInt64}})),
	full("lists/float", echo(echoLists, &lists{Fs: []float32{1.5}}, floatLists())),
	full("lists/double", echo(echoLists, &lists{Ds: []float64{1.5}}, floatLists())),
	full("lists/string", echo(echoLists, &lists{Texts: []string{""}}, &lists{Texts: []string{"a", "", "\x00", "世界", "a"}})),
	full("lists/message", echo(echoLists, &lists{Inners: []*inner{{}}}, &lists{Inners: []*inner{{ID: 1, Name: "x"}, {}, {ID: -1}}})),
	full("lists/10000-items", echo(echoLists, longLists(10_000))),
}

func fullLists() *lists {
	return &lists{
		Flags: []bool{true}, I32s: []int32{-1, 2}, I64s: []int64{-3}, U32s: []uint32{4}, U64s: []uint64{5},
		S32s: []int32{-6}, S64s: []int64{7}, Fx32s: []uint32{8}, Sfx64s: []int64{-9}, Fs: []float32{10.5},
		Ds: []float64{-11.25}, Texts: []string{"a", ""}, Inners: []*inner{{ID: 1, Name: "x"}},
	}
}

func floatLists() *lists {
	m := &lists{}
	for _, s := range floats() {
		m.Fs = append(m.Fs, s.F)
		m.Ds = append(m.Ds, s.D)
	}
	return m
}

func longLists(n int) *lists {
	m := &lists{}
	for i := range n {
		m.I64s = append(m.I64s, int64(i)*1_000_003-5)
		m.Texts = append(m.Texts, fmt.Sprint("text ", i))
		m.Inners = append(m.Inners, &inner{ID: int32(i), Name: "n"})
	}
	return m
}

var mapCases = []Case{
	small("maps/empty", echo(echoMaps, &maps{})),
	small("maps/all-kinds", echo(echoMaps, &maps{
		Words: map[string]string{"a": "b"}, ByI32: map[int32]string{-1: "m"}, ByU64: map[uint64]bool{1: true},
		ByFlag: map[bool]int64{true: -1}, Prices: map[string]float64{"p": 0.5},
		Colors: map[string]messages.Color{"r": messages.Red}, Inners: map[string]*inner{"i": {ID: 1}},
	})),
	full("maps/string-string", echo(echoMaps, &maps{Words: map[string]string{"": "", "a": "1", "世": "界", "\x00": "\x00"}})),
	full("maps/int32-string", echo(echoMaps, &maps{ByI32: map[int32]string{0: "", -1: "x", math.MinInt32: "min", math.MaxInt32: "max"}})),
	full("maps/uint64-bool", echo(echoMaps, &maps{ByU64: map[uint64]bool{0: true, 1: false, math.MaxUint64: true}})),
	full("maps/bool-int64", echo(echoMaps, &maps{ByFlag: map[bool]int64{false: math.MinInt64, true: math.MaxInt64}}, &maps{ByFlag: map[bool]int64{false: 0}})),
	full("maps/string-double", echo(echoMaps, &maps{Prices: map[string]float64{"nan": math.Float64frombits(0x7ff8000000000007), "-0": math.Copysign(0, -1), "inf": math.Inf(1)}})),
	full("maps/string-enum", echo(echoMaps, &maps{Colors: map[string]messages.Color{"unset": 0, "blue": messages.Blue, "unknown": 77}})),
	full("maps/string-message", echo(echoMaps, &maps{Inners: map[string]*inner{"": {}, "a": {ID: 1, Name: "b"}, "c": {ID: -1}}})),
	full("maps/1000-entries", echo(echoMaps, longMaps(1000))),
}

func longMaps(n int) *maps {
	m := &maps{Words: map[string]string{}, ByI32: map[int32]string{}, Inners: map[string]*inner{}}
	for i := range n {
		key := fmt.Sprint("key ", i)
		m.Words[key] = fmt.Sprint("value ", i)
		m.ByI32[int32(i-n/2)] = key
		m.Inners[key] = &inner{ID: int32(i), Name: key}
	}
	return m
}

var mixedCases = []Case{
	small("mixed/order-of-fields", echo(echoMixed, &mixed{
		MessageFirst: &inner{ID: 1}, ListSecond: []string{"a"}, ScalarThird: 3, MapFourth: map[string]int32{"four": 4},
		ScalarFifth: "five", ListSixth: []*inner{{ID: 6}}, EnumSeventh: messages.Green,
	})),
	full("mixed/zero", echo(echoMixed, &mixed{})),
	full("mixed/one-field-at-a-time", echo(echoMixed,
		&mixed{MessageFirst: &inner{}}, &mixed{ListSecond: []string{""}}, &mixed{ScalarThird: -1}, &mixed{MapFourth: map[string]int32{"": 0}},
		&mixed{ScalarFifth: "x"}, &mixed{ListSixth: []*inner{{}}}, &mixed{EnumSeventh: messages.Blue})),
	full("mixed/unknown-enum-index", echo(echoMixed, &mixed{EnumSeventh: 12345})),
}
