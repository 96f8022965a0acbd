package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Bar is the time for which one agent held the task, in thousandths of the task's life.
type Bar struct {
	Agent    string
	Epoch    uint64
	From     time.Time
	Until    time.Time // zero: it still holds the task
	X, Width int
	Color    int    // one of eight
	Anchor   string // of the moment at which it began
}

// Bars returns who held a task when: from the entries after which somebody owns it at an epoch.
func Bars(entries []client.AuditEntry, t client.Task, now time.Time) (bars []Bar) {
	end := now
	if !t.Ended.IsZero() {
		end = t.Ended
	}
	owner, epoch := "", uint64(0)
	for i, e := range entries {
		var d struct {
			Agent string `json:"agent"`
			To    any    `json:"to"`
			Epoch uint64 `json:"epoch"`
			After *struct {
				Owner string `json:"owner"`
				Epoch uint64 `json:"epoch"`
			} `json:"after"`
		}
		if json.Unmarshal(e.Details, &d) != nil {
			continue
		}
		var next string
		var at uint64
		switch {
		case d.After != nil:
			next, at = d.After.Owner, d.After.Epoch
		case e.Event == "task-started":
			next, at = d.Agent, epoch+1
		default:
			continue
		}
		if next == owner && at == epoch {
			continue
		}
		if n := len(bars); n > 0 && bars[n-1].Until.IsZero() {
			bars[n-1].Until = e.Timestamp
		}
		if next != "" {
			bars = append(bars, Bar{Agent: next, Epoch: at, From: e.Timestamp, Anchor: fmt.Sprintf("p%d-%d", e.Position, i)})
		}
		owner, epoch = next, at
	}
	if n := len(bars); n > 0 && t.State.Final() && bars[n-1].Until.IsZero() {
		bars[n-1].Until = end
	}
	return scaled(bars, t.Created, end)
}

// Owners are the bars by whose colours the agents are told apart: the first of each.
func Owners(bars []Bar) (owners []Bar) {
	for _, b := range bars {
		if !slices.ContainsFunc(owners, func(o Bar) bool { return o.Agent == b.Agent }) {
			owners = append(owners, b)
		}
	}
	return owners
}

func scaled(bars []Bar, from, until time.Time) []Bar {
	whole := max(until.Sub(from), time.Millisecond)
	colors := map[string]int{}
	for i := range bars {
		b := &bars[i]
		end := b.Until
		if end.IsZero() {
			end = until
		}
		b.X = int(1000 * b.From.Sub(from) / whole)
		b.Width = max(int(1000*end.Sub(b.From)/whole), 4)
		if i > 0 { // the bar of a short time is beside the next one, and not behind it
			after := bars[i-1].X + bars[i-1].Width
			if late := after - b.X; late > 0 {
				b.X, b.Width = after, max(b.Width-late, 4)
			}
		}
		if _, ok := colors[b.Agent]; !ok {
			colors[b.Agent] = len(colors) % 8
		}
		b.Color = colors[b.Agent]
	}
	return bars
}
