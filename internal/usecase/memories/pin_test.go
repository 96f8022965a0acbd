package memories_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func TestAnAgentHoldsABoundedNumberOfPins(t *testing.T) {
	h := open(t)
	ann, task := agent("ann"), h.task(1, "ann", owned("ann"))
	var items []string
	for n := range memory.MaxPins + 3 {
		in := memories.RememberInput{Text: fmt.Sprint(n), Scope: []memory.Scope{memory.Private, memory.Task, memory.Workspace}[n%3], Task: task}
		items = append(items, h.remember(ann, in).ID)
	}
	pin := func(id string) error {
		_, err := h.items.Pin(t.Context(), ann.WithKey("pin "+id), id)
		return err
	}
	for _, id := range items[:memory.MaxPins] {
		if err := pin(id); err != nil {
			t.Fatal(err)
		}
	}
	last := items[memory.MaxPins]
	refused(t, "one more", pin(last), refusal.Limit)
	_, err := h.items.Remember(t.Context(), ann, memories.RememberInput{Text: "new", Pinned: true})
	refused(t, "a new one", err, refusal.Limit)
	if err := pin(items[0]); err != nil {
		t.Errorf("the first call again: %v", err)
	}
	if _, err := h.items.Pin(t.Context(), ann, items[1]); err != nil {
		t.Errorf("what is pinned already: %v", err)
	}
	if _, err := h.items.Pin(t.Context(), operator, last); err != nil {
		t.Errorf("an operator: %v", err)
	}
	must[memories.Item](t)(h.items.Unpin(t.Context(), ann, items[0]))
	if err := pin(items[memory.MaxPins+1]); err != nil {
		t.Errorf("after one was unpinned: %v", err)
	}
	must[memories.Item](t)(h.items.Pin(t.Context(), operator, items[2])) // agrees: the pin is the operator's
	if err := pin(items[memory.MaxPins+2]); err != nil {
		t.Errorf("after an operator has taken one over: %v", err)
	}
	bob := agent("bob")
	h.remember(bob, memories.RememberInput{Text: "bob's", Pinned: true})
}

func TestPinsAtOnceStayWithinTheBound(t *testing.T) {
	h := open(t)
	var all sync.WaitGroup
	var pinned, over atomic.Int64
	for n := range memory.MaxPins + 8 {
		all.Go(func() {
			_, err := h.items.Remember(t.Context(), agent("ann"), memories.RememberInput{Text: fmt.Sprint(n), Scope: memory.Workspace, Pinned: true})
			switch refusal.CodeOf(err) {
			case "":
				pinned.Add(1)
			case refusal.Limit:
				over.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if pinned.Load() != memory.MaxPins || over.Load() != 8 {
		t.Errorf("%d pinned, %d refused", pinned.Load(), over.Load())
	}
}
