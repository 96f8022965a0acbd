package sqlview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/cache"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/cursor"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/late"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
)

const (
	cacheSize = 4096 // tasks kept in memory per generation of the cache, and as many agents
	endedSize = 512  // of those tasks that have ended: mostly only their requesters still read a notice
	loadBatch = 500  // entries read at once when a stream is folded again
)

// topic is a key of a watch: the inbox of one agent (of the operators, if the agent is empty), or one task.
type topic struct{ workspace, agent, task string }

// projector writes the tables. Its methods run on one goroutine at a time, except those of its cursors.
type projector struct {
	statements
	load       func(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)
	events     *ledger.Codec[event.Event]
	agents     *ledger.Codec[agent.Event]
	tokens     *ledger.Codec[identity.Event]
	channels   *ledger.Codec[channel.Event]
	workspaces *ledger.Codec[workspace.Event]
	size       int                                   // of a generation of the caches
	at         ledger.Position                       // of the last entry projected
	tasks      cache.Cache[ledger.Stream, *taskFold] // that have not ended
	ended      cache.Cache[ledger.Stream, *taskFold]
	registered cache.Cache[ledger.Stream, agent.State]
	dirty      []*taskFold
	changed    map[ledger.Stream]bool // agents to be written
	archived   map[string]bool        // workspaces; nil: not read yet
	agentsNew  bool                   // an agent may have changed since the last call of committed
	touched    []topic                // changed by the last call of Project
	claims     []claimChange          // by the same call
	scratch    []item
	keys       []topic
	late       late.Late[counted]
	watched    func([]topic) bool // reports whether somebody watches one of the topics
	json       []byte
	cursors    *cursor.Cursors
	dependents dependents
	memory     *search.Writer

	committed func(done)
}

// done is the change of one commit, for readers.
type done struct {
	at         ledger.Position
	heard      bool    // nothing was written
	keys       []topic // what was heard is about: who began to watch before the commit read what was before it
	touched    []topic
	claims     []claimChange
	dependents dependents
	agents     bool // an agent may have changed
}

// claimChange is what became of the offer of a claim, which one of its receivers is to take.
type claimChange struct {
	of   topic   // the task
	to   []topic // receivers that get it
	over bool    // it is taken or ended
}

// dependents tells whether any task waits for another. Mostly none does, and then readers need no query for them.
type dependents int

const (
	unknown dependents = iota
	none
	some
)

var _ interface {
	sqlitelog.Projector
	sqlitelog.Committer
} = (*projector)(nil)

func newProjector(committed func(done)) *projector {
	p := &projector{
		events: ledger.NewCodec(event.Events...), agents: ledger.NewCodec(agent.Events...),
		tokens: ledger.NewCodec(identity.Events...), channels: ledger.NewCodec(channel.Events...),
		workspaces: ledger.NewCodec(workspace.Events...),
		memory:     search.NewWriter(), cursors: cursor.New(), committed: committed, size: cacheSize,
	}
	p.Forget()
	return p
}

// Setup implements [sqlitelog.Projector].
func (p *projector) Setup(tx *sqlconn.Tx) (ledger.Position, error) {
	at, err := setup(tx)
	if err != nil {
		return 0, err
	}
	if err := p.prepare(tx); err != nil {
		return 0, err
	}
	if err := p.memory.Setup(tx); err != nil {
		return 0, err
	}
	return at, p.cursors.Read(tx)
}

// Reset implements [sqlitelog.Projector].
func (p *projector) Reset(tx *sqlconn.Tx) error {
	p.Forget()
	for _, t := range tables {
		if err := tx.Exec("DELETE FROM " + t.Name); err != nil {
			return err
		}
	}
	_, err := p.setPosition.Exec(0)
	return errors.Join(err, kept.Empty(tx))
}

// Committed implements [sqlitelog.Committer].
func (p *projector) Committed(at, written ledger.Position) {
	if at == written {
		p.late.None()
	}
	p.publish(at, written)
}

// publish tells readers of a commit.
func (p *projector) publish(at, written ledger.Position) {
	d := done{at: at, heard: at > written, keys: p.keys, touched: p.touched, claims: p.claims, agents: p.agentsNew}
	p.agentsNew = false
	if p.at == d.at { // otherwise the last projection did not commit
		d.dependents = p.dependents
	}
	p.committed(d)
	p.touched, p.claims = p.touched[:0], nil
}

// Forget implements [sqlitelog.Projector]: the caches may be ahead of the tables.
func (p *projector) Forget() {
	p.at = 0
	p.tasks = cache.New[ledger.Stream, *taskFold](p.size)
	p.ended = cache.New[ledger.Stream, *taskFold](min(p.size, endedSize))
	p.registered = cache.New[ledger.Stream, agent.State](p.size)
	p.dirty, p.changed, p.touched, p.claims = nil, map[ledger.Stream]bool{}, nil, nil
	p.late.Forget()
	p.archived = nil
	p.dependents, p.agentsNew = unknown, true
	p.cursors.Forget()
}

// Project implements [sqlitelog.Projector].
func (p *projector) Project(tx *sqlconn.Tx, entries []ledger.Entry) (written bool, err error) {
	if !p.late.Started() || !onlyHeard(entries) || p.late.Asked() {
		return true, p.project(tx, entries)
	}
	now, err := p.hear(entries)
	if err != nil || !now {
		return false, err
	}
	return true, p.Flush(tx)
}

// Flush implements [sqlitelog.Projector].
func (p *projector) Flush(tx *sqlconn.Tx) error { return p.flush(tx, p.at) }

