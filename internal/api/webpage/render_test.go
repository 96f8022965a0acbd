package webpage

import (
	"testing"
	"time"
)

func TestADurationIsWrittenAsPeopleReadIt(t *testing.T) {
	for text, want := range map[string]string{
		"5m0s": "5 minutes", "1h0m0s": "1 hour", "24h": "24 hours", "48h": "2 days", "1m30s": "1 minute 30 seconds", "26h3m9s": "26 hours 3 minutes", "20ms": "20 ms", "90s": "1 minute 30 seconds",
		"1.5s": "1.5 s", "2.4s": "2 seconds", "soon": "soon",
	} {
		if got := lasting(text); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
	if got := last("1h") + ", " + last("5m"); got != "last hour, last 5 minutes" {
		t.Error(got)
	}
	if got := hours(168); got != "7 days" {
		t.Errorf("a week: %q", got)
	}
	if got := span(time.Hour + 5*time.Second); got != "1 hour 5 seconds" {
		t.Error(got)
	}
}
