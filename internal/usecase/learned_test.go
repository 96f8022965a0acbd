package usecase_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// A call that finds out who calls has waited for what the caches of its server learn: what it does next need not look at the end of the record again.
func TestACallerSaysWhetherTheCachesHadLearnedOfAllBeforeTheCall(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	views, err := sqlview.Follow(context.Background(), l, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(views.Close(), l.Close()); err != nil {
			t.Error(err)
		}
	})
	var broken error
	current := stream.NewCurrent(func(ctx context.Context) (ledger.Position, error) {
		if broken != nil {
			return 0, broken
		}
		return l.Last(ctx)
	})
	alone, err := usecase.New(l, views.Store(), usecase.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := usecase.New(l, views.Store(), usecase.Options{Current: current})
	if err != nil {
		t.Fatal(err)
	}
	text, err := alone.Tokens.Bootstrap(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	last, err := l.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	current.Told(last)
	learned := func(what string, u *usecase.UseCases, want bool) {
		t.Helper()
		if c, err := u.Tokens.Authenticate(t.Context(), text); err != nil || c.Learned != want {
			t.Errorf("%s: %t, %v", what, c.Learned, err)
		}
	}
	learned("its first call at this server", one, true)
	learned("the next", one, true)
	learned("no other server writes", alone, false)
	broken = errors.New("no answer")
	learned("the end of the record cannot be looked up", one, false)
}
