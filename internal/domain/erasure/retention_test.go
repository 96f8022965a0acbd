package erasure

import (
	"testing"
	"time"
)

func TestTheLongestLeastAndTheShortestMostCount(t *testing.T) {
	const day = 24 * time.Hour
	rules := Retentions{
		{Least: day}, {Kind: Task, Least: 3 * day, Most: 90 * day}, {Tag: "short", Most: 2 * day}, {Kind: Memory, Tag: "short", Most: day},
	}
	short := map[Subject]bool{{Task, "t1"}: true, {Tag, "short"}: true}
	plain := map[Subject]bool{{Task, "t1"}: true, {Tag, "plain"}: true}
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		kind       Kind
		names      map[Subject]bool
		until, due time.Duration // 0: none
	}{
		{Task, plain, 3 * day, 90 * day},
		{Task, short, 3 * day, 3 * day}, // keeping it comes first
		{Memory, short, day, day},
		{Conversation, short, day, 2 * day},
		{Conversation, plain, day, 0},
	} {
		until, due := rules.Kept(x.kind, x.names, since)
		if !until.Equal(since.Add(x.until)) || due.IsZero() != (x.due == 0) || x.due > 0 && !due.Equal(since.Add(x.due)) {
			t.Errorf("%s %v: kept until %s, due %s", x.kind, x.names, until, due)
		}
	}
}
