package event

import (
	"math"
	"testing"
	"time"
)

func TestDurationsAreWithinBounds(t *testing.T) {
	for d, ok := range map[time.Duration]bool{
		0: true, MinDuration: true, MaxDuration: true, MinDuration - 1: false, MaxDuration + 1: false, -time.Second: false,
		math.MaxInt64: false, math.MinInt64: false,
	} {
		if err := (Timeouts{Lease: Duration(d)}).Check(); (err == nil) != ok {
			t.Errorf("%s: %v", d, err)
		}
	}
}
