package usecase_test

import (
	"context"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// late is a ledger, with its views, that has an entry at 39 and reports it later.
type late struct{ ledger.Ledger }

func (late) Last(context.Context) (ledger.Position, error) { return 38, nil }

func (late) Read(_ context.Context, after ledger.Position, _ int) ([]ledger.Entry, error) {
	if after < 39 {
		return make([]ledger.Entry, 1), nil
	}
	return nil, nil
}

type lateViews struct{ view.Freshness }

func (lateViews) Position() ledger.Position { return 38 }

func TestThePositionOfAnEntryThatIsReportedLateIsValid(t *testing.T) {
	p := positions.New(late{}, view.Store{Freshness: lateViews{}}, nil)
	for at, want := range map[ledger.Position]refusal.Code{38: "", 39: "", 40: refusal.Invalid} {
		if err := p.Check(t.Context(), at); refusal.CodeOf(err) != want {
			t.Errorf("%d: %v", at, err)
		}
	}
}
