//go:build outside

package scenario

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/record/view/viewtest"
)

func TestViewsThatFollowPostgreSQLPassTheSuite(t *testing.T) {
	db, n := pgtest.Start(t), 0
	viewtest.Run(t, func(t *testing.T) (ledger.Ledger, viewtest.Store) {
		n++
		l, err := pglog.Open(t.Context(), db.URL(), pglog.Options{Schema: fmt.Sprint("views", n)})
		return followed(t, l, err)
	})
}

func TestViewsThatFollowJetStreamPassTheSuite(t *testing.T) {
	c, n := natstest.Start(t, 3), 0
	conn := c.Connect(t, 0)
	viewtest.Run(t, func(t *testing.T) (ledger.Ledger, viewtest.Store) {
		n++
		l, err := natslog.Open(t.Context(), conn, natslog.Options{Name: fmt.Sprint("VIEWS", n), Synced: true})
		return followed(t, l, err)
	})
}

// followed returns a ledger that was opened, and views that follow it.
func followed(t *testing.T, l ledger.Ledger, err error) (ledger.Ledger, viewtest.Store) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	v, err := sqlview.Follow(t.Context(), l, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, viewtest.Store{Store: v.Store(), Rebuilder: v}
}
