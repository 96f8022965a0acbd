package event

import (
	"encoding/json"
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxResult is how many bytes the text of a result may have, and its data.
const MaxResult = 256 << 10

// Result is what came of a task.
type Result struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Code int             `json:"code,omitzero"` // exit code, where a program did the work
	// Review lists the criteria that no program can check; the server fills it in.
	Review []string `json:"review,omitempty"`
}

// Check refuses a result that is too large (too_large) or malformed (invalid).
func (r Result) Check() error {
	if err := CheckText("the result's text", r.Text, MaxResult); err != nil {
		return refusal.In("text", err)
	}
	return refusal.In("data", CheckJSON("the result's data", r.Data, MaxResult))
}

// Compact is the result with its data as it is recorded, without insignificant space. The data must be JSON.
func (r Result) Compact() Result {
	r.Data = compact(r.Data)
	return r
}

// Weight is about how many bytes the result takes in memory. A nil result takes none.
func (r *Result) Weight() int {
	if r == nil {
		return 0
	}
	return len(r.Text) + len(r.Data)
}

// ChildResult is what came of one child of a task.
type ChildResult struct {
	Task   string  `json:"task"`
	To     string  `json:"to"`
	State  State   `json:"state"`
	Result *Result `json:"result,omitempty"`
}

// Collect makes one result of the children's: a list of them, or, if that is larger than MaxResult, of the children's states.
func Collect(results []ChildResult) Result {
	text := refusal.Counted(len(results), "result")
	if n := given(results); n < len(results) {
		text = fmt.Sprintf("%d of %d results", n, len(results))
	}
	data, err := json.Marshal(results)
	if err == nil && len(data) > MaxResult {
		brief := make([]ChildResult, len(results))
		for i, p := range results {
			p.Result = nil
			brief[i] = p
		}
		text += ", too large for one: each child has its own"
		data, err = json.Marshal(brief)
	}
	if err != nil { // results were checked to be JSON when they came in
		return Result{Text: "the children's results could not be collected: " + err.Error()}
	}
	return Result{Text: text, Data: data}
}

// given counts the children that have a result.
func given(results []ChildResult) (n int) {
	for _, p := range results {
		if p.Result != nil {
			n++
		}
	}
	return n
}
