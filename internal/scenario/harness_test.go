package scenario

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// harness is the program without its APIs, on one ledger.
type harness struct {
	testing.TB
	app    *usecase.UseCases
	ledger ledger.Ledger
	views  *sqlview.Views
	stop   func()
	skew   atomic.Int64           // nanoseconds that the harness's clock is ahead
	policy atomic.Pointer[string] // the policy file of every workspace
	advise atomic.Pointer[advise] // what the adviser does that a policy with llm names
}

// advise is an adviser of a test.
type advise func(ctx context.Context, by string, choices []routing.Choice) (routing.Advice, error)

// Advise implements [routing.Adviser].
func (a advise) Advise(ctx context.Context, by string, _ *policy.Situation, choices []routing.Choice) (routing.Advice, error) {
	return a(ctx, by, choices)
}

// now is the clock of the harness.
func (h *harness) now() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }

// ledgers are the technologies that every story runs on: these, or the one of -engine. See ledgers_fast_test.go.
var ledgers = []string{"sqlite", "distributed"}

// sound is the one for stories in which the faults of the double would change what is counted.
func sound() string {
	if openAt != nil {
		return ledgers[0]
	}
	return "sqlite"
}

// openAt opens the record of a place on the engine that the stories run on; nil: it is in a file there. Only tests with the build tag outside set it.
var openAt func(place string) (ledger.Ledger, error)

// recordOf is where the record of the server of a data directory is: on the engine that stories run on. rigRecord says that to a process of its own, by its environment.
var (
	recordOf  = func(testing.TB, string) server.Place { return server.Place{} }
	rigRecord = func(testing.TB, string) []string { return nil }
)

// openRecord opens the record of a directory, and its views.
func openRecord(ctx context.Context, dir string) (ledger.Ledger, *sqlview.Views, error) {
	if openAt == nil {
		return sqlview.OpenEmbedded(ctx, filepath.Join(dir, "trapeze.db"), sqlitelog.Options{})
	}
	l, err := openAt(dir)
	if err != nil {
		return nil, nil, err
	}
	views, err := sqlview.Follow(ctx, l, filepath.Join(dir, "views.db"))
	return l, views, err
}

// Further ones: see [lostOffers], [lateAnswers] and [lateWaits].
const (
	lostOffer  = "lost offer"
	lateAnswer = "late answer"
	lateWait   = "late wait"
)

// faults are those of the double in stories: everything that a distributed log may do.
var faults = ledgertest.Faults{
	Seed: 1, Conflicts: 0.1, Written: 0.03, Lost: 0.03, Gaps: 3, Lag: 20 * time.Millisecond, Latency: 2 * time.Millisecond,
}

var seedFlag = flag.Uint64("seed", 0, "what tests choose at random: kills, calls, the faults of ledgers; 0 means one by the clock for kills and calls, and always the same for the rest")

// open returns a harness. Close it with stop; t does so, too.
func open(t testing.TB, kind string) *harness {
	t.Helper()
	h := &harness{TB: t}
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	switch kind {
	case sound():
		h.ledger, h.views, err = openRecord(ctx, t.TempDir())
	default:
		f := faults
		f.Seed += *seedFlag
		h.ledger = ledgertest.NewDouble(f)
		switch plain := ledgertest.NewDouble(ledgertest.Faults{}); kind {
		case lostOffer:
			h.ledger = &lostOffers{Ledger: plain}
		case lateAnswer:
			h.ledger = lateAnswers{plain}
		case lateWait:
			h.ledger = lateWaits{plain}
		}
		h.views, err = sqlview.Follow(ctx, h.ledger, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := filestore.Open(t.TempDir(), filestore.Options{Now: h.now})
	if err != nil {
		t.Fatal(err)
	}
	if h.app, err = usecase.New(h.ledger, h.views.Store(), usecase.Options{Now: h.now, Artifacts: store, Policy: policies.Options{Read: h.readPolicy, Adviser: h.adviser}}); err != nil {
		t.Fatal(err)
	}
	h.courier()
	stop := h.stop
	h.stop = func() {
		cancel()
		stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	return h
}

func (h *harness) readPolicy(string) (policies.File, error) {
	if text := h.policy.Load(); text != nil {
		return policies.File{Name: "policy.yaml", Text: []byte(*text)}, nil
	}
	return policies.File{None: true}, nil
}

func (h *harness) adviser(policy.LLM) (routing.Adviser, error) {
	return advise(func(ctx context.Context, by string, choices []routing.Choice) (routing.Advice, error) {
		return (*h.advise.Load())(ctx, by, choices)
	}), nil
}

// courier starts the courier. stop ends it and closes the harness.
func (h *harness) courier() {
	ctx, cancel := context.WithCancel(context.Background())
	post := courier.New(h.app.FollowUp, h.ledger, h.views.Store(), courier.Options{Now: h.now})
	done := make(chan struct{})
	go func() {
		post.Run(ctx)
		close(done)
	}()
	h.stop = func() {
		cancel()
		<-done
		h.countAgain()
		h.byTheRules()
		if err := h.views.Close(); err != nil {
			h.Error(err)
		}
		if err := h.ledger.Close(); err != nil {
			h.Error(err)
		}
	}
}

func (h *harness) as(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

func (h *harness) agent(name string) caller.Caller { return h.as(identity.Agent, name) }

func (h *harness) operator() caller.Caller { return h.as(identity.Operator, "ann") }

// join registers agents.
func (h *harness) join(names ...string) {
	h.Helper()
	for _, n := range names {
		h.register(n, agents.AgentSpec{})
	}
}

func (h *harness) register(name string, spec agents.AgentSpec) {
	h.Helper()
	ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) {
		return h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: name, Spec: spec})
	})
}

// keys numbers the calls of a test, so that each has an idempotency key of its own.
var keys atomic.Int64

// call makes a call as a client should: with a key, and again while its outcome is unknown.
func call[T any](c caller.Caller, do func(caller.Caller) (T, error)) (T, error) {
	c = c.WithKey(fmt.Sprintf("call-%d", keys.Add(1)))
	for {
		v, err := do(c)
		if code := refusal.CodeOf(err); code != refusal.Unknown {
			return v, err
		}
	}
}

// known makes a call again while its outcome is unknown. It is for reads, which a distributed ledger may not know to be recorded, and for changes whose
// caller has a key.
func known[I, T any](t testing.TB, c caller.Caller, do func(context.Context, caller.Caller, I) (T, error), in I) (T, error) {
	for {
		v, err := do(ctx(t), c, in)
		if refusal.CodeOf(err) != refusal.Unknown {
			return v, err
		}
	}
}

// ok is a call that must not be refused.
func ok[T any](t testing.TB, c caller.Caller, do func(caller.Caller) (T, error)) T {
	t.Helper()
	v, err := call(c, do)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ctx is a context for one call.
func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return c
}
