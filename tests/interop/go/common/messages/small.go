package messages

// This file contains the small messages of the calls: Empty, Text, Payload,
// AddRequest, Sum, SleepRequest, Range and Count.

// Empty is interop.Empty.
type Empty struct{ Header }

func (m *Empty) encodeFields(encoder)  {}
func (m *Empty) decodeFields(*decoder) {}

// Text is interop.Text.
type Text struct {
	Header
	Value string
}

func (m *Text) encodeFields(e encoder)  { e.String(m.Value) }
func (m *Text) decodeFields(d *decoder) { m.Value = read(d, d.in.String) }

// Payload is interop.Payload.
type Payload struct {
	Header
	Seq  uint32
	Data []byte
}

func (m *Payload) encodeFields(e encoder) {
	e.Uint32(m.Seq)
	e.Bytes(m.Data)
}

func (m *Payload) decodeFields(d *decoder) {
	m.Seq = read(d, d.in.Uint32)
	m.Data = readBytes(d)
}

// AddRequest is interop.AddRequest.
type AddRequest struct {
	Header
	A, B int64
}

func (m *AddRequest) encodeFields(e encoder) {
	e.Int64(m.A)
	e.Int64(m.B)
}

func (m *AddRequest) decodeFields(d *decoder) {
	m.A = read(d, d.in.Int64)
	m.B = read(d, d.in.Int64)
}

// Sum is interop.Sum.
type Sum struct {
	Header
	Total, Count int64
}

func (m *Sum) encodeFields(e encoder) {
	e.Int64(m.Total)
	e.Int64(m.Count)
}

func (m *Sum) decodeFields(d *decoder) {
	m.Total = read(d, d.in.Int64)
	m.Count = read(d, d.in.Int64)
}

// SleepRequest is interop.SleepRequest.
type SleepRequest struct {
	Header
	Millis, Tag uint32
}

func (m *SleepRequest) encodeFields(e encoder) {
	e.Uint32(m.Millis)
	e.Uint32(m.Tag)
}

func (m *SleepRequest) decodeFields(d *decoder) {
	m.Millis = read(d, d.in.Uint32)
	m.Tag = read(d, d.in.Uint32)
}

// Range is interop.Range.
type Range struct {
	Header
	From, Count int64
}

func (m *Range) encodeFields(e encoder) {
	e.Int64(m.From)
	e.Int64(m.Count)
}

func (m *Range) decodeFields(d *decoder) {
	m.From = read(d, d.in.Int64)
	m.Count = read(d, d.in.Int64)
}

// Count is interop.Count.
type Count struct {
	Header
	Value int64
}

func (m *Count) encodeFields(e encoder)  { e.Int64(m.Value) }
func (m *Count) decodeFields(d *decoder) { m.Value = read(d, d.in.Int64) }
