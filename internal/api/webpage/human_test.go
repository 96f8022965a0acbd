package webpage_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

func TestADurationIsWrittenAsPeopleReadIt(t *testing.T) {
	for text, want := range map[string]string{
		"5m0s": "5 minutes", "1h0m0s": "1 hour", "24h": "24 hours", "48h": "2 days", "1m30s": "1 minute 30 seconds", "26h3m9s": "26 hours 3 minutes", "20ms": "20 ms", "90s": "1 minute 30 seconds",
		"1.5s": "1.5 s", "2.4s": "2 seconds", "soon": "soon",
	} {
		if got := human.Lasting(text); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
	if got := human.Last("1h") + ", " + human.Last("5m"); got != "last hour, last 5 minutes" {
		t.Error(got)
	}
	if got := human.Hours(168); got != "7 days" {
		t.Errorf("a week: %q", got)
	}
	if got := human.Span(time.Hour + 5*time.Second); got != "1 hour 5 seconds" {
		t.Error(got)
	}
}

func TestPeopleTypeTimesInSeveralWays(t *testing.T) {
	now := time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, " ": {}, "90m": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7), "1h30m": now.Add(-90 * time.Minute), "2026-11-26": now.Add(-38*time.Hour - 30*time.Minute),
		"2026-11-27 14:00": now.Add(-30 * time.Minute), "2026-11-27T14:00:30": now.Add(-29*time.Minute - 30*time.Second), "2026-11-27t15:00:00+01:00": now.Add(-30 * time.Minute),
	} {
		if got, err := human.Past(now, text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"yesterday", "-2h", "0h", "2", "d", "-1d", "0d", "9999999d", "2026-13-01", "14:00"} {
		if got, err := human.Past(now, text); err == nil {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}

func TestTheBeginningOfATextIsNeverBlank(t *testing.T) {
	for text, want := range map[string]string{"": "", "\u00a0\u2800": "(blank)", "\n": "(blank)", "a\u2800\nb": "a\u2800 b", "abcdef": "abcd…"} {
		if got := human.Short(4, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTimesInTheTextsOfTheServerAreForPeople(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		"no time here": "no time here",
		"zoe has claimed ticket task_1.k1 until 2026-11-27T14:30:00Z": "zoe has claimed ticket task_1.k1 until 2026-11-27 14:30:00 UTC",
		"the deadline 2026-11-27T14:30:00.25+01:00 has passed":        "the deadline 2026-11-27 13:30:00 UTC has passed",
		"2026-13-27T14:30:00Z": "2026-13-27T14:30:00Z",
	} {
		if got := human.Times(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A task that is parked is a dead letter, of which there can be several.
func TestAStateIsWrittenAsPeopleReadIt(t *testing.T) {
	if got := human.Label("handing_off") + ", " + human.Label("parked") + ", " + human.Counted(1, "parked") + ", " + human.Counted(2, "parked") + ", " + human.Counted(2, "handing_off") + ", " + human.Heading("parked") + ", " + human.Heading("pending"); got !=
		"handing off, dead letter, 1 dead letter, 2 dead letters, 2 handing off, Dead letters, Pending" {
		t.Error(got)
	}
}

func TestAFilterSaysWhatItIsSetTo(t *testing.T) {
	if got := strings.Join(human.Narrowed(url.Values{"state": {"handing_off"}, "live": {"1"}, "owner": {"ann_b"}, "since": {"2h"}, "after": {"task_1"}, "text": {""}}), ", "); got != "handing off, not ended, owned by ann_b, changed since 2h" {
		t.Error(got)
	}
}

func TestATextHasAHeadline(t *testing.T) {
	for text, want := range map[string][2]string{
		"More than 0.5 % of the handoffs failed. Of all, or of some. No more.": {"More than 0.5 % of the handoffs failed.", "Of all, or of some. No more."},
		"A circuit is open: it gets no offers.":                                {"A circuit is open: it gets no offers.", ""},
		"":                                                                     {"", ""},
	} {
		if got := [2]string{human.Headline(text), human.Details(text)}; got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
