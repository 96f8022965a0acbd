package envelopes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// says adds facts as an author does, and returns the refusal.
func says(doc *envelope.Envelope, by string, facts ...Point) error {
	after := *doc
	Content{Facts: facts}.addTo(&after, by, rules(by, task.Task{Requester: "agent/lead"}))
	err := checkShare(doc, &after, by)
	if err == nil {
		*doc = after
	}
	return err
}

func TestNobodyTakesTheShareOfOthers(t *testing.T) {
	for name, fact := range map[string]Point{"many": {Text: "x"}, "long": {Text: strings.Repeat("x", envelope.MaxItemText)}} {
		var doc envelope.Envelope
		for n, by := range []string{"mal", "lead", "admin/ann", "bob", "eve"} {
			added := 0
			for added < envelope.MaxPoints && says(&doc, by, fact) == nil {
				added++
			}
			if added == 0 || added == envelope.MaxPoints {
				t.Errorf("%s: author %d, %s, adds %d", name, n, by, added)
			}
		}
		err := says(&doc, "mal", fact)
		if e, ok := refusal.As(err); !ok || e.Code != refusal.TooLarge || !strings.Contains(e.Message, "mal would have ") || !strings.Contains(e.Hint, "your share is ") {
			t.Errorf("%s: refused by %v", name, err)
		}
		own := doc.KeyFacts[0]
		if err := says(&doc, "mal", Point{ID: own.ID, Text: "less"}); err != nil {
			t.Errorf("%s: what replaces its own is refused: %v", name, err)
		}
	}
}

func TestAnAgentPinsLittleAndTheRequesterWhatItWants(t *testing.T) {
	for _, c := range []struct {
		by    string
		long  bool
		pins  int
		ruled bool
	}{{"mal", false, maxPins, false}, {"mal", true, maxPinBytes / 500, false}, {"lead", false, 60, true}, {"operator/olga", true, 60, true}} {
		var doc envelope.Envelope
		n := 0
		for ; n < 60; n++ {
			text := fmt.Sprint(n)
			if c.long {
				text = strings.Repeat("x", 500)
			}
			if says(&doc, c.by, Point{Text: text, Pinned: true}) != nil {
				break
			}
		}
		if n != c.pins || doc.KeyFacts[0].Ruled != c.ruled {
			t.Errorf("%+v: %d pins, ruled %t", c, n, doc.KeyFacts[0].Ruled)
		}
		if err := says(&doc, c.by, Point{Text: "not pinned"}); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	doc := envelope.Envelope{KeyFacts: []envelope.Item{{ID: "f1", Text: "x", By: "lead", Weight: envelope.Weight{Pinned: true}, Ruled: true}}}
	if err := says(&doc, "mal", Point{ID: "f1", Text: "y"}); err != nil || doc.KeyFacts[0].Ruled || !doc.KeyFacts[0].Pinned {
		t.Errorf("reworded by another: %+v, %v", doc.KeyFacts, err)
	}
}
