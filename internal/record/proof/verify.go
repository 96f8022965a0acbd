package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Record is the part of a ledger that its verifier reads.
type Record = ledger.Reader

// Evidence is what a record is held against. All of it is optional.
type Evidence struct {
	Stored tlog.HashReader // the stored hashes of the tree
	Leaves int64           // of the stored tree
	// Checkpoints that were opened, of the same log.
	Checkpoints []Checkpoint
	// Newest is how many of the last entries of the stored tree are compared, and those after it; 0 means all. What is before them is taken from the
	// stored tree, whose root a checkpoint must have.
	Newest int64
	// Keys are the public keys of the log, the oldest first, which must have those that the record names; nil: they are not compared.
	Keys []string
	// Along reads what is verified; nil: nothing does.
	Along *Ahead
}

// Finding is something that does not verify.
type Finding struct {
	Position ledger.Position `json:"position,omitempty"` // the first one; 0: it cannot be told
	What     string          `json:"what"`
}

func (f Finding) String() string {
	if f.Position == 0 {
		return f.What
	}
	return fmt.Sprintf("position %d: %s", f.Position, f.What)
}

// Report is what the verification of a record found.
type Report struct {
	Entries   ledger.Position  `json:"entries"` // the position of the last entry
	Root      Hash             `json:"root"`
	Held      []Checkpoint     `json:"-"`                     // the checkpoints whose roots the record has
	PutAway   int              `json:"put_away,omitempty"`    // entries in segments that are not attached, of which only the leaf was compared
	Segments  []string         `json:"segments,omitempty"`    // those
	Counted   int              `json:"counted,omitempty"`     // counts of exports that were made again
	Uncounted int              `json:"not_counted,omitempty"` // those that were not, since entries are put away or the record does not verify
	Recount   time.Duration    `json:"-"`                     // how long counts of exports took, for which the entries are read once more; 0: there are none
	Written   []SegmentWritten `json:"-"`                     // the segments of which the record says that they were written
	Findings  []Finding        `json:"findings"`
}

// maxFindings is how many findings are listed. After the first difference the others may follow from it.
const maxFindings = 100

const (
	verifyPage = 512 // leaves whose stored hashes are read at a time
	readPage   = 128 // entries that are read at a time: each may have 2 MiB
)

