package timeline

import (
	"testing"
	"time"
)

// Each owner has a bar of its own, however short it held the task beside the others.
func TestTheBarOfAShortTimeIsSeen(t *testing.T) {
	from := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	bars := []Bar{
		{Agent: "ann", From: from, Until: from.Add(time.Millisecond)},
		{Agent: "bob", From: from.Add(time.Millisecond), Until: from.Add(2 * time.Millisecond)},
		{Agent: "carl", From: from.Add(2 * time.Millisecond)},
	}
	end := 0
	for _, b := range scaled(bars, from, from.Add(time.Hour)) {
		if b.X < end || b.Width < 4 {
			t.Errorf("%s is at %d with %d, and the one before ends at %d", b.Agent, b.X, b.Width, end)
		}
		end = b.X + b.Width
	}
	if end < 995 || end > 1000 { // in whole parts
		t.Errorf("the bars end at %d", end)
	}
}
