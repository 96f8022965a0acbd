package search

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// vocabulary is the words of the vocabulary with their numbers of items.
func (h *harness) vocabulary() []string {
	h.t.Helper()
	list, err := query.Texts(h.t.Context(), h.queries, "SELECT word || ' ' || items FROM view_memory_word ORDER BY word")
	h.must(err)
	return list
}

func TestALongItemTeachesTheVocabularyABoundedNumberOfWords(t *testing.T) {
	h := open(t)
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString("word" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + " ")
	}
	long := newNote("long")
	h.add(long, storing("long", b.String()))
	if n := len(h.vocabulary()); n > 2001 {
		t.Errorf("%d words were learned", n)
	}
	h.add(long, memory.Revise{By: ann, ID: "long", Content: text("short " + b.String())})
	h.add(long, memory.Forget{By: ann, ID: "long"})
	if left := h.vocabulary(); len(left) != 0 {
		t.Errorf("%d words stay of an item that is forgotten: %q", len(left), left[:1])
	}
}
