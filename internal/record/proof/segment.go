package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// SegmentWritten: the entries of ended tasks from a position to another are put away in a segment, which has all entries there.
type SegmentWritten struct {
	First  ledger.Position `json:"first"`
	Last   ledger.Position `json:"last"`
	Root   string          `json:"root"`   // of the tree at Last
	SHA256 string          `json:"sha256"` // of the file, hexadecimal
}

// EventName is "segment-written".
func (SegmentWritten) EventName() string { return "segment-written" }

// Name is the name of the file.
func (s SegmentWritten) Name() string { return fmt.Sprintf("%d-%d.segment", s.First, s.Last) }

// SegmentEvent is an event of segments.
type SegmentEvent interface{ EventName() string }

// SegmentEvents has one of each.
var SegmentEvents = []SegmentEvent{SegmentWritten{}}

// SegmentStream is where they are recorded.
const SegmentStream ledger.Stream = "default/access/system:segments"

// Away is a segment that is not attached.
type Away struct {
	*ledger.PutAway                 // of the first entry that was put away in it
	Last            ledger.Position // of the segment
}

// Detached returns the segments that are not attached, in their order.
func Detached(ctx context.Context, l ledger.Ledger) (list []Away, err error) {
	const page = 100
	for after := ledger.Position(0); ; {
		told, err := l.Stream(ctx, SegmentStream, after, page)
		if err != nil || len(told) == 0 {
			return list, err
		}
		for i := range told {
			after = told[i].Position
			var s SegmentWritten
			if err := json.Unmarshal(told[i].Events[0].Data, &s); err != nil {
				return list, err
			}
			away, err := detached(ctx, l, s)
			if err != nil {
				return list, err
			}
			if away != nil {
				list = append(list, Away{away, s.Last})
			}
		}
	}
}

// detached reads a segment up to its first entry of a task, which was put away, and returns it if it is not attached.
func detached(ctx context.Context, l ledger.Ledger, s SegmentWritten) (*ledger.PutAway, error) {
	const page = 10 // the first is soon there
	for after := s.First - 1; after < s.Last; {
		list, err := ledger.Page(ctx, l, after, page)
		if away, ok := ledger.AsPutAway(err); ok {
			return away, nil
		}
		damaged, isDamaged := errors.AsType[*ledger.Damaged](err)
		if err != nil && !isDamaged || err == nil && len(list) == 0 {
			return nil, err
		}
		if isDamaged { // it is reported when it is asked for
			after = damaged.Position
		}
		for i := range list {
			after = max(after, list[i].Position)
			if _, kind, _ := list[i].Stream.Parts(); kind == ledger.TaskKind {
				return nil, nil //nolint:nilnil // it is attached
			}
		}
	}
	return nil, nil //nolint:nilnil // nothing in it was put away
}

// written notes a segment of which an entry says that it was written.
func (v *verifier) written(e *ledger.Entry) {
	var s SegmentWritten
	if e.Stream == SegmentStream && e.Events[0].Name == s.EventName() && json.Unmarshal(e.Events[0].Data, &s) == nil {
		v.report.Written = append(v.report.Written, s)
	}
}

// putAway notes an entry whose segment is not attached. Its leaf is held against the stored tree as that of any other.
func (v *verifier) putAway(p *ledger.PutAway) {
	if v.report.PutAway++; v.firstAway == 0 {
		v.firstAway = p.Position
	}
	if v.away == nil {
		v.away = map[string]ledger.Position{}
	}
	if _, ok := v.away[p.Segment]; !ok {
		v.away[p.Segment] = p.Position
	}
}

// segments reports entries that are said to be in a segment that was never written.
func (v *verifier) segments() {
	v.report.Segments = slices.Sorted(maps.Keys(v.away))
	if v.Newest > 0 { // it may be recorded before those
		return
	}
	for _, name := range v.report.Segments {
		if !slices.ContainsFunc(v.report.Written, func(s SegmentWritten) bool { return s.Name() == name }) {
			v.found(v.away[name], "the entry is missing: it is said to be put away in %s, which the record does not know", name)
		}
	}
}
