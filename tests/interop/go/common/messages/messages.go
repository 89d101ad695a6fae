// Package messages contains the messages of interop.proto and their encoding on
// the wire, written by hand with polyglot.
//
// It is responsible for the three forms of a message (nil, an error, or flags
// and fields), the order of the fields, and their kinds. It does not depend on
// calls or streams.
package messages

import (
	"errors"
	"fmt"

	"github.com/loopholelabs/polyglot/v2"
)

// Message is any message of the schema.
type Message interface {
	// Head returns the parts of the message other than its fields.
	Head() *Header

	encodeFields(e encoder)
	decodeFields(d *decoder)
}

// Pointer is a Message that can be created: *T for a message struct T.
type Pointer[T any] interface {
	*T
	Message
}

// Header is embedded in every message.
type Header struct {
	// WireFlags are sent as they were received. They have no meaning.
	WireFlags uint8
	// If Err is set, it is sent instead of the fields.
	Err error
}

// Head returns the header of the message that embeds it.
func (h *Header) Head() *Header { return h }

// Marshal encodes m as the root of a packet. A nil m is encoded as a nil, which
// takes one byte.
func Marshal(m Message) []byte {
	b := polyglot.NewBuffer()
	e := encoder{polyglot.Encoder(b)}
	if m == nil {
		e.Nil()
	} else {
		writeMessage(e, m)
	}
	return b.Bytes()
}

// MarshalError encodes an error in place of a message.
func MarshalError(text string) []byte {
	b := polyglot.NewBuffer()
	polyglot.Encoder(b).Error(polyglot.Error(text))
	return b.Bytes()
}

// Unmarshal decodes the root of a packet into m. Bytes after the root are
// ignored. polyglot panics on a truncated varint; here it is an error.
func Unmarshal(content []byte, m Message) (err error) {
	defer recoverInto(&err)
	d := newDecoder(content)
	readMessage(d, m)
	return d.err
}

// MarshalOpen encodes the first packet of a stream: the method's operation.
func MarshalOpen(operation uint16) []byte {
	b := polyglot.NewBuffer()
	polyglot.Encoder(b).Uint16(operation)
	return b.Bytes()
}

// UnmarshalOpen decodes the first packet of a stream.
func UnmarshalOpen(content []byte) (operation uint16, err error) {
	defer recoverInto(&err)
	return polyglot.Decoder(content).Uint16()
}

func recoverInto(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic while decoding: %v", p)
	}
}

func writeMessage(e encoder, m Message) {
	head := m.Head()
	if head.Err != nil {
		e.Error(head.Err)
		return
	}
	e.Uint8(head.WireFlags)
	m.encodeFields(e)
}

func readMessage(d *decoder, m Message) {
	switch {
	case d.err != nil:
	case len(*d.in) == 0:
		d.err = errors.New("a message of no bytes")
	case d.in.Nil():
	case (*d.in)[0] == polyglot.ErrorRawKind:
		m.Head().Err = read(d, d.in.Error)
	default:
		m.Head().WireFlags = read(d, d.in.Uint8)
		m.decodeFields(d)
	}
}
