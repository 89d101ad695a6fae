package messages

// This file has the pieces that the messages' own codecs are put together
// from: single values, nested messages, lists and maps.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loopholelabs/polyglot/v2"
)

type encoder struct{ *polyglot.BufferEncoder }

// decoder keeps the first error; after it every read gives the zero value.
type decoder struct {
	in  *polyglot.BufferDecoder
	err error
}

func newDecoder(content []byte) *decoder {
	return &decoder{in: polyglot.Decoder(content)}
}

// read reads one value with one of the methods of d.in.
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

// fits says whether count items can be in what is left, at one byte each. The
// original allocates for whatever count it reads; a test peer should survive.
func (d *decoder) fits(count uint32) bool {
	if d.err == nil && int64(count) > int64(len(*d.in)) {
		d.err = fmt.Errorf("%d items in %d bytes", count, len(*d.in))
	}
	return d.err == nil
}

// put writes one value with one of the methods of the encoder.
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

// readItem reads a message in a list or map, where nil becomes an empty one.
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

// mapType is the head of a map and the order its entries are written in. The
// original writes them in random order, so any order will do; a fixed one
// makes encodings comparable.
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

// readMap reads a map, which may be nil. The last of equal keys wins.
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
