package drift_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
)

func TestAFactThatAnotherAuthorRewordsUnderItsIDIsReplacedAndDoesNotSurvive(t *testing.T) {
	chain := []envelope.Envelope{doc("f1 red", "f2 blue"), doc("f1 green", "f2 navy"), doc("f1 green", "f2 navy"), doc("f1 red", "f2 navy")}
	for i := range chain {
		chain[i].KeyFacts[0].By, chain[i].KeyFacts[1].By = "ada", "ada"
	}
	chain[1].KeyFacts[0].By, chain[2].KeyFacts[0].By = "eve", "eve"
	for n, want := range map[int]drift.Kept{
		2: {Introduced: 3, Surviving: 2, Verbatim: 1, Replaced: 1, Rate: 2.0 / 3},
		3: {Introduced: 3, Surviving: 2, Verbatim: 1, Replaced: 1, Rate: 2.0 / 3},
		4: {Introduced: 4, Surviving: 2, Verbatim: 1, Replaced: 2, Rate: 0.5}, // its author says again what it was
	} {
		if got := drift.Of(chain[:n]).Retention.Facts; got != want {
			t.Errorf("%d envelopes: %+v, want %+v", n, got, want)
		}
	}
}
