package viewtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Store is a view store that can be rebuilt and compared.
type Store struct {
	view.Store
	Rebuilder
}

// Rebuilder is what the suite needs of a view store besides its contract.
type Rebuilder interface {
	// Rebuild builds the views again from the ledger.
	Rebuild(ctx context.Context) error
	// Digest returns a digest of all views, and their position.
	Digest(ctx context.Context) (string, ledger.Position, error)
	// Verify compares the views with new ones.
	Verify(ctx context.Context) error
}

// Open opens an empty ledger and its views, and closes them with t.Cleanup.
type Open func(t *testing.T) (ledger.Ledger, Store)

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, story := range []struct {
		name string
		tell func(*stage)
	}{
		{"a handoff shows from its request to its end", handoffStory},
		{"lists are filtered and paged", listStory},
		{"tasks are listed by when they last changed", changedStory},
		{"an inbox has the highest priority first, then the oldest", orderStory},
		{"within a priority of an inbox, senders take turns", turnsStory},
		{"an inbox is gone through by its cursor", cursorOfInboxStory},
		{"a claim is in every inbox until one accepts", claimStory},
		{"a handoff waits for the circuits of its candidates", waitingStory},
		{"a subscriber that could take nothing may join a published task later", publishStory},
		{"open tasks are counted for their requester", openStory},
		{"a rejection moves the offer to the next inbox", rejectionStory},
		{"an approval waits for its approver or any operator", approvalStory},
		{"an explicit confirm waits for the source", confirmStory},
		{"shares and asks are in inboxes until they are read or answered", shareStory},
		{"dependents are listed until they end", dependentStory},
		{"clocks come due in order", dueStory},
		{"agents are listed until they are removed", agentStory},
		{"channels are listed until they are removed", channelStory},
		{"tokens are listed from the oldest", tokenStory},
		{"workspaces do not see each other", workspaceStory},
		{"workspaces are listed, and what they use is counted", madeStory},
		{"no timer of an archived workspace is due", archivedStory},
		{"a watcher is called for its inbox alone", watchStory},
		{"a task is watched apart from others", watchTaskStory},
		{"waiting ends at its position", waitStory},
		{"cursors are kept", cursorStory},
		{"a long name of a task's content is only previewed", previewStory},
		{"a dead letter shows why", deadStory},
		{"tickets are listed for those who may see to them", ticketStory},
		{"tickets are listed in the order of due and of closing times, and counted", ticketOrderStory},
		{"a question waits in the inbox of whom it was asked of by name, until it is answered or goes on", questionStory},
		{"a child in the dead letters, and results, are in the inbox of the waiting agent", strandedStory},
		{"a task that is its owner's again is in the owner's inbox", resumedStory},
		{"ends and losses that an agent did not cause are in its inbox until it has seen them", noticeStory},
		{"tasks are listed by the artifacts that they refer to", referenceStory},
		{"decisions of routing are listed by their rule and policy", decisionStory},
		{"memory is found by those who may read it", memoryStory},
		{"memory is found as it is now, and not once forgotten", memoryLifeStory},
		{"a search lists the best item first", rankStory},
		{"vectors find what is near, of what the caller may read", vectorStory},
		{"whatever is searched for is only words", oddQueryStory},
		{"a search finds identifiers, compounds, texts without blanks and mistyped words", meaningStory},
		{"conversations are listed for those who take part", conversationStory},
		{"tasks that give access to memory are listed", tasksOfStory},
		{"memory of one workspace is not found in another", memoryWorkspaceStory},
	} {
		t.Run(story.name, func(t *testing.T) {
			s := newStage(t, open)
			story.tell(s)
			s.verify()
		})
	}
	t.Run("random stories look as a model says", func(t *testing.T) { randomStories(t, open) })
	t.Run("random readers miss nothing in an inbox", func(t *testing.T) { randomReaders(t, open) })
	t.Run("random memory looks as a model says", func(t *testing.T) { randomMemory(t, open) })
}

// stage drives a ledger as the use cases do.
type stage struct {
	*testing.T
	ledger ledger.Ledger
	views  Store
	ctx    context.Context //nolint:containedctx // of the test
	ws     string
	now    time.Time
	keys   int
	facts  *ledger.Codec[event.Event]
	agents *ledger.Codec[agent.Event]
	tokens *ledger.Codec[identity.Event]
	lists  *ledger.Codec[channel.Event]
	spaces *ledger.Codec[workspace.Event]
	items  *ledger.Codec[memory.Event]
	talks  *ledger.Codec[conversation.Event]
	crowds map[string]*view.AgentLoads // by workspace, as they were last
}

