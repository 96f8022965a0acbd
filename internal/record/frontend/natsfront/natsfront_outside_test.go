//go:build outside

package natsfront_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/frontend/frontendtest"
	"github.com/trapezehq/trapeze/internal/record/frontend/natsfront"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

func open(t *testing.T, conn *nats.Conn, name string) *natsfront.Store {
	t.Helper()
	s, err := natsfront.Open(t.Context(), conn, natsfront.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStorePassesTheSuite(t *testing.T) {
	c := natstest.Start(t, 3)
	places, node := map[string]string{}, 0
	frontendtest.Run(t, func(t *testing.T, place string) frontend.Store {
		if places[place] == "" {
			places[place] = fmt.Sprint("P", len(places))
		}
		node++
		return open(t, c.Connect(t, node), places[place])
	})
}

func TestATurnIsTakenFromAFrontEndThatIsCutOff(t *testing.T) {
	c := natstest.Start(t, 3)
	conns := []*nats.Conn{c.Connect(t, 0), c.Connect(t, 1)}
	fronts := []*frontend.FrontEnd{frontend.New(open(t, conns[0], "P")), frontend.New(open(t, conns[1], "P"))}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, f := range fronts {
		running.Go(func() { f.TakeTurn(ctx) })
	}
	first := frontendtest.Holder(t, fronts, -1)
	conns[first].Close()
	frontendtest.Until(t, "that the other has it", fronts[1-first].HasTurn)
	if fronts[first].HasTurn() { // which it cannot take again
		t.Error("both had the turn")
	}
}
