package openai

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// answer is the answer of the model.
type answer struct {
	Action     event.Action `json:"action"`
	To         string       `json:"to"`
	Kind       event.Kind   `json:"kind"`
	Reason     event.Reason `json:"reason"`
	Why        string       `json:"why"`
	Confidence *float64     `json:"confidence"`
}

// read parses an answer, or refuses (unavailable) one that does not have the required form or chooses something that was not
// offered.
func (q *question) read(content string) (routing.Advice, error) {
	dec := json.NewDecoder(strings.NewReader(content))
	dec.DisallowUnknownFields()
	var a answer
	if err := dec.Decode(&a); err != nil {
		return routing.Advice{}, unavailable("the model's answer does not have the required form: %s", refusal.Clip(err.Error(), 200))
	}
	if _, err := dec.Token(); err != io.EOF {
		return routing.Advice{}, unavailable("the model's answer has more text after the JSON")
	}
	if err := q.check(a); err != nil {
		return routing.Advice{}, err
	}
	advice := routing.Advice{HandOff: a.Action == event.ActionHandOff, Why: plain(a.Why), Confidence: *a.Confidence}
	if advice.HandOff {
		c := q.choices[a.To]
		advice.Agent, advice.Capability, advice.Kind, advice.Reason = c.Agent, c.Capability, a.Kind, a.Reason
	}
	return advice, nil
}

func (q *question) check(a answer) error {
	_, offered := q.choices[a.To]
	switch {
	case a.Action == "":
		return unavailable("the model's answer does not say what to do")
	case a.Confidence == nil || !(*a.Confidence >= 0 && *a.Confidence <= 1):
		return unavailable("the model's answer has no confidence from 0 to 1")
	case plain(a.Why) == "":
		return unavailable("the model's answer does not say why")
	case a.Action == event.ActionKeep:
		return nil
	case !offered:
		return unavailable("the model chooses %.80q, which it was not offered", a.To)
	case !slices.Contains(kinds, a.Kind):
		return unavailable("the model chooses the kind %.80q, which it may not", string(a.Kind))
	case !slices.Contains(reasons, a.Reason):
		return unavailable("the model gives the reason %.80q, which it may not", string(a.Reason))
	}
	return nil
}

// plain returns a text as one line of bounded length, without invisible characters.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(refusal.Clip(text, maxWhy))
}
