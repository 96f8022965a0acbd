package search

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// stockVectors stores many items of the workspace with one vector each, without texts.
func (h *harness) stockVectors(first, n int, value []float32) {
	h.t.Helper()
	h.must(h.file.Write(func(tx *sqlconn.Tx) error {
		const numbers = "WITH RECURSIVE s(n) AS (VALUES(?1) UNION ALL SELECT n + 1 FROM s WHERE n < ?2) "
		return errors.Join(
			tx.Exec(numbers+"INSERT INTO view_memory SELECT n, 'default', 'x' || n, 'workspace', 'agent/ann', '', '', '', 0, 0, 1, 1 FROM s", first, first+n-1),
			tx.Exec(numbers+"INSERT INTO view_memory_vector SELECT n, 'x' || n, 1, 'space', ?3 FROM s", first, first+n-1, quantized(value)),
		)
	}))
}

// The item that is the most similar is found however many newer ones there are, without a look at the vectors of all of them; one that is forgotten, or
// private to another, is not.
func TestTheNearestItemIsFoundHoweverOldItIs(t *testing.T) {
	h := open(t)
	near, far := make([]float32, 128), make([]float32, 128)
	for i := range near {
		near[i] = float32(1 - 2*(i%2))
		far[i] = -near[i]
	}
	h.stockVectors(10, 1, near)
	h.stockVectors(100, view.MaxNearest+1000, far)
	find := func(by memory.Reader) []view.MemoryHit {
		t.Helper()
		found, err := h.Nearest(t.Context(), "default", view.MemoryFilter{By: by, Limit: 3}, "space", near, 0.5)
		h.must(err)
		return found
	}
	if found := find(ann); len(found) != 0 {
		t.Errorf("before the vectors are in memory, of the newest: %v", found)
	}
	_, err := h.WithoutVector(t.Context(), "default", "space", time.Time{}, nil, 1)
	h.must(err)
	if found := find(ann); len(found) != 1 || found[0].ID != "x10" {
		t.Errorf("found %v", found)
	}
	h.must(h.file.Write(func(tx *sqlconn.Tx) error {
		return tx.Exec("UPDATE view_memory SET scope = 'private', owner = 'agent/bob' WHERE n = 10")
	}))
	if found := find(ann); len(found) != 0 {
		t.Errorf("what is private to another: %v", found)
	}
	if got := h.writer.sketches.of["default"].nearest(ann, appendSigns(nil, quantized(near))); len(got) != view.MaxNearest+1001 || got[0] != 10 {
		t.Errorf("%d candidates, first %d", len(got), got[0])
	}
	h.writer.sketches.drop("default", 10)
	h.writer.sketches.drop("default", 10)
	if got := h.writer.sketches.of["default"].nearest(ann, appendSigns(nil, quantized(near))); len(got) != view.MaxNearest+1000 || got[0] == 10 {
		t.Errorf("%d candidates, first %d", len(got), got[0])
	}
}

// BenchmarkNearest measures a search by meaning among 100,000 items, of which 1,000 are similar to what is searched for.
func BenchmarkNearest(b *testing.B) {
	h := open(b)
	r := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, 384)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	query := random()
	for n := range 1000 {
		v := random()
		for i := range v {
			v[i] += query[i] * float32(n%10) / 10
		}
		h.stockVectors(1+100*n, 1, v)
		h.stockVectors(2+100*n, 99, random())
	}
	by := memory.Reader{Principal: identity.Principal{Role: identity.System, Name: "test"}}
	for _, name := range []string{"the newest 5,000", "all in memory"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := h.Nearest(b.Context(), "default", view.MemoryFilter{By: by, Limit: 20}, "space", query, 0.25); err != nil || len(found) != 20 {
					b.Fatal(found, err)
				}
			}
		})
		_, err := h.WithoutVector(b.Context(), "default", "space", time.Time{}, nil, 1)
		h.must(err)
	}
}