// ofMachine are errors that say nothing of what is verified: it cannot be read, or there is no space to compare it.
var ofMachine = []error{
	ledger.ErrUnavailable, fs.ErrPermission, context.Canceled, context.DeadlineExceeded,
	syscall.EIO, syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// IsUnfinished reports whether an error says nothing of what is verified: it may not be read, for example, or there was no space for it.
func IsUnfinished(err error) bool {
	return slices.ContainsFunc(ofMachine, func(of error) bool { return errors.Is(err, of) })
}

// Placed is the error of a check of the file of a record that says at which position something is wrong, 0 if it cannot be told, and what.
type Placed interface {
	Place() (ledger.Position, string)
}

// NotCompared is [ledger.NotCompared].
type NotCompared = ledger.NotCompared

// VerifyRecord compares every entry of a record with the stored tree and the roots of checkpoints, and each sealed envelope with its digest. What does not
// verify is in the report. Errors: those of the record and of the stored hashes.
func VerifyRecord(ctx context.Context, r Record, e Evidence) (Report, error) {
	slices.SortStableFunc(e.Checkpoints, func(a, b Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	v := &verifier{Evidence: e, record: r, tree: new(Tree), report: Report{Findings: []Finding{}}}
	for _, c := range e.Checkpoints {
		if c.Size <= e.Leaves {
			v.signed = c.Size
		}
	}
	err := v.run(ctx)
	v.stopAlong(err)
	v.report.Uncounted = len(v.counted) - v.report.Counted
	v.report.Entries, v.report.Root = ledger.Position(v.tree.Size()), v.tree.Root() //nolint:gosec // never negative
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return cmp.Compare(a.Position, b.Position) })
	return v.report, err
}

type verifier struct {
	Evidence
	record Record
	tree   *Tree
	report Report
	signed int64  // the size at the last checkpoint: what was stored of the tree after it may not have reached the disk
	before int    // the place of the last key of which the record says that it was followed by another, plus one
	page   []Hash // the stored hashes from the one at the index first on
	first  int64
	nodes  []Hash                     // that the last leaf completed
	away   map[string]ledger.Position // the first entry in each segment that is not attached

	firstAway ledger.Position // the first entry of these; 0: there is none
	counted   []recount
}

// skip begins after so many leaves of the stored tree, and compares it with the checkpoints before.
func (v *verifier) skip(size int64) (err error) {
	for len(v.Checkpoints) > 0 && v.Checkpoints[0].Size < size {
		if v.tree, err = LoadTree(v.Checkpoints[0].Size, v.Stored); err != nil {
			return err
		}
		if err := v.roots(); err != nil {
			return err
		}
	}
	v.tree, err = LoadTree(size, v.Stored)
	return err
}

func (v *verifier) found(at ledger.Position, format string, args ...any) {
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, Finding{at, fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) run(ctx context.Context) error {
	last, err := v.record.Last(ctx)
	if err != nil {
		return err
	}
	if v.Newest > 0 && v.Leaves > v.Newest && v.signed > 0 {
		if err := v.skip(min(v.Leaves-v.Newest, v.signed)); err != nil {
			return err
		}
	}
	if err := v.roots(); err != nil { // of the size at which it begins
		return err
	}
	reading, cancel := context.WithCancel(ctx)
	along := v.Along
	list := pages(reading, v.record, ledger.Position(v.tree.Size()), last, func(s *scanned) { s.hash(); along.prepare(s) }) //nolint:gosec // never negative
	defer func() {
		cancel()
		for p := range list { // the record is not read any more when this returns
			<-p.ready
		}
	}()
	for p := range list {
		<-p.ready
		if err := v.add(p); err != nil {
			return err
		}
		if len(v.report.Findings) > 0 {
			v.stopAlong(errUnsound)
		} else if v.Along != nil {
			v.Along.give(p)
		}
		if len(v.report.Findings) >= maxFindings { // a position that was changed may be far away
			v.report.Findings = append(v.report.Findings, Finding{ledger.Position(v.tree.Size()), "there is more, and nothing was compared from here on"}) //nolint:gosec // never negative
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	v.end(last)
	return v.countAgain(ctx)
}

// errUnsound is told to what reads along.
var errUnsound = &NotCompared{Why: "what comes after an entry that does not verify"}

// stopAlong tells what reads along that no more is given, and why, if that is not the end of the record.
func (v *verifier) stopAlong(err error) {
	if v.Along != nil {
		v.Along.stop(err)
		v.Along = nil
	}
}

// add adds the entries of a page to the tree.
func (v *verifier) add(p *page) error {
	for i := range p.entries {
		s := &p.entries[i]
		if s.Err != nil {
			if err := v.damaged(s.Err, s.Misplaced); err != nil {
				return err
			}
			continue
		}
		v.rotated(&s.Entry)
		v.written(&s.Entry)
		v.counts(&s.Entry)
		if err := v.entry(s); err != nil {
			return err
		}
		if len(v.report.Findings) >= maxFindings {
			return nil
		}
	}
	return p.err
}

// damaged adds an entry that cannot be read.
func (v *verifier) damaged(err error, misplaced bool) error {
	if away, ok := ledger.AsPutAway(err); ok {
		v.putAway(away)
		v.place(away.Position, misplaced)
		return v.leaf(away.Position, away.Leaf, false)
	}
	d, ok := errors.AsType[*ledger.Damaged](err)
	if !ok || IsUnfinished(err) { // a segment that may not be read is not a damaged one
		return err
	}
	v.found(d.Position, "%v", d.Err)
	return v.leaf(d.Position, Hash{}, true)
}

// entry adds one entry to the tree.
func (v *verifier) entry(s *scanned) error {
	at := s.Entry.Position
	for ledger.Position(v.tree.Size()+1) < at { //nolint:gosec // never negative
		if err := v.leaf(ledger.Position(v.tree.Size()+1), Gap, false); err != nil { //nolint:gosec // never negative
			return err
		}
	}
	if s.wrong != "" {
		v.found(at, "%s", s.wrong)
	}
	v.place(at, s.Misplaced)
	return v.leaf(at, s.leaf, false)
}

// place reports an entry that is stored with another place, unless that follows from damage before it.
func (v *verifier) place(at ledger.Position, misplaced bool) {
	if misplaced && len(v.report.Findings) == 0 {
		v.found(at, "the entry is stored with another place in its stream, or in the index of streams, than the entries before it lead to")
	}
}

// leaf adds a leaf, and compares what it completes with the stored tree. For a damaged entry the stored leaf stands in, so that the rest can be
// compared.
func (v *verifier) leaf(at ledger.Position, h Hash, damaged bool) error {
	n := v.tree.Size()
	var stored []Hash
	if n < v.Leaves {
		var err error
		if stored, err = v.stored(n); err != nil {
			return err
		}
		if n >= v.signed && slices.Contains(stored, Hash{}) { // a loss of power leaves zeros: a server takes what follows from the record again
			v.Leaves, stored = n, nil
		}
		switch {
		case stored == nil && damaged:
			h = Hash{}
		case stored == nil:
		case damaged:
			h = stored[0]
		case h != stored[0] && h == Gap:
			v.found(at, "the entry is missing")
		case h != stored[0]:
			v.found(at, "the entry is not the one in the stored tree")
		}
	}
	v.nodes = v.tree.Append(h, v.nodes[:0])
	for i, node := range v.nodes {
		if i > 0 && stored != nil && node != stored[i] && h == stored[0] && len(v.report.Findings) == 0 {
			v.found(at, "the stored tree is damaged: a node of level %d is not the hash of those below it", i)
		}
	}
	return v.roots()
}

// stored returns the stored hashes that leaf n completes.
func (v *verifier) stored(n int64) ([]Hash, error) {
	from, to := tlog.StoredHashCount(n), tlog.StoredHashCount(n+1)
	if from < v.first || to > v.first+int64(len(v.page)) {
		end := tlog.StoredHashCount(min(n+verifyPage, v.Leaves))
		indexes := make([]int64, end-from)
		for i := range indexes {
			indexes[i] = from + int64(i)
		}
		var err error
		if v.page, err = v.Stored.ReadHashes(indexes); err != nil {
			return nil, err
		}
		v.first = from
	}
	return v.page[from-v.first : to-v.first], nil
}

// roots compares the root with those of the checkpoints of this size.
func (v *verifier) roots() error {
	for len(v.Checkpoints) > 0 && v.Checkpoints[0].Size <= v.tree.Size() {
		c := v.Checkpoints[0]
		v.Checkpoints = v.Checkpoints[1:]
		if c.Root == v.tree.Root() {
			v.report.Held = append(v.report.Held, c)
			continue
		}
		at := ledger.Position(0)
		if len(v.report.Findings) > 0 {
			at = v.report.Findings[0].Position
		}
		after := int64(0)
		if n := len(v.report.Held); n > 0 {
			after = v.report.Held[n-1].Size
		}
		v.found(at, "the record up to position %d is not that of the checkpoint: it was changed after position %d, or is a fork", c.Size, after)
	}
	return nil
}

// end reports what the record lacks at its end.
func (v *verifier) end(last ledger.Position) {
	last = min(last, ledger.Position(v.tree.Size())) //nolint:gosec // never negative
	for _, c := range v.Checkpoints {
		v.found(last+1, "the record ends at position %d, before the checkpoint at %d: entries are missing", last, c.Size)
	}
	v.segments()
	if v.Leaves > v.tree.Size() {
		v.found(last+1, "the record ends at position %d, and the stored tree at %d: entries are missing", last, v.Leaves)
	}
}

// CheckFork compares checkpoints of one log with each other. Those of different sizes need a record to compare them with: [VerifyRecord].
func CheckFork(list []Checkpoint) []Finding {
	var out []Finding
	for i, a := range list {
		for _, b := range list[i+1:] {
			switch {
			case a.Origin != b.Origin:
				out = append(out, Finding{What: fmt.Sprintf("the checkpoints are of two logs: %s and %s", a.Origin, b.Origin)})
			case a.Size == b.Size && a.Root != b.Root:
				out = append(out, Finding{What: fmt.Sprintf("a fork: two checkpoints at position %d have different roots", a.Size)})
			}
		}
	}
	return out
}
