//go:build slow || outside

package scenario

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
)

// The faults that a record can have.
var (
	errLost     = errors.New("an acknowledged write is lost")
	errTwice    = errors.New("it happened twice")
	errRefused  = errors.New("a refused call is recorded")
	errOwners   = errors.New("two owners")
	errStranded = errors.New("a task is stranded")
	errDiffers  = errors.New("the record says something else than the answer")
	errOrder    = errors.New("the record is out of order")
)

// judgement compares a record with the answers that the clients got.
type judgement struct {
	at       map[ledger.Position]ledger.Entry
	keys     map[string]ledger.Position
	tasks    map[string]task.Task
	versions map[ledger.Stream]uint64
	intents  map[string]string
	after    map[ledger.Position]task.Task // the task right after each of its entries
	faults   []error
}

func (j *judgement) accuse(kind error, format string, args ...any) {
	if len(j.faults) < 20 {
		j.faults = append(j.faults, fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
	}
}

// judge reads a record and compares it with the deeds of the clients.
func judge(entries []ledger.Entry, deeds []*deed) *judgement {
	j := &judgement{
		at: map[ledger.Position]ledger.Entry{}, keys: map[string]ledger.Position{}, tasks: map[string]task.Task{},
		versions: map[ledger.Stream]uint64{}, intents: map[string]string{}, after: map[ledger.Position]task.Task{},
	}
	codec := ledger.NewCodec(event.Events...)
	for i, e := range entries {
		if e.Position != ledger.Position(i+1) {
			j.accuse(errOrder, "entry %d is at %d", i+1, e.Position)
		}
		j.entry(e, codec)
	}
	for _, t := range j.tasks {
		if why := standing(t); why != "" {
			j.accuse(errStranded, "%s is %s: %s", t.ID, t.State, why)
		}
	}
	owners := map[string]string{}
	for _, d := range deeds {
		j.deed(d, owners)
	}
	j.inTime(deeds)
	return j
}

// inTime compares the order of the record with the times of the calls: what was answered before another call began comes before it. So the record itself is an
// order that explains all answers to changes, each at one moment between its beginning and its end.
func (j *judgement) inTime(deeds []*deed) {
	var list []*deed
	for _, d := range deeds {
		if d.done && d.refused == "" && len(d.receipt.Events) > 0 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *deed) int { return cmp.Compare(b.receipt.Position, a.receipt.Position) })
	var first *deed // to be answered, of those that come later in the record
	for _, d := range list {
		if first != nil && first.ended.Before(d.began) {
			j.accuse(errOrder, "%s, entry %d, was answered %s before %s was asked for, which is entry %d", first, first.receipt.Position,
				d.began.Sub(first.ended), d, d.receipt.Position)
		}
		if first == nil || d.ended.Before(first.ended) {
			first = d
		}
	}
}

func (j *judgement) entry(e ledger.Entry, codec *ledger.Codec[event.Event]) {
	j.at[e.Position] = e
	if e.Version > 0 {
		if j.versions[e.Stream]++; e.Version != j.versions[e.Stream] {
			j.accuse(errOrder, "%s, want version %d", e, j.versions[e.Stream])
			j.versions[e.Stream] = e.Version
		}
	}
	if e.Key != "" {
		if first, ok := j.keys[e.Key]; ok {
			j.accuse(errTwice, "entries %d and %d have one idempotency key", first, e.Position)
		}
		j.keys[e.Key] = e.Position
	}
	_, kind, id := e.Stream.Parts()
	if kind != "task" {
		return
	}
	events, err := codec.DecodeAll(e.Events)
	if err != nil {
		j.accuse(errOrder, "%s: %v", e, err)
		return
	}
	for _, ev := range events {
		before := j.tasks[id]
		now := task.Fold(before, ev)
		j.tasks[id] = now
		j.event(e, ev, before, now)
	}
	j.after[e.Position] = j.tasks[id]
}

// event checks the conditions that every event must meet, whatever the rules have allowed.
func (j *judgement) event(e ledger.Entry, ev event.Event, before, now task.Task) {
	switch ev := ev.(type) {
	case event.Created:
		if before.Exists() {
			j.accuse(errTwice, "%s creates a task that exists", e)
		}
		if ev.Parent.Task == "" {
			if first, ok := j.intents[ev.Intent]; ok {
				j.accuse(errTwice, "%q is wanted of %s and %s", ev.Intent, first, ev.Task)
			}
			j.intents[ev.Intent] = ev.Task
		}
	case event.Moved:
		if ev.Epoch != before.Epoch+1 {
			j.accuse(errOwners, "%s makes epoch %d out of %d", e, ev.Epoch, before.Epoch)
		}
	case event.Finished:
		if before.State.Final() {
			j.accuse(errTwice, "%s completes a task that is %s", e, before.State)
		}
	}
	if before.Owner != "" && now.Owner != "" && before.Owner != now.Owner && now.Epoch <= before.Epoch {
		j.accuse(errOwners, "%s gives %s's task to %s in epoch %d", e, before.Owner, now.Owner, now.Epoch)
	}
}

