package event_test

import (
	"math"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestADurationIsWrittenWithoutZerosAtItsEnd(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "15s": 15 * time.Second, "10m": 10 * time.Minute, "1m30s": 90 * time.Second, "24h": 24 * time.Hour, "10h": 10 * time.Hour, "1h30m": 90 * time.Minute,
		"1h10m": 70 * time.Minute, "1h0m30s": time.Hour + 30*time.Second, "-5m": -5 * time.Minute, "20ms": 20 * time.Millisecond, "2160h": event.MaxDuration,
	} {
		if got := event.Duration(d).String(); got != want {
			t.Errorf("%s is written %s, want %s", d, got, want)
		}
		var read event.Duration
		if b, err := event.Duration(d).MarshalText(); err != nil || string(b) != want || read.UnmarshalText(b) != nil || read != event.Duration(d) {
			t.Errorf("%s is %q, and read as %s (%v)", d, b, read, err)
		}
	}
}

func TestDurationsAreWithinBounds(t *testing.T) {
	for d, ok := range map[time.Duration]bool{
		0: true, event.MinDuration: true, event.MaxDuration: true, event.MinDuration - 1: false, event.MaxDuration + 1: false, -time.Second: false,
		math.MaxInt64: false, math.MinInt64: false,
	} {
		if err := (event.Timeouts{Lease: event.Duration(d)}).Check(); (err == nil) != ok {
			t.Errorf("%s: %v", d, err)
		}
	}
}
