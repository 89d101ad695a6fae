package messages

// This file contains the messages with fields that are single messages. On the
// wire, scalars come first and messages last, whatever the order of
// declaration.

// Inner is interop.Inner.
type Inner struct {
	Header
	ID   int32
	Name string
}

func (m *Inner) encodeFields(e encoder) {
	e.Int32(m.ID)
	e.String(m.Name)
}

func (m *Inner) decodeFields(d *decoder) {
	m.ID = read(d, d.in.Int32)
	m.Name = read(d, d.in.String)
}

// Middle is interop.Middle.
type Middle struct {
	Header
	Inner  *Inner
	Weight uint64
}

func (m *Middle) encodeFields(e encoder) {
	e.Uint64(m.Weight)
	writeNested(e, m.Inner)
}

func (m *Middle) decodeFields(d *decoder) {
	m.Weight = read(d, d.in.Uint64)
	m.Inner = readNested[Inner](d)
}

// Nested is interop.Nested.
type Nested struct {
	Header
	First  *Inner
	Label  string
	Middle *Middle
	Absent *Inner
}

func (m *Nested) encodeFields(e encoder) {
	e.String(m.Label)
	writeNested(e, m.First)
	writeNested(e, m.Middle)
	writeNested(e, m.Absent)
}

func (m *Nested) decodeFields(d *decoder) {
	m.Label = read(d, d.in.String)
	m.First = readNested[Inner](d)
	m.Middle = readNested[Middle](d)
	m.Absent = readNested[Inner](d)
}