// project folds entries, and writes what they change.
func (p *projector) project(tx *sqlconn.Tx, entries []ledger.Entry) (err error) {
	done := false
	defer func() {
		if !done {
			p.Forget()
		}
	}()
	if len(entries) == 0 {
		return nil
	}
	if entries[0].Position <= p.at { // the last projection did not commit
		p.Forget()
	}
	if err := p.fold(tx, entries); err != nil {
		return err
	}
	if err := p.flush(tx, entries[len(entries)-1].Position); err != nil {
		return err
	}
	done = true
	return nil
}

// fold takes in entries. What they change is written by flush.
func (p *projector) fold(tx *sqlconn.Tx, entries []ledger.Entry) error {
	for i := range entries {
		if err := p.entry(tx, &entries[i]); err != nil {
			return &ledger.EntryError{Position: entries[i].Position, Stream: entries[i].Stream, Err: err}
		}
	}
	return nil
}

func (p *projector) entry(tx *sqlconn.Tx, e *ledger.Entry) error {
	workspace, kind, id := e.Stream.Parts()
	p.late.Count(counted{workspace: workspace, day: view.DayOf(e.Time)}, 1)
	switch kind {
	case ledger.TaskKind:
		return p.taskEntry(workspace, id, e)
	case "agent":
		return p.agentEntry(workspace, id, e)
	case "token":
		return p.tokenEntry(workspace, id, e)
	case "channel":
		return p.channelEntry(workspace, id, e)
	case "workspace":
		return p.workspaceEntry(id, e)
	case "memory":
		return p.memory.Memory(tx, workspace, id, e)
	case "conversation":
		return p.memory.Conversation(workspace, id, e)
	}
	return nil // access records and policies
}

// writeTasks writes the tasks that have changed.
func (p *projector) writeTasks() error {
	for _, t := range p.dirty {
		if err := p.write(t); err != nil {
			return fmt.Errorf("view of %s: %w", t.id, err)
		}
		t.dirty = false
		if t.state.State.Final() {
			p.tasks.Drop(t.stream)
			p.ended.Put(t.stream, t)
		}
	}
	clear(p.dirty)
	p.dirty = p.dirty[:0]
	return nil
}

// flush writes the changes of the entries.
func (p *projector) flush(tx *sqlconn.Tx, at ledger.Position) error {
	if err := p.writeTasks(); err != nil {
		return err
	}
	if err := p.writeCounts(); err != nil {
		return err
	}
	if err := p.writeAgents(); err != nil {
		return err
	}
	if err := p.cursors.Write(tx); err != nil {
		return err
	}
	if p.dependents == unknown {
		p.dependents = none
		if err := p.anyDependent.Query(func(sqlconn.Row) error { p.dependents = some; return nil }); err != nil {
			return err
		}
	}
	if _, err := p.setPosition.Exec(at); err != nil {
		return err
	}
	p.at = at
	p.late.Timed()
	p.tasks.MakeRoom()
	p.ended.MakeRoom()
	p.registered.MakeRoom()
	return nil
}

func (p *projector) agentEntry(workspace, name string, e *ledger.Entry) error {
	s, ok := p.registered.Get(e.Stream)
	if !ok && e.Version != 1 {
		if err := p.getAgent.Query(func(row sqlconn.Row) error { return json.Unmarshal(row.Blob(0), &s) }, workspace, name); err != nil {
			return err
		}
	}
	if err := foldEntry(&s, e, p.agents, agent.Fold); err != nil {
		return err
	}
	p.registered.Put(e.Stream, s)
	p.changed[e.Stream], p.agentsNew = true, true
	return nil
}

// foldEntry applies the events of an entry to a state.
func foldEntry[S any, E ledger.Named](s *S, e *ledger.Entry, codec *ledger.Codec[E], fold func(S, E) S) error {
	for i := range e.Events {
		event, err := codec.Decode(e.Events[i])
		if err != nil {
			return err
		}
		*s = fold(*s, event)
	}
	return nil
}

func (p *projector) writeAgents() error {
	for stream := range p.changed {
		s, _ := p.registered.Get(stream)
		workspace, _, name := stream.Parts()
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if _, err := p.putAgent.Exec(workspace, name, s.Removed, b); err != nil {
			return err
		}
		delete(p.changed, stream)
	}
	return nil
}

// tokenEntry needs no cache: a token has two events.
func (p *projector) tokenEntry(workspace, id string, e *ledger.Entry) error {
	var s identity.State
	n := int64(e.Position) //nolint:gosec // positions fit
	err := p.getToken.Query(func(row sqlconn.Row) error {
		n = row.Int64(1)
		return json.Unmarshal(row.Blob(0), &s)
	}, workspace, id)
	if err != nil {
		return err
	}
	if err := foldEntry(&s, e, p.tokens, identity.Fold); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = p.putToken.Exec(workspace, id, n, b)
	return err
}

// channelEntry needs no cache: channels rarely change.
func (p *projector) channelEntry(workspace, name string, e *ledger.Entry) error {
	var s channel.State
	err := p.getChannel.Query(func(row sqlconn.Row) error { return json.Unmarshal(row.Blob(0), &s) }, workspace, name)
	if err != nil {
		return err
	}
	if err := foldEntry(&s, e, p.channels, channel.Fold); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = p.putChannel.Exec(workspace, name, s.Removed, b)
	return err
}

// agentOf returns the name of an agent, given as such or as a principal; "" for any other principal.
func agentOf(principal string) string {
	name := strings.TrimPrefix(principal, "agent/")
	if strings.Contains(name, "/") {
		return ""
	}
	return name
}
