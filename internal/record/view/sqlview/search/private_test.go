package search

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

func TestASearchTellsNothingOfTheWordsOfPrivateItems(t *testing.T) {
	h := open(t)
	bob := memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "bob"}}
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
