package messages

// This file contains the parts from which the codecs of messages are built:
// single values, nested messages, lists and maps.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loopholelabs/polyglot/v2"
)

type encoder struct{ *polyglot.BufferEncoder }

// decoder keeps the first error. All later reads return the zero value.
type decoder struct {
	in  *polyglot.BufferDecoder
	err error
}

func newDecoder(content []byte) *decoder {
	return &decoder{in: polyglot.Decoder(content)}
}

// read reads a value with one of the methods of d.in.
func read[T any](d *decoder, next func() (T, error)) (value T) {
	if d.err != nil {
		return value
	}
	value, d.err = next()
	return value
}

func readBytes(d *decoder) []byte {
	return read(d, func() ([]byte, error) { return d.in.Bytes(nil) })
}

// fits returns whether count items of at least one byte can be in the remaining
// bytes. frisbee-go allocates memory for any count that it reads, but a test
// peer should survive this.
func (d *decoder) fits(count uint32) bool {
	if d.err == nil && int64(count) > int64(len(*d.in)) {
		d.err = fmt.Errorf("%d items in %d bytes", count, len(*d.in))
	}
	return d.err == nil
}

// put writes a value with one of the methods of the encoder.
type put[T any] func(T) *polyglot.BufferEncoder

func writeNested[T any, P Pointer[T]](e encoder, m P) {
	if m == nil {
		e.Nil()
		return
	}
	writeMessage(e, m)
}

// readNested reads a single message, which may be absent.
func readNested[T any, P Pointer[T]](d *decoder) P {
	if d.err != nil || d.in.Nil() {
		return nil
	}
	m := P(new(T))
	readMessage(d, m)
	return m
}

// putItem writes a message in a list or map.
func putItem[T any, P Pointer[T]](e encoder) put[P] {
	return func(m P) *polyglot.BufferEncoder {
		writeNested[T](e, m)
		return e.BufferEncoder
	}
}

// readItem reads a message in a list or map. A nil is an empty message.
func readItem[T any, P Pointer[T]](d *decoder) func() (P, error) {
	return func() (P, error) {
		m := P(new(T))
		readMessage(d, m)
		return m, d.err
	}
}

func writeList[T any](e encoder, kind polyglot.Kind, items []T, item put[T]) {
	e.Slice(uint32(len(items)), kind)
	for _, v := range items {
		item(v)
	}
}

func readList[T any](d *decoder, kind polyglot.Kind, item func() (T, error)) []T {
	count := read(d, func() (uint32, error) { return d.in.Slice(kind) })
	if !d.fits(count) {
		return nil
	}
	items := make([]T, 0, count)
	for range count {
		items = append(items, read(d, item))
		if d.err != nil {
			return nil
		}
	}
	return items
}

// mapType describes the kinds of a map and the order in which its entries are
// written. fRPC writes them in random order, so any order is permitted. A fixed
// order makes encodings comparable.
type mapType[K comparable] struct {
	key, value polyglot.Kind
	order      func(a, b K) int
}

func ordered[K cmp.Ordered](key, value polyglot.Kind) mapType[K] {
	return mapType[K]{key, value, cmp.Compare[K]}
}

func orderedBool(value polyglot.Kind) mapType[bool] {
	return mapType[bool]{polyglot.BoolKind, value, func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case b:
			return -1
		default:
			return 1
		}
	}}
}

func writeMap[K comparable, V any](e encoder, t mapType[K], entries map[K]V, key put[K], value put[V]) {
	e.Map(uint32(len(entries)), t.key, t.value)
	keys := make([]K, 0, len(entries))
	for k := range entries {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, t.order)
	for _, k := range keys {
		key(k)
		value(entries[k])
	}
}

// readMap reads a map, which may be nil. If a key occurs more than once, its
// last entry counts.
func readMap[K comparable, V any](d *decoder, t mapType[K], key func() (K, error), value func() (V, error)) map[K]V {
	if d.err != nil || d.in.Nil() {
		return nil
	}
	count := read(d, func() (uint32, error) { return d.in.Map(t.key, t.value) })
	if !d.fits(count) {
		return nil
	}
	entries := make(map[K]V, count)
	for range count {
		k := read(d, key)
		v := read(d, value)
		if d.err != nil {
			return nil
		}
		entries[k] = v
	}
	return entries
}

func (e encoder) color(c Color) *polyglot.BufferEncoder { return e.Uint32(uint32(c)) }

func (d *decoder) color() (Color, error) {
	index, err := d.in.Uint32()
	return Color(index), err
}
