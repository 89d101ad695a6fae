package messages

// This file contains Lists, which has a list of every kind.

import "github.com/loopholelabs/polyglot/v2"

// Lists is interop.Lists.
type Lists struct {
	Header
	Flags  []bool
	I32s   []int32
	I64s   []int64
	U32s   []uint32
	U64s   []uint64
	S32s   []int32
	S64s   []int64
	Fx32s  []uint32
	Sfx64s []int64
	Fs     []float32
	Ds     []float64
	Texts  []string
	Inners []*Inner
}

func (m *Lists) encodeFields(e encoder) {
	writeList(e, polyglot.BoolKind, m.Flags, e.Bool)
	writeList(e, polyglot.Int32Kind, m.I32s, e.Int32)
	writeList(e, polyglot.Int64Kind, m.I64s, e.Int64)
	writeList(e, polyglot.Uint32Kind, m.U32s, e.Uint32)
	writeList(e, polyglot.Uint64Kind, m.U64s, e.Uint64)
	writeList(e, polyglot.Int32Kind, m.S32s, e.Int32)
	writeList(e, polyglot.Int64Kind, m.S64s, e.Int64)
	writeList(e, polyglot.Uint32Kind, m.Fx32s, e.Uint32)
	writeList(e, polyglot.Int64Kind, m.Sfx64s, e.Int64)
	writeList(e, polyglot.Float32Kind, m.Fs, e.Float32)
	writeList(e, polyglot.Float64Kind, m.Ds, e.Float64)
	writeList(e, polyglot.StringKind, m.Texts, e.String)
	writeList(e, polyglot.AnyKind, m.Inners, putItem[Inner](e))
}

func (m *Lists) decodeFields(d *decoder) {
	m.Flags = readList(d, polyglot.BoolKind, d.in.Bool)
	m.I32s = readList(d, polyglot.Int32Kind, d.in.Int32)
	m.I64s = readList(d, polyglot.Int64Kind, d.in.Int64)
	m.U32s = readList(d, polyglot.Uint32Kind, d.in.Uint32)
	m.U64s = readList(d, polyglot.Uint64Kind, d.in.Uint64)
	m.S32s = readList(d, polyglot.Int32Kind, d.in.Int32)
	m.S64s = readList(d, polyglot.Int64Kind, d.in.Int64)
	m.Fx32s = readList(d, polyglot.Uint32Kind, d.in.Uint32)
	m.Sfx64s = readList(d, polyglot.Int64Kind, d.in.Int64)
	m.Fs = readList(d, polyglot.Float32Kind, d.in.Float32)
	m.Ds = readList(d, polyglot.Float64Kind, d.in.Float64)
	m.Texts = readList(d, polyglot.StringKind, d.in.String)
	m.Inners = readList(d, polyglot.AnyKind, readItem[Inner](d))
}
