package memories_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/random"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

const home = identity.DefaultWorkspace

// harness is the memories over a ledger and its views. Of its tasks, only the creation is recorded; how
// they stand is what the test says.
type harness struct {
	*testing.T
	items     *memories.Memories
	store     *memories.Store
	talks     *conversations.Conversations
	ledger    *ledgertest.Double
	views     *sqlview.Views
	mu        sync.Mutex
	now       time.Time
	still     bool // the clock stands
	tasks     map[string]task.Task
	envelopes map[string][]byte
	n         int
	opened    int // envelopes
	meaning   memories.Options
}

func open(t *testing.T) *harness {
	t.Helper()
	h := &harness{
		T: t, ledger: ledgertest.NewDouble(ledgertest.Faults{}), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		tasks: map[string]task.Task{}, envelopes: map[string][]byte{},
	}
	var err error
	if h.views, err = sqlview.Follow(context.Background(), h.ledger, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.views.Close(), h.ledger.Close()); err != nil {
			t.Error(err)
		}
	})
	h.restart()
	return h
}

// restart makes stores that remembers nothing.
func (h *harness) restart() {
	h.Helper()
	h.build(h.views.Store())
}

func (h *harness) build(views view.Store) {
	h.Helper()
	log, err := access.New(h.ledger, h.clock)
	if err != nil {
		h.Fatal(err)
	}
	talks, err := conversations.NewStore(h.ledger, views, h, h.clock)
	if err != nil {
		h.Fatal(err)
	}
	if h.store, err = memories.NewStore(h.ledger, views, h, h, talks, h.clock); err != nil {
		h.Fatal(err)
	}
	if h.items, err = memories.New(h.store, log, random.New(h), h.meaning, nil); err != nil {
		h.Fatal(err)
	}
	known, err := agents.NewStore(h.ledger, views, h.clock)
	if err != nil {
		h.Fatal(err)
	}
	h.talks = conversations.New(talks, known, log)
}

// Find implements [taskstore.Finder].
func (h *harness) Find(_ context.Context, ws, id string) (task.Task, error) {
	return h.tasks[ws+"/"+id], nil
}

// Bytes implements [memories.Envelopes].
func (h *harness) Bytes(_ context.Context, ws, id, digest string) ([]byte, error) {
	h.opened++
	if b, ok := h.envelopes[ws+"/"+id+"/"+digest]; ok {
		return b, nil
	}
	return nil, refusal.New(refusal.NotFound, "", "no envelope")
}

func (h *harness) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.still {
		h.now = h.now.Add(time.Second)
	}
	return h.now
}

// Read implements [io.Reader]: the bytes are predictable, but never the same.
func (h *harness) Read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	return copy(b, fmt.Sprintf("%016d", h.n)), nil
}

func as(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: home, Role: role, Name: name}}
}

func agent(name string) caller.Caller { return as(identity.Agent, name) }

var operator, auditor = as(identity.Operator, "olga"), as(identity.Auditor, "kim")

