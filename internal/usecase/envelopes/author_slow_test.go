//go:build slow

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
	Content{Facts: facts}.addTo(&after, nil, by, rules(by, task.Task{Requester: "agent/lead"}))
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

func TestWhatTheRequesterFindsImportantIsItsOwn(t *testing.T) {
	weighed := envelope.Weight{Importance: 1}
	for name, c := range map[string]struct {
		by    string
		add   Point
		ruled bool
		envelope.Weight
	}{
		"said by the requester":              {"lead", Point{Text: "x", Importance: 0.9}, true, envelope.Weight{Importance: 0.9}},
		"said by an operator":                {"operator/olga", Point{Text: "x", Importance: 1}, true, weighed},
		"said by an agent":                   {"mal", Point{Text: "x", Importance: 1}, false, weighed},
		"not important":                      {"lead", Point{Text: "x", Importance: 0.8}, false, envelope.Weight{Importance: 0.8}},
		"pinned by an agent":                 {"mal", Point{ID: "f1", Text: "ruled", Pinned: true}, true, weighed},
		"made less of by an agent":           {"mal", Point{ID: "f1", Text: "ruled", Importance: 0.1}, true, weighed},
		"made less of by the requester":      {"lead", Point{ID: "f1", Text: "ruled", Importance: 0.1}, false, envelope.Weight{Importance: 0.1}},
		"reworded by an agent":               {"mal", Point{ID: "f1", Text: "else"}, false, weighed},
		"its own, made less of by the agent": {"mal", Point{ID: "f2", Text: "mal's", Importance: 0.1}, true, weighed},
	} {
		doc := envelope.Envelope{KeyFacts: []envelope.Item{
			{ID: "f1", Text: "ruled", By: "lead", Weight: weighed, Ruled: true}, {ID: "f2", Text: "mal's", By: "mal", Weight: weighed, Ruled: true},
		}}
		at := 2
		switch c.add.ID {
		case "f1":
			at = 0
		case "f2":
			at = 1
		}
		err := says(&doc, c.by, c.add)
		if c.add.Text == "else" { // it is the newest now
			at = 1
		}
		if got := doc.KeyFacts[at]; err != nil || got.Ruled != c.ruled || got.Weight != c.Weight {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
