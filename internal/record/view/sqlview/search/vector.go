package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// VectorTable is the table of vectors, which is no view: a rebuild keeps it. A vector counts only for the version of the item
// that it was made of, so one of a revised item, or of another ledger's, is not used. A forgotten item has none.
const VectorTable = `CREATE TABLE IF NOT EXISTS view_memory_vector(
	n INTEGER PRIMARY KEY, id TEXT NOT NULL, written INTEGER NOT NULL, space TEXT NOT NULL, value BLOB NOT NULL) STRICT`

const putVector = `INSERT OR REPLACE INTO view_memory_vector(n, id, written, space, value)
	SELECT n, id, written, ?, ? FROM view_memory WHERE n = ? AND ws = ? AND id = ? AND written = ?`

const withoutVector = `SELECT m.n, m.id, m.written FROM view_memory AS m INDEXED BY view_memory_written WHERE m.ws = ? AND m.written >= ?
	AND NOT EXISTS(SELECT 1 FROM view_memory_vector AS v WHERE v.n = m.n AND v.id = m.id AND v.written = m.written AND v.space = ?)
	AND m.owner NOT IN (SELECT value FROM json_each(?))
	ORDER BY m.written LIMIT ? | 0`

// WithoutVector implements [view.MemoryVectors]. The first time, it also reads the vectors that there are.
func (r *Reader) WithoutVector(ctx context.Context, workspace, space string, since time.Time, except []string, limit int) ([]view.ItemVector, error) {
	if err := r.sketch(ctx, workspace, space); err != nil {
		return nil, err
	}
	var items []view.ItemVector
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
		var n, written int64
		var x view.ItemVector
		err := rows.Scan(&n, &x.ID, &written)
		x.At, x.Written = ledger.Position(n), time.UnixMicro(written).UTC() //nolint:gosec // never negative
		items = append(items, x)
		return err
	}, withoutVector, workspace, since.UnixMicro(), space, list(append([]string{}, except...)), view.PageSize(limit))
	return items, err
}

// PutVectors stores vectors, in a transaction of its database.
func PutVectors(tx *sqlconn.Tx, workspace, space string, list []view.ItemVector) error {
	for _, x := range list {
		n := int64(x.At) //nolint:gosec // positions fit
		put := func() error {
			return tx.Exec(putVector, space, quantized(x.Values), n, workspace, x.ID, x.Written.UnixMicro())
		}
		if err := kept.Vectors.Change(tx, n, put); err != nil {
			return err
		}
	}
	return nil
}

// quantized is a vector with a byte for each number, in proportion to the greatest: its length does not matter.
func quantized(v []float32) []byte {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	out := make([]byte, len(v))
	for i, x := range v {
		out[i] = byte(int8(math.Round(float64(x) / most * math.MaxInt8)))
	}
	return out
}

// similarity is the cosine of the angle between two quantized vectors.
func similarity(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb int64
	for i := range a {
		x, y := int64(int8(a[i])), int64(int8(b[i]))
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}

// candidates is how many vectors are read at a time, those first that seem to be the most similar.
const candidates = 512

// Nearest implements [view.MemoryVectors].
func (r *Reader) Nearest(ctx context.Context, workspace string, f view.MemoryFilter, space string, to []float32, least float64) ([]view.MemoryHit, error) {
	if len(to) == 0 || f.By.IsZero() {
		return []view.MemoryHit{}, nil
	}
	s := nearness{query: quantized(to), least: least}
	most := view.PageSize(f.Limit)
	if list, ok := r.writer.sketches.nearest(workspace, space, f.By, s.query); ok && !narrows(f) {
		for some := range slices.Chunk(list[:min(len(list), view.MaxNearest)], max(candidates, 2*most)) {
			before, read := len(s.found), s.read
			if err := r.each(ctx, &s, selectCandidates(workspace, f, space, some)); err != nil {
				return nil, err
			}
			if len(s.found) >= most || s.read > read && len(s.found) == before {
				break
			}
		}
		return s.best(most), nil
	}
	q, ok := selectNearest(workspace, f, space)
	if !ok {
		return []view.MemoryHit{}, nil
	}
	err := r.each(ctx, &s, q)
	return s.best(most), err
}

// narrows reports whether a filter leaves out items that the caller may read. Such searches look at the items that pass it.
func narrows(f view.MemoryFilter) bool {
	return f.Tag != "" || f.Author != "" || f.Task != "" || f.Conversation != "" || f.Scope != "" || f.Pinned || f.Pinning != memory.NotPinned ||
		!f.Since.IsZero() || !f.Until.IsZero() || f.After > 0
}

// nearness compares items with a quantized vector.
type nearness struct {
	query []byte
	least float64
	read  int // items
	found []nearItem
}

type nearItem struct {
	view.MemoryHit
	similarity float64
}

// each compares the items that a query has, with their vectors.
func (r *Reader) each(ctx context.Context, s *nearness, q clause) error {
	return r.db.Each(ctx, func(rows *sql.Rows) error {
		var n int64
		var id string
		var value sql.RawBytes
		if err := rows.Scan(&n, &id, &value); err != nil {
			return err
		}
		s.read++
		if x := similarity(s.query, value); x >= s.least && len(value) > 0 {
			s.found = append(s.found, nearItem{view.MemoryHit{ID: id, At: ledger.Position(n)}, x}) //nolint:gosec // never negative
		}
		return nil
	}, q.text, q.args...)
}

// best returns the most similar items.
func (s *nearness) best(most int) []view.MemoryHit {
	slices.SortFunc(s.found, func(a, b nearItem) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(b.At, a.At))
	})
	hits := make([]view.MemoryHit, 0, min(len(s.found), most))
	for _, x := range s.found[:min(len(s.found), most)] {
		hits = append(hits, x.MemoryHit)
	}
	return hits
}

// selectCandidates selects the vectors of those of some items that the caller may read.
func selectCandidates(workspace string, f view.MemoryFilter, space string, n []int64) (q clause) {
	some, _ := json.Marshal(n) //nolint:errchkjson // numbers always have JSON
	q.add("SELECT m.n, m.id, v.value FROM json_each(?) AS j CROSS JOIN view_memory AS m ON m.n = j.value"+
		" CROSS JOIN view_memory_vector AS v ON v.n = m.n AND v.id = m.id AND v.written = m.written WHERE m.ws = ? AND v.space = ?", string(some), workspace, space)
	q.mayRead(f.By)
	return q
}

// selectNearest selects the vectors of the newest items that pass a filter; ok is false if nothing can.
func selectNearest(workspace string, f view.MemoryFilter, space string) (q clause, ok bool) {
	newest, ok := listMemory(workspace, f, view.MaxNearest)
	q.add("SELECT newest.n, newest.id, v.value FROM ("+newest.text+") AS newest CROSS JOIN view_memory AS i ON i.n = newest.n"+
		" CROSS JOIN view_memory_vector AS v ON v.n = newest.n AND v.id = newest.id AND v.written = i.written", newest.args...)
	q.add(" WHERE v.space = ?", space)
	return q, ok
}
