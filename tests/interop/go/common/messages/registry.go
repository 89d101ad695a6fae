package messages

// This file finds a message by its name in the schema.

import "strings"

var byName = map[string]func() Message{
	"Empty":        func() Message { return new(Empty) },
	"Scalars":      func() Message { return new(Scalars) },
	"Inner":        func() Message { return new(Inner) },
	"Middle":       func() Message { return new(Middle) },
	"Nested":       func() Message { return new(Nested) },
	"Lists":        func() Message { return new(Lists) },
	"Maps":         func() Message { return new(Maps) },
	"Mixed":        func() Message { return new(Mixed) },
	"Text":         func() Message { return new(Text) },
	"Payload":      func() Message { return new(Payload) },
	"AddRequest":   func() Message { return new(AddRequest) },
	"Sum":          func() Message { return new(Sum) },
	"SleepRequest": func() Message { return new(SleepRequest) },
	"Range":        func() Message { return new(Range) },
	"Count":        func() Message { return new(Count) },
}

// New creates an empty message by its name, with or without the package
// ("Scalars" or "interop.Scalars").
func New(name string) (Message, bool) {
	empty, ok := byName[strings.TrimPrefix(name, "interop.")]
	if !ok {
		return nil, false
	}
	return empty(), true
}
