package messages

// This file contains Maps, which has a map with every kind of key and value.

import "github.com/loopholelabs/polyglot/v2"

// Maps is interop.Maps.
type Maps struct {
	Header
	Words  map[string]string
	ByI32  map[int32]string
	ByU64  map[uint64]bool
	ByFlag map[bool]int64
	Prices map[string]float64
	Colors map[string]Color
	Inners map[string]*Inner
}

var (
	stringToString  = ordered[string](polyglot.StringKind, polyglot.StringKind)
	int32ToString   = ordered[int32](polyglot.Int32Kind, polyglot.StringKind)
	uint64ToBool    = ordered[uint64](polyglot.Uint64Kind, polyglot.BoolKind)
	boolToInt64     = orderedBool(polyglot.Int64Kind)
	stringToFloat64 = ordered[string](polyglot.StringKind, polyglot.Float64Kind)
	stringToColor   = ordered[string](polyglot.StringKind, polyglot.Uint32Kind)
	stringToMessage = ordered[string](polyglot.StringKind, polyglot.AnyKind)
	stringToInt32   = ordered[string](polyglot.StringKind, polyglot.Int32Kind)
)

func (m *Maps) encodeFields(e encoder) {
	writeMap(e, stringToString, m.Words, e.String, e.String)
	writeMap(e, int32ToString, m.ByI32, e.Int32, e.String)
	writeMap(e, uint64ToBool, m.ByU64, e.Uint64, e.Bool)
	writeMap(e, boolToInt64, m.ByFlag, e.Bool, e.Int64)
	writeMap(e, stringToFloat64, m.Prices, e.String, e.Float64)
	writeMap(e, stringToColor, m.Colors, e.String, e.color)
	writeMap(e, stringToMessage, m.Inners, e.String, putItem[Inner](e))
}

func (m *Maps) decodeFields(d *decoder) {
	m.Words = readMap(d, stringToString, d.in.String, d.in.String)
	m.ByI32 = readMap(d, int32ToString, d.in.Int32, d.in.String)
	m.ByU64 = readMap(d, uint64ToBool, d.in.Uint64, d.in.Bool)
	m.ByFlag = readMap(d, boolToInt64, d.in.Bool, d.in.Int64)
	m.Prices = readMap(d, stringToFloat64, d.in.String, d.in.Float64)
	m.Colors = readMap(d, stringToColor, d.in.String, d.color)
	m.Inners = readMap(d, stringToMessage, d.in.String, readItem[Inner](d))
}
