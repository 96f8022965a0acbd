package argument

import (
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// filledSteps bounds the check of a value that may be filled in, and of the text beside it.
const filledSteps = 100_000

var filledChecks = expect.New(expect.Options{Steps: filledSteps})

// FilledIn reports whether an empty value stands beside the text of a result only because each field has to be filled: it is none that
// the schema allows, or the text is.
func FilledIn(schema, value json.RawMessage, text string) bool {
	meets := func(value json.RawMessage) bool {
		_, err := filledChecks.Check(event.Expected{Schema: schema}, event.Result{Data: value})
		return err == nil
	}
	return !meets(value) || json.Valid([]byte(text)) && meets(json.RawMessage(text))
}
