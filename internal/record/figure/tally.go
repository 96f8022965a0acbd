package figure

import (
	"maps"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Options of a [Tally]. The zero value is usable.
type Options struct {
	// MaxAgents is the number of agents that labels name, over all workspaces; 0 means 1,000. Agents beyond are [Other].
	MaxAgents int
	// MaxRecent is the number of ended handoffs that are kept for percentiles; 0 means 20,000, which take about 5 MB.
	MaxRecent int
}

// maxWorkspaces is the number of workspaces that labels name.
const maxWorkspaces = 1000

// Tally counts the entries of a ledger. It is safe for concurrent use.
type Tally struct {
	o     Options
	tasks *ledger.Codec[event.Event]
	names map[string]bool // events that count

	mu     sync.Mutex
	at     ledger.Position
	away   bool      // the first entries were put away: how a task began is not missing
	begun  time.Time // of the first entry
	set    *Set
	open   map[ledger.Stream]*work
	recent ring
	labels
	covered map[string][2]float64 // by workspace: handoffs whose handshake is in the record, and all
	now     map[string]Open       // by workspace, and not by its label
	changes []change              // of now, the newest last
	past    map[string]*past      // by workspace, and not by its label

	circuits *ledger.Codec[agent.Event]
	failures map[[2]string][]failure // by workspace and agent, the newest last
	outcomes map[[2]string]*outcomes // by workspace and identity of agents
	answered map[[2]string]answers   // by workspace and identity of agents
}

// Open is the number of tasks of a workspace that have not ended.
type Open struct {
	Tasks  int // parked ones included
	Parked int
}

// change is a change of [Open].
type change struct {
	at        ledger.Position
	workspace string
	by        Open
}

// maxChanges is the number of changes that can be undone.
const maxChanges = 8192

func (t *Tally) change(at ledger.Position, workspace string, by Open) {
	n := t.now[workspace]
	n.Tasks += by.Tasks
	n.Parked += by.Parked
	t.now[workspace] = n
	if len(t.changes) == 2*maxChanges {
		t.changes = append(t.changes[:0], t.changes[maxChanges:]...)
	}
	t.changes = append(t.changes, change{at, workspace, by})
}

// OpenAt returns the number of open tasks by workspace as it was at a position that is not long past; ok is false if it is, or if it has
// not been counted yet.
func (t *Tally) OpenAt(at ledger.Position) (counts map[string]Open, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at > t.at {
		return nil, false
	}
	counts = maps.Clone(t.now)
	for i := len(t.changes) - 1; i >= 0; i-- {
		c := t.changes[i]
		if c.at <= at {
			return counts, true
		}
		n := counts[c.workspace]
		n.Tasks -= c.by.Tasks
		n.Parked -= c.by.Parked
		counts[c.workspace] = n
	}
	return counts, len(t.changes) < maxChanges
}

// of returns what alerts need to know of a workspace, for changes.
func (t *Tally) of(workspace string) *past {
	p := t.past[workspace]
	if p == nil {
		p = &past{}
		t.past[workspace] = p
	}
	return p
}

// work is a task that has not ended.
type work struct {
	last      int    // the number of its last handoff
	moved     int    // of the one that gave it to its owner
	lost      int    // of the one that gave it to the owner that lost it last
	version   uint64 // of its newest entry
	gap       bool   // an entry is missing
	owned     bool   // an agent owns it, or did
	hops      int
	parked    bool
	from      string // the sender of the last handoff
	shared    string // of the last share
	loser     string // the sender of the first envelope that lost a reference
	requester string // an agent by its name, others with their role
	times     event.Timeouts
	hurried   string // the principal that has offers end sooner than usual
	holder    holder
	flight    *flight // the handoff in progress
	ended     int     // the place of the one that ended last among those that are kept; 0: none has ended
	got       int     // the place of the one that gave it to its owner
}

// flight is a handoff in progress.
type flight struct {
	Handoff
	denied    bool
	confirmed bool
	source    string         // that it is from
	hurried   string         // the principal that has its offers end sooner than usual
	times     event.Timeouts // that its offers have
	target    string         // of its last offer; "": several have it
	looked    bool           // the target has seen that offer
	silent    bool           // its last offer ended without an answer
	offered   time.Time      // when its last offer was made
}

// NewTally returns a tally before the first entry.
func NewTally(o Options) *Tally {
	if o.MaxAgents <= 0 {
		o.MaxAgents = 1000
	}
	if o.MaxRecent <= 0 {
		o.MaxRecent = 20_000
	}
	return &Tally{
		o: o, tasks: ledger.NewCodec(event.Events...), names: counted(), set: NewSet(), open: map[ledger.Stream]*work{},
		recent: ring{most: o.MaxRecent}, labels: newLabels(), covered: map[string][2]float64{},
		now: map[string]Open{}, past: map[string]*past{}, circuits: ledger.NewCodec(agent.Events...), failures: map[[2]string][]failure{}, outcomes: map[[2]string]*outcomes{}, answered: map[[2]string]answers{},
	}
}

// Add counts entries, which must follow those before in the order of the ledger. Entries that were counted are ignored. An entry that
// cannot be decoded is an error, and nothing after it is counted.
func (t *Tally) Add(entries []ledger.Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range entries {
		e := &entries[i]
		if e.Position <= t.at {
			continue
		}
		if err := t.add(e); err != nil {
			return err
		}
		if t.begun.IsZero() {
			t.begun = e.Time
		}
		t.at = e.Position
	}
	return nil
}

// Skip goes on after an entry that cannot be read, which is in no figure; away: because it was put away, with all before it.
func (t *Tally) Skip(at ledger.Position, away bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = t.away || away
	t.at = max(t.at, at)
}

func (t *Tally) add(e *ledger.Entry) error {
	workspace, kind, id := e.Stream.Parts()
	switch kind {
	case ledger.TaskKind:
		return t.addTask(e, workspace, id)
	case "agent":
		return t.addAgent(e, workspace, id)
	}
	return nil
}

func (t *Tally) addTask(e *ledger.Entry, workspace, id string) error {
	w := t.open[e.Stream]
	if w != nil {
		w.gap = w.gap || e.Version != w.version+1
		w.version = e.Version
	}
	c := count{Tally: t, e: e, workspace: workspace, label: t.workspace(workspace), id: id, w: w}
	for _, ev := range e.Events {
		if !t.names[ev.Name] {
			continue
		}
		d, err := t.tasks.Decode(ev)
		if err != nil {
			return err
		}
		c.event(d)
	}
	return nil
}

// Agent returns the label of an agent as the figures name it: itself, or [Other] if they name others. It gives no label: who has one is
// in the record alone, and is the same after a restart.
func (t *Tally) Agent(workspace, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if name = t.identity(workspace, name); name == Other {
		name = AgentOther
	}
	if name == "" || t.agents[[2]string{workspace, name}] {
		return name
	}
	return Other
}

// Workspace returns the label of a workspace as the figures name it. It gives no label, as [Tally.Agent] does not.
func (t *Tally) Workspace(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spaces[name] {
		return name
	}
	return OtherWorkspaces
}

// Sample returns up to n tasks that have not ended, others each time.
func (t *Tally) Sample(n int) (tasks []ledger.Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.open { // in random order
		if len(tasks) == n {
			break
		}
		tasks = append(tasks, s)
	}
	return tasks
}

// Live reports whether a task has not ended.
func (t *Tally) Live(task ledger.Stream) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[task] != nil
}

// LastHandoff returns the id of the newest handoff of a task that has not ended; "" if it has ended, or had none.
func (t *Tally) LastHandoff(stream ledger.Stream) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[stream]
	if w == nil || w.last == 0 {
		return ""
	}
	_, _, task := stream.Parts()
	return event.HandoffID(task, w.last)
}

// Position is the position of the newest entry that is counted.
func (t *Tally) Position() ledger.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// Points returns the figures of the record, and the position of the newest entry that they count.
func (t *Tally) Points() ([]Point, ledger.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.set.list()
	for workspace, n := range t.covered {
		list = append(list, Point{Instrument: AuditCoverage, Values: Values{workspace}, Value: n[0] / n[1]})
	}
	for i := range list {
		list[i].Start = t.begun // not the start of the process: the counts go on where they were, which is no reset
	}
	Sort(list)
	return list, t.at
}

// Recent returns the handoffs of a workspace that ended at or after a time, the oldest first, and the time since which the list is
// complete: later than since if there were too many.
func (t *Tally) Recent(workspace string, since time.Time) (list []Handoff, complete time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recent.since(workspace, since)
}