func newStage(t *testing.T, open Open) *stage {
	l, v := open(t)
	return &stage{
		T: t, ledger: l, views: v, ctx: t.Context(), ws: "main", now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		facts: ledger.NewCodec(event.Events...), agents: ledger.NewCodec(agent.Events...),
		tokens: ledger.NewCodec(identity.Events...), lists: ledger.NewCodec(channel.Events...),
		spaces: ledger.NewCodec(workspace.Events...),
		items:  ledger.NewCodec(memory.Events...),
		talks:  ledger.NewCodec(conversation.Events...),
	}
}

// id names the n-th task.
func id(n int) string { return fmt.Sprintf("task_%026d", n) }

func agentOf(name string) identity.Principal {
	return identity.Principal{Role: identity.Agent, Name: name}
}

var (
	operator = identity.Principal{Role: identity.Operator, Name: "olga"}
	system   = identity.Principal{Role: identity.System, Name: "courier"}
)

// do decides commands on a task, appends what comes of it, and waits until the views have it. The test fails if a
// command is refused.
func (s *stage) do(task string, commands ...handoff.Command) {
	s.Helper()
	for _, c := range commands {
		if err := s.try(task, c); err != nil {
			s.Fatalf("%T on %s: %v", c, task, err)
		}
	}
}

// try is do for one command that may be refused.
func (s *stage) try(taskID string, c handoff.Command) error {
	s.now = s.now.Add(time.Second)
	_, err := put(s, "task", taskID, s.facts, func(events []event.Event) ([]event.Event, error) {
		return handoff.Decide(task.FoldAll(task.Task{}, events), c, s.now)
	})
	return err
}

// task is the fold of a task's stream.
func (s *stage) task(taskID string) task.Task {
	s.Helper()
	events, _, _, err := history(s, ledger.StreamOf(s.ws, "task", taskID), s.facts)
	if err != nil {
		s.Fatal(err)
	}
	return task.FoldAll(task.Task{}, events)
}

// put appends what decide makes of a stream, again after conflicts and unknown outcomes, and waits for the views.
func put[E ledger.Named](s *stage, kind, name string, codec *ledger.Codec[E], decide func([]E) ([]E, error)) (ledger.Position, error) {
	s.Helper()
	stream := ledger.StreamOf(s.ws, kind, name)
	s.keys++
	key := fmt.Sprintf("key-%d", s.keys)
	for {
		before, last, newest, err := history(s, stream, codec)
		if err != nil {
			s.Fatal(err)
		}
		if newest == key {
			return last.at, s.views.Wait(s.ctx, last.at)
		}
		events, err := decide(before)
		if err != nil || len(events) == 0 {
			return last.at, err
		}
		encoded, err := codec.EncodeAll(events)
		if err != nil {
			s.Fatal(err)
		}
		e := ledger.Entry{
			Stream: stream, Version: last.version + 1, Time: s.now, Actor: ledger.Actor{Principal: "system/test"},
			Key: key, Events: encoded,
		}
		at, err := s.ledger.Append(s.ctx, e, last.at)
		switch {
		case err == nil:
			if err := s.views.Wait(s.ctx, at); err != nil {
				s.Fatal(err)
			}
			return at, nil
		case !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrUnknown) || s.ctx.Err() != nil:
			s.Fatal(err)
		}
	}
}

type end struct {
	at      ledger.Position
	version uint64
}

func history[E ledger.Named](s *stage, stream ledger.Stream, codec *ledger.Codec[E]) (events []E, last end, key string, err error) {
	entries, err := s.ledger.Stream(s.ctx, stream, 0, 100_000)
	for _, e := range entries {
		decoded, err := codec.DecodeAll(e.Events)
		if err != nil {
			return nil, last, "", err
		}
		events = append(events, decoded...)
		last, key = end{e.Position, e.Version}, e.Key
	}
	return events, last, key, err
}

