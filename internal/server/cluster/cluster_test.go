package cluster

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func TestAServerThatStopsStaysClosedWhateverIsAskedOfIt(t *testing.T) {
	closed := func(g *Gate) bool {
		select {
		case <-g.Closed().Done():
			return true
		default:
			return false
		}
	}
	g := NewGate()
	if closed(g) || g.Drained() {
		t.Error("a new gate is closed")
	}
	waits := g.Closed().Done()
	if !g.Drain(true) || g.Drain(true) || !closed(g) || !g.Drained() {
		t.Error("a drained gate is open, or was closed twice")
	}
	<-waits // those that waited are told
	if !g.Drain(false) || closed(g) || g.Drained() {
		t.Error("a gate that was opened again is closed")
	}
	waits = g.Closed().Done()
	g.Stop()
	<-waits
	g.Stop()
	if g.Drain(true); !g.Drained() {
		t.Error("one that stops cannot be drained")
	}
	if g.Drain(false); !closed(g) {
		t.Error("one that stops is open again")
	}
}

func TestTheLagIsTheAgeOfTheOldestEntryThatTheViewsLack(t *testing.T) {
	var l lag
	start := time.Now()
	for _, step := range []struct {
		at, end, viewed int
		last            int
		behind          int
	}{
		{0, 10, 10, 10, 0},
		{1, 20, 10, 20, 0}, // it was just seen
		{2, 30, 10, 30, 1},
		{3, 40, 20, 40, 1}, // 21 was seen at 2
		{4, 40, 35, 40, 1},
		{5, 0, 35, 40, 2}, // the record cannot be reached
		{6, 40, 40, 40, 0},
		{7, 40, 50, 50, 0}, // the views know of more
	} {
		last, behind := l.at(start.Add(time.Duration(step.at)*time.Second), ledger.Position(step.end), ledger.Position(step.viewed))
		if int(last) != step.last || behind != time.Duration(step.behind)*time.Second {
			t.Errorf("%+v: %d, %s", step, last, behind)
		}
	}
}
