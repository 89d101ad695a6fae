package service

// This file creates the text that Describe returns.

import (
	"fmt"
	"math"

	"example.test/interop/common/messages"
)

// Description returns a line with every field of m.
func Description(m *messages.Scalars) string {
	integers := fmt.Sprintf("flag=%t i32=%d i64=%d u32=%d u64=%d s32=%d s64=%d fx32=%d fx64=%d sfx32=%d sfx64=%d",
		m.Flag, m.I32, m.I64, m.U32, m.U64, m.S32, m.S64, m.Fx32, m.Fx64, m.Sfx32, m.Sfx64)
	return fmt.Sprintf("%s f=%08x d=%016x text=%x raw=%x color=%d",
		integers, math.Float32bits(m.F), math.Float64bits(m.D), m.Text, m.Raw, uint32(m.Color))
}
