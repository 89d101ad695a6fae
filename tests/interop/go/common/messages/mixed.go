package messages

// This file contains Mixed. Its declaration alternates between the three groups
// of fields, which the wire orders: scalars, lists, then messages and maps.

import "github.com/loopholelabs/polyglot/v2"

// Mixed is interop.Mixed.
type Mixed struct {
	Header
	MessageFirst *Inner
	ListSecond   []string
	ScalarThird  int32
	MapFourth    map[string]int32
	ScalarFifth  string
	ListSixth    []*Inner
	EnumSeventh  Color
}

func (m *Mixed) encodeFields(e encoder) {
	e.Int32(m.ScalarThird)
	e.String(m.ScalarFifth)
	e.color(m.EnumSeventh)
	writeList(e, polyglot.StringKind, m.ListSecond, e.String)
	writeList(e, polyglot.AnyKind, m.ListSixth, putItem[Inner](e))
	writeNested(e, m.MessageFirst)
	writeMap(e, stringToInt32, m.MapFourth, e.String, e.Int32)
}

func (m *Mixed) decodeFields(d *decoder) {
	m.ScalarThird = read(d, d.in.Int32)
	m.ScalarFifth = read(d, d.in.String)
	m.EnumSeventh = read(d, d.color)
	m.ListSecond = readList(d, polyglot.StringKind, d.in.String)
	m.ListSixth = readList(d, polyglot.AnyKind, readItem[Inner](d))
	m.MessageFirst = readNested[Inner](d)
	m.MapFourth = readMap(d, stringToInt32, d.in.String, d.in.Int32)
}
