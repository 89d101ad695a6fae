package main

import (
	"cmp"
	"slices"

	"github.com/loopholelabs/polyglot/v2"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// encode encodes a message as a body in the flat form.
func encode(message protoreflect.Message) []byte {
	buffer := polyglot.NewBuffer()
	writeMessage(polyglot.Encoder(buffer), message)
	return buffer.Bytes()
}

// writeMessage writes the flags and the fields: single values first, then lists, then messages and maps. Each group is
// in the order of declaration. The flat form represents neither oneofs nor presence.
func writeMessage(to *polyglot.BufferEncoder, message protoreflect.Message) {
	to.Uint8(0)
	fields := message.Descriptor().Fields()
	for group := singles; group <= messagesAndMaps; group++ {
		for i := range fields.Len() {
			if field := fields.Get(i); groupOf(field) == group {
				writeField(to, message, field)
			}
		}
	}
}

type fieldGroup int

const (
	singles fieldGroup = iota
	lists
	messagesAndMaps
)

func groupOf(field protoreflect.FieldDescriptor) fieldGroup {
	switch {
	case field.IsMap():
		return messagesAndMaps
	case field.IsList():
		return lists
	case field.Kind() == protoreflect.MessageKind:
		return messagesAndMaps
	default:
		return singles
	}
}

func writeField(to *polyglot.BufferEncoder, message protoreflect.Message, field protoreflect.FieldDescriptor) {
	switch {
	case field.IsMap():
		writeMap(to, message.Get(field).Map(), field)
	case field.IsList():
		list := message.Get(field).List()
		to.Slice(uint32(list.Len()), kindOf(field))
		for i := range list.Len() {
			writeValue(to, list.Get(i), field)
		}
	case field.Kind() == protoreflect.MessageKind && !message.Has(field):
		to.Nil()
	default:
		// An absent field has its default value.
		writeValue(to, message.Get(field), field)
	}
}

// writeMap writes the entries in the order of their keys, so that a map has only one encoding.
func writeMap(to *polyglot.BufferEncoder, entries protoreflect.Map, field protoreflect.FieldDescriptor) {
	to.Map(uint32(entries.Len()), kindOf(field.MapKey()), kindOf(field.MapValue()))
	keys := make([]protoreflect.MapKey, 0, entries.Len())
	entries.Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, key)
		return true
	})
	slices.SortFunc(keys, compareKeys)
	for _, key := range keys {
		writeValue(to, key.Value(), field.MapKey())
		writeValue(to, entries.Get(key), field.MapValue())
	}
}

func compareKeys(a, b protoreflect.MapKey) int {
	switch left := a.Interface().(type) {
	case bool:
		switch {
		case left == b.Bool():
			return 0
		case b.Bool():
			return -1
		default:
			return 1
		}
	case int32, int64:
		return cmp.Compare(a.Int(), b.Int())
	case uint32, uint64:
		return cmp.Compare(a.Uint(), b.Uint())
	default:
		return cmp.Compare(a.String(), b.String())
	}
}

func kindOf(field protoreflect.FieldDescriptor) polyglot.Kind {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return polyglot.BoolKind
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return polyglot.Int32Kind
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return polyglot.Int64Kind
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.EnumKind:
		return polyglot.Uint32Kind
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return polyglot.Uint64Kind
	case protoreflect.FloatKind:
		return polyglot.Float32Kind
	case protoreflect.DoubleKind:
		return polyglot.Float64Kind
	case protoreflect.StringKind:
		return polyglot.StringKind
	case protoreflect.BytesKind:
		return polyglot.BytesKind
	default:
		return polyglot.AnyKind
	}
}

func writeValue(to *polyglot.BufferEncoder, value protoreflect.Value, field protoreflect.FieldDescriptor) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		to.Bool(value.Bool())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		to.Int32(int32(value.Int()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		to.Int64(value.Int())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		to.Uint32(uint32(value.Uint()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		to.Uint64(value.Uint())
	case protoreflect.FloatKind:
		to.Float32(float32(value.Float()))
	case protoreflect.DoubleKind:
		to.Float64(value.Float())
	case protoreflect.StringKind:
		to.String(value.String())
	case protoreflect.BytesKind:
		to.Bytes(value.Bytes())
	case protoreflect.EnumKind:
		// The index of the first value with this number in the declaration.
		to.Uint32(uint32(field.Enum().Values().ByNumber(value.Enum()).Index()))
	default:
		writeMessage(to, value.Message())
	}
}