// verify checks that the views are what a rebuild gives, in place and beside.
func (s *stage) verify() {
	s.Helper()
	if err := s.views.Err(); err != nil {
		s.Fatal(err)
	}
	before, at, err := s.views.Digest(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	if err := s.views.Verify(s.ctx); err != nil {
		s.Error(err)
	}
	if err := s.views.Rebuild(s.ctx); err != nil {
		s.Fatal(err)
	}
	after, again, err := s.views.Digest(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	if before != after || at != again {
		s.Errorf("a rebuild at %d gives other views than there were at %d", again, at)
	}
}

// create makes a task of an agent.
func (s *stage) create(n int, requester identity.Principal) string {
	s.Helper()
	s.do(id(n), handoff.Create{By: requester, Task: id(n), Intent: fmt.Sprintf("do %d", n)})
	return id(n)
}

// to requests a warm handoff to agents in turn.
func (s *stage) to(task string, names ...string) handoff.Send {
	t := s.task(task)
	r := handoff.Send{By: operator, Kind: event.Warm, Reason: event.ReasonSpecialization, Detail: "please", Envelope: s.seal(t)}
	for _, name := range names {
		r.Candidates = append(r.Candidates, event.Candidate{Agent: name, Tier: event.TierTarget})
	}
	return r
}

func (s *stage) seal(t task.Task) event.Sealed {
	s.keys++
	return event.Sealed{Digest: fmt.Sprintf("sha256:%d", s.keys), Parent: t.Envelope, Bytes: []byte("{}")}
}

func (s *stage) inbox(name string) []view.Item {
	s.Helper()
	box, err := s.views.Inbox(s.ctx, s.ws, name, view.InboxFilter{})
	if err != nil {
		s.Fatal(err)
	}
	return box.Items
}

// wantInbox compares an inbox with "type id" in order.
func (s *stage) wantInbox(name string, want ...string) []view.Item {
	s.Helper()
	items := s.inbox(name)
	got := []string{}
	for _, i := range items {
		got = append(got, string(i.Type)+" "+i.ID)
	}
	if !slices.Equal(got, want) {
		s.Fatalf("inbox of %q: got %q, want %q", name, got, want)
	}
	return items
}

func (s *stage) list(f view.TaskFilter) []view.TaskRow {
	s.Helper()
	tasks, err := s.views.Tasks(s.ctx, s.ws, f)
	if err != nil {
		s.Fatalf("%+v: %v", f, err)
	}
	return tasks
}

func (s *stage) wantTasks(f view.TaskFilter, want ...string) {
	s.Helper()
	got := []string{}
	for _, t := range s.list(f) {
		got = append(got, t.ID)
	}
	if !slices.Equal(got, want) {
		s.Errorf("tasks of %+v: got %q, want %q", f, got, want)
	}
	f.After, f.Limit = "", view.MaxPage
	all := map[event.State]int{}
	for _, t := range s.list(f) {
		all[t.State]++
	}
	if counts, err := s.views.StateCounts(s.ctx, s.ws, f); err != nil || !maps.Equal(counts, all) {
		s.Errorf("counts of %+v: got %v, %v, want %v", f, counts, err, all)
	}
}

func (s *stage) wantHeld(name string, want int) {
	s.Helper()
	got, err := s.views.Held(s.ctx, s.ws, name)
	if err != nil || got != want {
		s.Errorf("%s holds %d, %v; want %d", name, got, err, want)
	}
	if crowd := s.wantLoads(); crowd.Held[name] != want {
		s.Errorf("in the crowd %s holds %d; want %d", name, crowd.Held[name], want)
	}
}

// wantLoads checks that the crowd, also where it is made of what it was before, is what the other questions answer.
func (s *stage) wantLoads() *view.AgentLoads {
	s.Helper()
	crowd, err := s.views.AgentLoads(s.ctx, s.ws, s.crowds[s.ws])
	if err != nil {
		s.Fatal(err)
	}
	if s.crowds == nil {
		s.crowds = map[string]*view.AgentLoads{}
	}
	s.crowds[s.ws] = crowd
	agents, err := s.views.Agents(s.ctx, s.ws)
	if err != nil || !reflect.DeepEqual(crowd.Agents, agents) {
		s.Errorf("the crowd is %+v, %v; want %+v", crowd.Agents, err, agents)
	}
	for _, a := range agents {
		held, err := s.views.Held(s.ctx, s.ws, a.Name)
		if err != nil || crowd.Held[a.Name] != held {
			s.Errorf("in the crowd %s holds %d, %v; want %d", a.Name, crowd.Held[a.Name], err, held)
		}
	}
	again, err := s.views.AgentLoads(s.ctx, s.ws, crowd)
	if err != nil || again != crowd {
		s.Errorf("what has not changed is read again: %v", err)
	}
	return crowd
}
