package search

import (
	"context"
	"database/sql"
	"math/bits"
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// sketches are the vectors of workspaces in memory, a bit for each number: its sign. Vectors whose signs differ in few places are similar. So a search needs to
// read only the vectors of candidates and not of all items. They decide nothing: what is missing or outdated here costs at most a hit.
type sketches struct {
	change sync.Mutex // held while vectors are added
	mu     sync.RWMutex
	of     map[string]*sketch // by workspace
}

// sketch is the vectors of one space.
type sketch struct {
	space  string
	words  int // of each vector
	n      []int64
	reader []uint32 // who alone reads the item, by its number in owners; 0: others may, too
	signs  []uint64 // words for each
	owners map[string]uint32
	at     map[int64]int // by n
}

// allVectors has the vectors of a space, and who alone reads the item.
const allVectors = `SELECT v.n, v.value, CASE m.scope WHEN 'private' THEN m.owner ELSE '' END FROM view_memory_vector AS v
	CROSS JOIN view_memory AS m ON m.n = v.n AND m.id = v.id AND m.written = v.written WHERE m.ws = ? AND v.space = ?`

// sketch reads all vectors of a space of a workspace, unless they are in memory.
func (r *Reader) sketch(ctx context.Context, workspace, space string) error {
	ss := &r.writer.sketches
	ss.change.Lock()
	defer ss.change.Unlock()
	if ss.has(workspace, space) {
		return nil
	}
	s := &sketch{space: space, owners: map[string]uint32{}, at: map[int64]int{}}
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
		var n int64
		var value sql.RawBytes
		var reader string
		err := rows.Scan(&n, &value, &reader)
		s.put(n, reader, value)
		return err
	}, allVectors, workspace, space)
	if err != nil {
		return err
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.of == nil {
		ss.of = map[string]*sketch{}
	}
	ss.of[workspace] = s
	return nil
}

func (ss *sketches) has(workspace, space string) bool {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	s := ss.of[workspace]
	return s != nil && s.space == space
}

// Sketch adds vectors that were stored to those in memory.
func (r *Reader) Sketch(ctx context.Context, workspace, space string, list []view.ItemVector) error {
	ss := &r.writer.sketches
	ss.change.Lock()
	defer ss.change.Unlock()
	if !ss.has(workspace, space) {
		return nil
	}
	for _, x := range list {
		n := int64(x.At) //nolint:gosec // positions fit
		var reader string
		err := r.db.Each(ctx, func(rows *sql.Rows) error { return rows.Scan(&reader) },
			"SELECT CASE scope WHEN 'private' THEN owner ELSE '' END FROM view_memory WHERE n = ?", n)
		if err != nil {
			return err
		}
		ss.mu.Lock()
		ss.of[workspace].put(n, reader, quantized(x.Values))
		ss.mu.Unlock()
	}
	return nil
}

// drop removes the vector of an item.
func (ss *sketches) drop(workspace string, n int64) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.of[workspace]; s != nil {
		s.drop(n)
	}
}

// put adds a quantized vector. One of another length than the first is left out.
func (s *sketch) put(n int64, reader string, value []byte) {
	s.drop(n)
	if len(value) == 0 || s.words > 0 && s.words != words64(value) {
		return
	}
	s.words = words64(value)
	alone := uint32(0)
	if reader != "" {
		if alone = s.owners[reader]; alone == 0 {
			alone = uint32(len(s.owners) + 1) //nolint:gosec // there are fewer
			s.owners[reader] = alone
		}
	}
	s.at[n] = len(s.n)
	s.n, s.reader, s.signs = append(s.n, n), append(s.reader, alone), appendSigns(s.signs, value)
}

// drop moves the last vector to the place of one.
func (s *sketch) drop(n int64) {
	i, ok := s.at[n]
	if !ok {
		return
	}
	last := len(s.n) - 1
	s.n[i], s.reader[i] = s.n[last], s.reader[last]
	copy(s.signs[i*s.words:(i+1)*s.words], s.signs[last*s.words:])
	s.at[s.n[i]] = i
	delete(s.at, n)
	s.n, s.reader, s.signs = s.n[:last], s.reader[:last], s.signs[:last*s.words]
}

func words64(value []byte) int { return (len(value) + 63) / 64 }

// appendSigns appends the signs of a quantized vector.
func appendSigns(to []uint64, value []byte) []uint64 {
	for i := 0; i < len(value); i += 64 {
		var word uint64
		for j, x := range value[i:min(i+64, len(value))] {
			if int8(x) > 0 {
				word |= 1 << j
			}
		}
		to = append(to, word)
	}
	return to
}

// nearest returns the numbers of the items that the caller perhaps may read, those first whose signs differ least from those of a quantized vector. ok is false if
// the space is not in memory.
func (ss *sketches) nearest(workspace, space string, by memory.Reader, value []byte) (n []int64, ok bool) {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	s := ss.of[workspace]
	if s == nil || s.space != space {
		return nil, false
	}
	if s.words != words64(value) {
		return nil, true
	}
	return s.nearest(by, appendSigns(nil, value)), true
}

func (s *sketch) nearest(by memory.Reader, signs []uint64) []int64 {
	me, all := s.owners[by.String()], by.ReadsAny()
	far := make([]int16, len(s.n)) // -1: not for the caller
	having := make([]int, 64*s.words+2)
	for i := range s.n {
		if alone := s.reader[i]; alone != 0 && alone != me && !all {
			far[i] = -1
			continue
		}
		d := 0
		for j, word := range s.signs[i*s.words : (i+1)*s.words] {
			d += bits.OnesCount64(word ^ signs[j])
		}
		far[i] = int16(d) //nolint:gosec // at most the length of a vector
		having[d+1]++
	}
	for d := 1; d < len(having); d++ { // now it is how many are nearer
		having[d] += having[d-1]
	}
	list := make([]int64, having[len(having)-1])
	for i, d := range far {
		if d >= 0 {
			list[having[d]] = s.n[i]
			having[d]++
		}
	}
	return list
}
