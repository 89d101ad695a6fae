package messages

// The bytes in this file were measured with the Go implementation of fRPC.

import (
	"encoding/hex"
	"math"
	"reflect"
	"testing"
)

var measured = []struct {
	name    string
	message Message
	hex     string
}{
	{"Scalars typical", &Scalars{
		Flag: true, I32: -123456, I64: -1234567890123, U32: 300, U64: 1099511627776, S32: 64, S64: -65,
		Fx32: 3735928559, Fx64: 81985529216486895, Sfx32: -2, Sfx64: 2,
		F: math.Float32frombits(0x3fc00000), D: math.Float64frombits(0xc002000000000000),
		Text: "grüße, 世界", Raw: []byte{0, 1, 2, 255}, Color: Blue,
	}, "080007010cff880f0d9593d89fee470aac020b8080808080200c80010d81010aeffdb6f50d0bef9bafcdf8acd191010c030d040e3fc000000fc002000000000000050a0f6772c3bcc39f652c20e4b896e7958c040a04000102ff0a03"},
	{"Scalars zero", &Scalars{},
		"080007000c000d000a000b000c000d000a000b000c000d000e000000000f0000000000000000050a00040a000a00"},
	{"Nested", &Nested{
		First: &Inner{ID: -1, Name: "in"}, Label: "out", Middle: &Middle{Inner: &Inner{}, Weight: 9},
	}, "0800050a036f757408000c01050a02696e08000b0908000c00050a0000"},
	{"Lists", &Lists{
		Flags: []bool{true}, I32s: []int32{-1, 2}, Texts: []string{"a", ""}, Inners: []*Inner{{ID: 1, Name: "x"}},
	}, "080001070a010701010c0a020c010c04010d0a00010a0a00010b0a00010c0a00010d0a00010a0a00010d0a00010e0a00010f0a0001050a02050a0161050a0001030a0108000c02050a0178"},
	{"Maps", &Maps{
		Words: map[string]string{"a": "b"}, ByI32: map[int32]string{-1: "m"}, ByU64: map[uint64]bool{1: true},
		ByFlag: map[bool]int64{true: -1}, Prices: map[string]float64{"p": 0.5},
		Colors: map[string]Color{"r": Red}, Inners: map[string]*Inner{"i": {ID: 1}},
	}, "08000205050a01050a0161050a0162020c050a010c01050a016d020b070a010b01070102070d0a0107010d0102050f0a01050a01700f3fe000000000000002050a0a01050a01720a010205030a01050a016908000c02050a00"},
	{"Mixed", &Mixed{
		MessageFirst: &Inner{ID: 1}, ListSecond: []string{"a"}, ScalarThird: 3, MapFourth: map[string]int32{"four": 4},
		ScalarFifth: "five", ListSixth: []*Inner{{ID: 6}}, EnumSeventh: Green,
	}, "08000c06050a04666976650a0201050a01050a016101030a0108000c0c050a0008000c02050a0002050c0a01050a04666f75720c08"},
	{"AddRequest", &AddRequest{A: 1, B: 2}, "08000d020d04"},
	{"Sum", &Sum{Total: 3, Count: 2}, "08000d060d04"},
	{"Empty", &Empty{}, "0800"},
	{"Text", &Text{Value: "no such thing"}, "0800050a0d6e6f2073756368207468696e67"},
	{"Range", &Range{From: 5, Count: -1}, "08000d0a0d01"},
	{"Count", &Count{Value: 7}, "08000d0e"},
}

func TestEncodingsAreTheMeasuredOnes(t *testing.T) {
	for _, m := range measured {
		if got := hex.EncodeToString(Marshal(m.message)); got != m.hex {
			t.Errorf("%s\n got %s\nwant %s", m.name, got, m.hex)
		}
	}
}

func TestMeasuredEncodingsSurviveDecoding(t *testing.T) {
	for _, m := range measured {
		if got := recode(t, m.name, m.message, m.hex); got != m.hex {
			t.Errorf("%s\n got %s\nwant %s", m.name, got, m.hex)
		}
	}
}