// standing returns why no actor would ever continue a task; empty if one would.
func standing(t task.Task) string {
	switch t.State {
	case event.Executing:
		if t.Owner == "" {
			return "nobody owns it"
		}
	case event.HandingOff:
		h := t.InFlight()
		if h == nil {
			return "no handoff is under way"
		}
		waits := len(h.To) > 0 || h.Receiver != "" || !h.RetryAt.IsZero() || !h.ApprovalEnds.IsZero()
		if !waits || t.Due().IsZero() {
			return "its handoff waits for nobody"
		}
	case event.Waiting:
		open := !t.JoinBy.IsZero() || t.AtDesk() != nil && !t.Due().IsZero()
		for _, c := range t.Children {
			open = open || c.Group == t.Awaits && !c.State.Final()
		}
		if !open {
			return "it waits for no child"
		}
	case event.Pending:
		if t.Requester == "" {
			return "nobody has asked for it"
		}
	case event.Parked:
		if t.Parked == nil {
			return "nobody knows why"
		}
	case event.Completed, event.Failed, event.Cancelled:
	default:
		return "no such state"
	}
	return ""
}

// deed compares the record with one answer.
func (j *judgement) deed(d *deed, owners map[string]string) {
	at, found := j.keys[d.digest()]
	switch {
	case !d.done:
		return // its outcome is open
	case d.refused != "":
		if found {
			j.accuse(errRefused, "%s was refused (%s), and is entry %d", d, d.refused, at)
		}
		return
	case len(d.receipt.Events) == 0:
		return
	case !found:
		j.accuse(errLost, "%s was acknowledged at %d", d, d.receipt.Position)
		return
	}
	r, e := d.receipt, j.at[at]
	var names []string
	for _, ev := range e.Events {
		names = append(names, ev.Name)
	}
	_, _, id := e.Stream.Parts()
	t := j.after[at]
	told := fmt.Sprint(r.Position, r.Task, r.State, r.Owner, r.Epoch, r.Events)
	if is := fmt.Sprint(at, id, t.State, t.Owner, t.Epoch, names); is != told {
		j.accuse(errDiffers, "%s\n\twas told %s,\n\trecorded is %s", d, told, is)
	}
	if r.Owner != "" {
		key := fmt.Sprint(r.Task, " in epoch ", r.Epoch)
		if other, ok := owners[key]; ok && other != r.Owner {
			j.accuse(errOwners, "%s: %s and %s", key, other, r.Owner)
		}
		owners[key] = r.Owner
	}
}

// ended reports every task that has not ended when all actors are done.
func (j *judgement) ended() {
	for _, t := range j.tasks {
		if !t.State.Final() && t.State != event.Parked {
			j.accuse(errStranded, "%s is still %s, owner %q, children %+v", t.ID, t.State, t.Owner, t.Children)
		}
		for _, c := range t.Children {
			if child := j.tasks[c.Task]; !child.Exists() && t.State != event.Cancelled {
				j.accuse(errStranded, "%s has the child %s, which was never made", t.ID, c.Task)
			}
		}
	}
}

// convicted reports whether a fault of this kind was found.
func (j *judgement) convicted(of error) bool {
	return slices.ContainsFunc(j.faults, func(err error) bool { return errors.Is(err, of) })
}

// readRecord reads everything from the database of a server that is not running, without changing it beyond what
// SQLite does to recover. The tables of the views may lack the last entries.
func readRecord(path string) (entries []ledger.Entry, err error) {
	log, err := sqlitelog.Open(path, sqlitelog.Options{MinFree: -1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var after ledger.Position
	for {
		page, err := log.Read(context.Background(), after, 1000)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		entries = append(entries, page...)
		after = page[len(page)-1].Position
	}
	var at int64
	if err := log.Readers().QueryRowContext(context.Background(), "SELECT position FROM view_meta").Scan(&at); err != nil {
		return entries, fmt.Errorf("views: %w", err)
	}
	if ledger.Position(at) > after { //nolint:gosec // never negative
		return entries, fmt.Errorf("views end at %d, the record at %d", at, after)
	}
	return entries, nil
}

// verifyViews compares the views with a rebuild from the record. Those that are opened have everything.
func verifyViews(path string) (err error) {
	log, views, err := sqlview.OpenEmbedded(context.Background(), path, sqlitelog.Options{MinFree: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, views.Close(), log.Close()) }()
	if last, err := log.Last(context.Background()); err != nil || views.Position() != last {
		return errors.Join(err, fmt.Errorf("views end at %d, the record at %d", views.Position(), last))
	}
	return views.Verify(context.Background())
}

// deed is one changing call of a client, and what came of it.
type deed struct {
	who     *actor
	what    string
	key     string
	do      func(context.Context, *api.Client) (api.Receipt, error)
	done    bool
	refused api.Code // of a definite refusal
	receipt api.Receipt
	cut     int // attempts that a kill cut off
	gen     int // of the server that was killed last under it

	began, ended time.Time // of the first attempt, and of the last
}

func (d *deed) String() string {
	return fmt.Sprintf("%s of %s (key %s)", d.what, d.who.principal, d.key)
}

// digest is the key as entries carry it.
func (d *deed) digest() string {
	sum := sha256.Sum256([]byte("key\x00" + identity.DefaultWorkspace + "\x00" + d.who.principal + "\x00" + d.key))
	return hex.EncodeToString(sum[:16])
}
