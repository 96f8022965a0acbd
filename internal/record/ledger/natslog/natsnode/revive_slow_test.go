//go:build slow

package natsnode

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func TestReplicasThatDoNotStartAreReportedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, stopping, starts := time.Now(), make(chan struct{}), 0
		time.AfterFunc(3*time.Minute, func() { close(stopping) })
		var reports []time.Duration
		runs := func() bool { return time.Since(began) == 100*time.Second } // for a moment
		revive(stopping, runs, func() error { starts++; return errors.New("the disk is gone") }, func(error) { reports = append(reports, time.Since(began)) })
		if want := []time.Duration{2 * time.Second, 62 * time.Second, 102 * time.Second, 162 * time.Second}; !slices.Equal(reports, want) || starts < 170 {
			t.Errorf("reported after %v, want %v; %d starts", reports, want, starts)
		}
	})
}

// A node that starts its replicas while it stops would leave them open.
func TestANodeStopsAfterItsReplicasHaveStarted(t *testing.T) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	n := &Node{server: s, stopping: make(chan struct{}), kept: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Stop(ctx); !errors.Is(err, context.Canceled) || !s.Running() {
		t.Errorf("while they start: %v, runs %t", err, s.Running())
	}
	close(n.kept)
	if err := n.Stop(t.Context()); err != nil || s.Running() {
		t.Errorf("then: %v, runs %t", err, s.Running())
	}
}
