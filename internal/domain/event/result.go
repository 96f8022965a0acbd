package event

import (
	"encoding/json"
	"fmt"
)

// Part is what came of one of several tasks that make up a larger one.
type Part struct {
	Task   string  `json:"task"`
	To     string  `json:"to"`
	State  State   `json:"state"`
	Result *Result `json:"result,omitempty"`
}

// Collect makes one result of several: all of them, or, where they are too large for one, how each task stands.
func Collect(parts []Part) Result {
	text := fmt.Sprintf("%d results", len(parts))
	if n := given(parts); n < len(parts) {
		text = fmt.Sprintf("%d of %d results", n, len(parts))
	}
	data, err := json.Marshal(parts)
	if err == nil && len(data) > MaxResult {
		brief := make([]Part, len(parts))
		for i, p := range parts {
			p.Result = nil
			brief[i] = p
		}
		text += ", too large for one: look at the children"
		data, err = json.Marshal(brief)
	}
	if err != nil { // results were checked to be JSON when they came in
		return Result{Text: "the children's results could not be collected: " + err.Error()}
	}
	return Result{Text: text, Data: data}
}

// given is how many of the parts have a result.
func given(parts []Part) (n int) {
	for _, p := range parts {
		if p.Result != nil {
			n++
		}
	}
	return n
}

// Weight is about how many bytes the result takes in memory.
func (r *Result) Weight() int {
	if r == nil {
		return 0
	}
	return len(r.Text) + len(r.Data)
}