func (h *harness) settle() {
	h.Helper()
	last, err := h.ledger.Last(h.Context())
	if err == nil {
		err = h.views.Wait(h.Context(), last)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// task records a task that an agent created, and returns its state.
func (h *harness) task(n int, requester string, stands func(*task.Task)) string {
	h.Helper()
	id := event.TaskID([16]byte{15: byte(n)})
	t := task.Task{ID: id, State: event.Pending, Requester: "agent/" + requester, Intent: "migrate the orders table"}
	if stands != nil {
		stands(&t)
	}
	codec := ledger.NewCodec(event.Events...)
	made := event.Created{Task: id, Requester: t.Requester, Intent: t.Intent, Conversation: t.Conversation, At: h.clock()}
	events := []event.Event{made}
	for n, name := range involved(t) {
		events = append(events, event.Shared{Share: n + 1, To: name})
	}
	coded, err := codec.EncodeAll(events)
	if err != nil {
		h.Fatal(err)
	}
	_, err = h.ledger.Append(h.Context(), ledger.Entry{
		Stream: ledger.StreamOf(home, "task", id), Version: 1, Time: h.clock(), Actor: ledger.Actor{Principal: t.Requester}, Events: coded,
	}, 0)
	if err != nil {
		h.Fatal(err)
	}
	h.tasks[home+"/"+id] = t
	return id
}

// started is a task that is recorded as worked on.
func (h *harness) started(n int, requester, owner string) string {
	h.Helper()
	id := h.task(n, requester, owned(owner))
	coded, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{event.Started{Agent: owner}})
	if err != nil {
		h.Fatal(err)
	}
	s := ledger.StreamOf(home, "task", id)
	before, err := h.ledger.Stream(h.Context(), s, 0, 10)
	if err == nil {
		_, err = h.ledger.Append(h.Context(), ledger.Entry{
			Stream: s, Version: 2, Time: h.clock(), Actor: ledger.Actor{Principal: "agent/" + owner}, Events: coded,
		}, before[0].Position)
	}
	if err != nil {
		h.Fatal(err)
	}
	return id
}

// involved are those whom views know to have to do with a task.
func involved(t task.Task) (names []string) {
	for _, v := range t.Path {
		names = append(names, v.Agent)
	}
	if t.Handoff != nil {
		names = append(append(names, t.Handoff.To...), t.Handoff.Approver)
	}
	return names
}

// stands changes how a task stands.
func (h *harness) stands(id string, change func(*task.Task)) {
	t := h.tasks[home+"/"+id]
	change(&t)
	h.tasks[home+"/"+id] = t
}

// owned is a task that an agent works on, after others.
func owned(agents ...string) func(*task.Task) {
	return func(t *task.Task) {
		t.State, t.Owner, t.Path, t.Involved = event.Executing, agents[len(agents)-1], nil, agents
		t.Tenures = nil
		for _, a := range agents {
			t.Path, t.Tenures = append(t.Path, event.Visit{Agent: a}), append(t.Tenures, task.Tenure{Agent: a, Until: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		}
		t.Tenures[len(agents)-1].Until = time.Time{}
	}
}

// seal makes an envelope of a task with what was gathered. A packed one has another as its source.
func (h *harness) seal(task string, refs []envelope.MemoryRef, source string) string {
	h.Helper()
	doc := envelope.Envelope{
		Version: envelope.Version, Parent: source, CreatedAt: h.clock(), Priority: event.Normal, Memory: refs,
		Handoff: envelope.Header{TaskID: task, From: "ann"}, Task: envelope.Task{Intent: "x"},
	}
	if source != "" {
		doc.Packing = envelope.Packing{Strategy: event.StrategyPriority, Tokens: 1, Tokenizer: "o200k_base", Completeness: 1}
	}
	salt := make([]byte, 16)
	_, _ = h.Read(salt)
	s, err := envelope.Seal(doc, salt)
	if err != nil {
		h.Fatal(err)
	}
	h.envelopes[home+"/"+task+"/"+s.Digest] = s.Bytes
	return s.Digest
}

// must is a call that is not refused.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (h *harness) remember(by caller.Caller, in memories.RememberInput) memories.Item {
	h.Helper()
	h.n++
	x, err := h.items.Remember(h.Context(), by.WithKey(fmt.Sprintf("key-%d", h.n)), in)
	if err != nil {
		h.Fatalf("%+v: %v", in, err)
	}
	return x
}

func (h *harness) say(by caller.Caller, in conversations.AppendTurnInput) conversations.Said {
	h.Helper()
	if in.Role == "" {
		in.Role = "assistant"
	}
	s, err := h.talks.AppendTurn(h.Context(), by, in)
	if err != nil {
		h.Fatalf("%+v: %v", in, err)
	}
	return s
}

// refused wants a refusal with a hint, and a message that tells nothing.
func refused(t testing.TB, what string, err error, code refusal.Code) {
	t.Helper()
	r, ok := refusal.As(err)
	if !ok || r.Code != code || strings.Contains(err.Error(), secret) {
		t.Errorf("%s: %v, want %s", what, err, code)
		return
	}
	if r.Hint == "" {
		t.Errorf("%s: %v has no hint", what, err)
	}
}

const secret = "swordfish"

func (h *harness) read(by caller.Caller, in memories.MemoryInput) (memories.Item, error) {
	return h.items.Show(h.Context(), by, in)
}

// finds are the ids that a search finds, in order.
func (h *harness) finds(by caller.Caller, in memories.SearchInput) []string {
	h.Helper()
	h.settle()
	found, err := h.items.Search(h.Context(), by, in)
	if err != nil {
		h.Fatalf("%+v: %v", in, err)
	}
	ids := []string{}
	for _, x := range found.Items {
		ids = append(ids, x.ID)
	}
	return ids
}

func (h *harness) wantFound(by caller.Caller, in memories.SearchInput, want ...string) {
	h.Helper()
	if got := h.finds(by, in); !slices.Equal(got, want) {
		h.Errorf("%s finds %q by %+v, want %q", by.Principal, got, in, want)
	}
}

// reads are the items and texts that the record says a principal was given.
func (h *harness) reads(by caller.Caller) (all []string) {
	h.Helper()
	codec := ledger.NewCodec(access.ContentRead{})
	entries, err := h.ledger.Read(h.Context(), 0, 100_000)
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range entries {
		if e.Actor.Principal != by.String() {
			continue
		}
		for _, ev := range e.Events {
			if d, err := codec.Decode(ev); err == nil {
				all = append(all, strings.TrimSpace(d.Task+" "+d.What+" "+strings.Join(d.Items, ",")))
			}
		}
	}
	return all
}
