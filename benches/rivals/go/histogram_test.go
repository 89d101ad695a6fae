package main

import (
	"testing"
	"time"
)

func TestIndexAndValueBelongTogether(t *testing.T) {
	for _, nanos := range []uint64{0, 1, 63, 64, 65, 1000, 123456, 1 << 40} {
		low, high := value(index(nanos)), value(index(nanos)+1)
		if nanos < low || nanos >= high {
			t.Errorf("%d is not in [%d, %d)", nanos, low, high)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var h histogram
	for micros := 1; micros <= 1000; micros++ {
		h.record(time.Duration(micros) * time.Microsecond)
	}
	for part, want := range map[float64]float64{0.5: 500, 0.99: 990, 1: 1000} {
		if got := h.quantile(part); got < want*0.98 || got > want*1.02 {
			t.Errorf("quantile %v is %v, want about %v", part, got, want)
		}
	}
}