func recode(t *testing.T, name string, like Message, encoded string) string {
	t.Helper()
	content, err := hex.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	for _, empty := range byName {
		m := empty()
		if reflect.TypeOf(m) != reflect.TypeOf(like) {
			continue
		}
		if err := Unmarshal(content, m); err != nil {
			return "error: " + err.Error()
		}
		return hex.EncodeToString(Marshal(m))
	}
	t.Fatalf("%s is not registered", name)
	return ""
}

func TestFormsOfTheRoot(t *testing.T) {
	cases := []struct{ name, message, in, out string }{
		{"nil", "Count", "00", "08000d00"},
		{"nil, more bytes", "Count", "00ffff", "08000d00"},
		{"error", "Count", "06050a036e6f21", "06050a036e6f21"},
		{"error with an empty text", "Count", "06050a00", "06050a00"},
		{"error, more bytes", "Count", "06050a0161ffffff", "06050a0161"},
		{"flags go out again", "Count", "08ff0d02", "08ff0d02"},
		{"trailing bytes", "Count", "08000d02ffff", "08000d02"},
		{"unknown enum index", "Mixed", "08000c00050a000a6301050a0001030a000002050c0a00", "08000c00050a000a6301050a0001030a000002050c0a00"},
		{"nil map", "Mixed", "08000c00050a000a0001050a0001030a000000", "08000c00050a000a0001050a0001030a000002050c0a00"},
		{"nil item", "Mixed", "08000c00050a000a0001050a0001030a01000000", "08000c00050a000a0001050a0001030a0108000c00050a000002050c0a00"},
		{"nested error", "Middle", "08000b0006050a0161", "08000b0006050a0161"},
		{"key twice", "Mixed", "08000c00050a000a0001050a0001030a000002050c0a02050a01610c02050a01610c04", "08000c00050a000a0001050a0001030a000002050c0a01050a01610c04"},
	}
	for _, c := range cases {
		m, _ := New(c.message)
		if got := recode(t, c.name, m, c.in); got != c.out {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, c.out)
		}
	}
	if got := hex.EncodeToString(Marshal(nil)); got != "00" {
		t.Errorf("nil is %s", got)
	}
	if got := hex.EncodeToString(MarshalError("EOF")); got != "06050a03454f46" {
		t.Errorf("EOF is %s", got)
	}
}

func TestBadContentIsAnError(t *testing.T) {
	for name, in := range map[string]string{
		"nothing at all":              "",
		"no flags":                    "0d02",
		"error cut short":             "06050a0561",
		"a field is missing":          "0800",
		"field of another kind":       "08000c02",
		"varint cut short":            "08000d80",
		"varint too long":             "08000dffffffffffffffffffff01",
		"varint cut short, no second": "08000dff",
	} {
		content, _ := hex.DecodeString(in)
		if err := Unmarshal(content, new(Count)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	content, _ := hex.DecodeString("08000c00050a000a0001050affffffff0f")
	if err := Unmarshal(content, new(Mixed)); err == nil {
		t.Error("a list of 4294967295 items in no bytes was accepted")
	}
}

func TestStreamOpen(t *testing.T) {
	for operation, want := range map[uint16]string{
		10: "090a", 21: "0915", 127: "097f", 128: "098001", 300: "09ac02", 16383: "09ff7f", 16384: "09808001", 65535: "09ffff03",
	} {
		content := MarshalOpen(operation)
		if got := hex.EncodeToString(content); got != want {
			t.Errorf("%d is %s, not %s", operation, got, want)
		}
		if got, err := UnmarshalOpen(content); err != nil || got != operation {
			t.Errorf("%s is %d, %v", want, got, err)
		}
	}
	if _, err := UnmarshalOpen([]byte{9, 0x80}); err == nil {
		t.Error("an operation cut short was accepted")
	}
}
