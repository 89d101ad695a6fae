package messages

// This file contains Scalars, which has a field of every single kind, and the
// enum Color.

// Color is encoded as the index of its value in the declaration. Undeclared
// indexes are preserved.
type Color uint32

// The declared colors.
const (
	ColorUnset Color = iota
	Red
	Green
	Blue
)

// Scalars is interop.Scalars.
type Scalars struct {
	Header
	Flag  bool
	I32   int32
	I64   int64
	U32   uint32
	U64   uint64
	S32   int32
	S64   int64
	Fx32  uint32
	Fx64  uint64
	Sfx32 int32
	Sfx64 int64
	F     float32
	D     float64
	Text  string
	Raw   []byte
	Color Color
}

func (m *Scalars) encodeFields(e encoder) {
	e.Bool(m.Flag)
	e.Int32(m.I32)
	e.Int64(m.I64)
	e.Uint32(m.U32)
	e.Uint64(m.U64)
	e.Int32(m.S32)
	e.Int64(m.S64)
	e.Uint32(m.Fx32)
	e.Uint64(m.Fx64)
	e.Int32(m.Sfx32)
	e.Int64(m.Sfx64)
	e.Float32(m.F)
	e.Float64(m.D)
	e.String(m.Text)
	e.Bytes(m.Raw)
	e.color(m.Color)
}

func (m *Scalars) decodeFields(d *decoder) {
	m.Flag = read(d, d.in.Bool)
	m.I32 = read(d, d.in.Int32)
	m.I64 = read(d, d.in.Int64)
	m.U32 = read(d, d.in.Uint32)
	m.U64 = read(d, d.in.Uint64)
	m.S32 = read(d, d.in.Int32)
	m.S64 = read(d, d.in.Int64)
	m.Fx32 = read(d, d.in.Uint32)
	m.Fx64 = read(d, d.in.Uint64)
	m.Sfx32 = read(d, d.in.Int32)
	m.Sfx64 = read(d, d.in.Int64)
	m.F = read(d, d.in.Float32)
	m.D = read(d, d.in.Float64)
	m.Text = read(d, d.in.String)
	m.Raw = readBytes(d)
	m.Color = read(d, d.color)
}
