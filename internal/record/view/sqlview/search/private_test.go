package search

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

var bob = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "bob"}}

func TestASearchTellsNothingOfTheWordsOfPrivateItems(t *testing.T) {
	h := open(t)
	private := storing("p", "salary")
	private.By, private.Scope = bob, memory.Private
	h.add(newNote("p"), private)
	h.add(newNote("mine"), storing("mine", "zzmarker"))
	find := func() int {
		found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: "salaryzzmarker"})
		h.must(err)
		return len(found)
	}
	if find() != 0 {
		t.Error("the halves of a compound tell that a private item has the other half")
	}
	h.add(newNote("all"), storing("all", "salary"))
	if find() == 0 {
		t.Error("a compound of words that all may read finds nothing")
	}
}

// An agent's items are private unless it says otherwise: its own words are found with typing errors, in compounds and by their halves.
func TestASearchFindsCloseWordsOfTheReadersOwnItems(t *testing.T) {
	h := open(t)
	own := storing("own", "Die Kündigungsfrist beträgt drei Monate, the kubernetes cluster restarts.")
	own.Scope = memory.Private
	h.add(newNote("own"), own)
	for _, scope := range []memory.Scope{memory.Private, memory.Task} {
		of := storing("bob-"+string(scope), "Rechnungsnummer")
		of.By, of.Scope = bob, scope
		if scope == memory.Task {
			of.Task = "task_06h1k7x01xz0z9b5jk1347pfjc"
			of.By.Tasks = []string{of.Task}
		}
		h.add(newNote("bob-"+string(scope)), of)
	}
	for text, want := range map[string]int{"kuendigungsfristen": 1, "kuberntes": 1, "Frist": 1, "Kündigung": 1, "rechnungsnumer": 0} {
		found, err := h.Memory(t.Context(), "default", view.MemoryFilter{By: ann, Text: text})
		h.must(err)
		if len(found) != want {
			t.Errorf("%q finds %d items of the caller, want %d", text, len(found), want)
		}
	}
}
