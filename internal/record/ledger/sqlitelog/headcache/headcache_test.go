package headcache

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func TestHeadsForgetTheOldestStreamsOnly(t *testing.T) {
	h := New()
	for i := range 2*perGeneration + 10 {
		h.Put(ledger.Stream(fmt.Sprint(i)), Head{ID: int64(i)})
		if _, ok := h.Get("0"); !ok {
			t.Fatalf("a stream in constant use was forgotten after %d others", i)
		}
	}
	if len(h.young)+len(h.old) > 2*perGeneration {
		t.Errorf("%d streams in the cache", len(h.young)+len(h.old))
	}
	if _, ok := h.Get("1"); ok {
		t.Error("the oldest stream is still there")
	}
}
