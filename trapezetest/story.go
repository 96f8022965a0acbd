package trapezetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// event is one line of a story.
type event struct {
	at   time.Time
	who  string
	text string
}

// Story tells what happened to the task: each hop with what it kept, added and lost, and then every event of the record, with what the
// scripted agents met with, in the order of the server's clock.
func (c *Chain) Story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the story of task %s, %q: %s", c.Task.ID, c.Task.Intent, c.Task.State)
	if p := c.Task.Parked; p != nil {
		fmt.Fprintf(&b, " (%s: %s)", p.Cause, p.Detail)
	}
	b.WriteString("\n")
	if r := c.Task.Result; r != nil {
		fmt.Fprintf(&b, "  result: %q\n", text(*r))
	}
	if len(c.Hops) == 0 {
		b.WriteString("  nobody ever took it\n")
	}
	for _, h := range c.Hops {
		h.tell(&b)
	}
	for _, e := range c.events() {
		fmt.Fprintf(&b, "  %10s  %-16s %s\n", "+"+e.at.Sub(Epoch).Round(time.Millisecond).String(), e.who, e.text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (h Hop) tell(b *strings.Builder) {
	fmt.Fprintf(b, "  hop %d: %s to %s", h.Number, h.From, h.To)
	if h.Reason != "" {
		fmt.Fprintf(b, " (%s, %s)", h.Kind, h.Reason)
	}
	switch {
	case h.Budget > 0:
		fmt.Fprintf(b, ", %d tokens of %d", h.Tokens, h.Budget)
	case h.Tokens > 0:
		fmt.Fprintf(b, ", %d tokens", h.Tokens)
	}
	if !h.IntentKept {
		b.WriteString(", WITHOUT the intent")
	}
	b.WriteString("\n")
	for _, group := range []struct {
		word    string
		entries []Entry
	}{{"kept ", h.Kept}, {"added", h.Added}} {
		for _, e := range group.entries {
			fmt.Fprintf(b, "    %s %s\n", group.word, e)
		}
	}
	for _, l := range h.Lost {
		fmt.Fprintf(b, "    LOST  %s\n", l)
	}
}

// events are the record's and the agents' lines, in order of time.
func (c *Chain) events() (lines []event) {
	for _, e := range c.Trail.Entries {
		if e.Event == "lease-renewed" || e.Event == "envelope-rendered" { // the hops tell of the latter
			continue
		}
		lines = append(lines, event{e.Timestamp, e.Agent, e.Event + note(e.Details)})
	}
	lines = append(lines, c.remarks()...)
	slices.SortStableFunc(lines, func(a, b event) int { return a.at.Compare(b.at) })
	return lines
}

// note is what says most in the details of an event.
func note(raw json.RawMessage) string {
	var d struct {
		To     any    `json:"to"`
		Why    string `json:"why"`
		Cause  string `json:"cause"`
		Detail string `json:"detail"`
		Note   string `json:"note"`
		Offer  int    `json:"offer"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return ""
	}
	var parts []string
	if d.To != nil {
		parts = append(parts, fmt.Sprintf("to %v", d.To))
	}
	if d.Offer > 1 {
		parts = append(parts, fmt.Sprintf("offer %d", d.Offer))
	}
	for _, s := range []string{d.Why, d.Cause, d.Detail, d.Note} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
