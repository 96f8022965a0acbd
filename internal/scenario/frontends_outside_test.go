//go:build outside

package scenario

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
)

// front is a front end in this process, of a record that others share.
type front struct {
	*testing.T
	server *server.Server
	boss   *api.Client
}

// engine is what keeps the record of front ends.
type engine struct {
	name string
	// start starts one that has no record. What it returns is where the record of the next front end is.
	start func(t *testing.T) (next func() server.Place)
}

// engines are those of a shared record.
var engines = []engine{
	{"PostgreSQL", func(t *testing.T) func() server.Place {
		db := pgtest.Start(t)
		return func() server.Place { return server.Place{Postgres: db.URL()} }
	}},
	{"JetStream", func(t *testing.T) func() server.Place {
		c, n := natstest.Start(t, 3), 0
		return func() server.Place {
			n++
			return server.Place{NATS: server.NATS{URL: c.Nodes[n%len(c.Nodes)].URL(), Synced: true}}
		}
	}},
}

// onEach runs a test on each engine.
func onEach(t *testing.T, test func(t *testing.T, next func() server.Place)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { test(t, e.start(t)) })
	}
}

// openFront starts a front end. What it returns stops it, once.
func openFront(t *testing.T, at server.Place, dir string) (f *front, stop func()) {
	t.Helper()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Record: at, Addr: "127.0.0.1:0", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	f = &front{T: t, server: s}
	f.boss = f.as(string(token))
	return f, stop
}

// as returns a client of the front end that makes each call once.
func (f *front) as(token string) *api.Client {
	f.Helper()
	c, err := api.New(f.server.URL(), token, api.Options{Retries: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	return c
}

// agent registers an agent and returns a token of it.
func (f *front) agent(name string, spec api.AgentSpec) api.Token {
	f.Helper()
	if _, err := f.boss.RegisterAgent(f.Context(), name, spec); err != nil {
		f.Fatal(err)
	}
	t, err := f.boss.CreateToken(f.Context(), api.TokenInput{Role: api.RoleAgent, Name: name})
	if err != nil {
		f.Fatal(err)
	}
	return t
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happens that ", what)
		}
	}
}

func code(err error) api.Code {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func TestAnOfferAtOneFrontEndIsAcceptedAtAnother(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		one, _ := openFront(t, next(), t.TempDir())
		other, _ := openFront(t, next(), t.TempDir())
		ann, bob := one.agent("ann", api.AgentSpec{}), one.agent("bob", api.AgentSpec{})
		var latest uint64 // position at which the task before this one ended: the other front end has read it
		for range 10 {
			type seen struct {
				in  api.Inbox
				err error
			}
			waits := make(chan seen, 1)
			go func() { // a long poll at the other front end
				in, err := other.as(bob.Text).Inbox(api.WithPosition(t.Context(), latest), api.InboxOptions{Wait: 30 * time.Second})
				waits <- seen{in, err}
			}()
			r, err := one.as(ann.Text).CreateTask(t.Context(), api.CreateInput{Intent: "look at it", Start: true, Send: &api.SendInput{To: []string{"bob"}}})
			if err != nil {
				t.Fatal(err)
			}
			got := <-waits
			if got.err != nil || len(got.in.Items) != 1 || got.in.Items[0].Task != r.Task {
				t.Fatalf("the inbox at the other front end: %+v, %v", got.in.Items, got.err)
			}
			item := got.in.Items[0]
			var all sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs { // the same agent, twice at each front end
				at := []*front{one, other}[i%2]
				all.Go(func() { _, errs[i] = at.as(bob.Text).Accept(t.Context(), item.ID, api.AcceptInput{Offer: item.Offer}) })
			}
			all.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				}
			}
			if won != 1 {
				t.Fatalf("%d of 4 calls accepted the offer: %v", won, errs)
			}
			task, err := one.as(ann.Text).Task(t.Context(), r.Task)
			if err != nil || task.Owner != "bob" {
				t.Fatalf("at the first front end the owner is %q, %v", task.Owner, err)
			}
			done, err := one.as(bob.Text).Complete(t.Context(), r.Task, api.CompleteInput{Epoch: task.Epoch})
			if err != nil {
				t.Fatal(err)
			}
			latest = done.Position
		}
	})
}

func TestWhatIsDoneAtOneFrontEndCountsAtTheOther(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		one, _ := openFront(t, next(), t.TempDir())
		other, _ := openFront(t, next(), t.TempDir())
		ann, bob := one.agent("ann", api.AgentSpec{}), one.agent("bob", api.AgentSpec{})
		if _, err := other.as(ann.Text).Me(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := one.boss.RevokeToken(t.Context(), ann.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := other.as(ann.Text).Me(t.Context()); code(err) != api.Unauthenticated {
			t.Errorf("a token that was revoked at one front end: %v at the other", err)
		}
		content := strings.Repeat("what the survey found\n", 100_000)
		put, err := one.as(bob.Text).PutArtifact(t.Context(), strings.NewReader(content), "")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := other.as(bob.Text).Artifact(t.Context(), put.Digest, &got); err != nil || got.String() != content {
			t.Errorf("an artifact that was put at one front end: %d bytes at the other, %v", got.Len(), err)
		}
		if _, err := other.as(bob.Text).Me(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := one.boss.RemoveAgent(t.Context(), "bob"); err != nil {
			t.Fatal(err)
		}
		until(t, "the removed agent's token is refused", func() bool {
			_, err := other.as(bob.Text).Me(t.Context())
			return code(err) == api.Unauthenticated
		})
		var keys [2]bytes.Buffer
		for i, f := range []*front{one, other} {
			if err := admin.New(f.boss).ProofKeys(t.Context(), &keys[i]); err != nil {
				t.Fatal(err)
			}
		}
		if keys[0].Len() == 0 || keys[0].String() != keys[1].String() {
			t.Errorf("the front ends sign with different keys: %q, %q", &keys[0], &keys[1])
		}
		if _, err := admin.New(one.boss).RotateKey(t.Context(), "why not"); code(err) != api.Conflict {
			t.Errorf("a rotation of the key that the front ends share: %v", err)
		}
	})
}

func TestAnAgentThatBeatsAtOneFrontEndIsReadyAtTheOther(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		one, _ := openFront(t, next(), t.TempDir())
		other, _ := openFront(t, next(), t.TempDir())
		token := one.agent("ann", api.AgentSpec{PresenceTTL: api.Duration(time.Second)})
		ann := one.as(token.Text)
		at := func(f *front) api.Agent {
			a, err := f.boss.Agent(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		offline, looks := 0, 0
		for last, end := time.Now(), time.Now().Add(patience); looks < 100; { // ten times as long as she may be silent
			began := time.Now()
			if err := ann.Beat(t.Context()); err != nil {
				t.Fatal(err)
			}
			is := at(other).Readiness
			if began.After(end) {
				t.Fatalf("in %s she did not beat often enough for more than %d looks", patience, looks)
			}
			if time.Since(last) < time.Second { // otherwise the machine stood still, and she was silent for too long
				if looks++; is == api.Offline {
					offline++
				}
			}
			last = began
			<-time.After(100 * time.Millisecond) // between two heartbeats
		}
		if offline > 0 {
			t.Errorf("%d times the other front end says that an agent is offline that beats", offline)
		}
		if seen := at(other).Seen; time.Since(seen) > time.Minute {
			t.Errorf("the other front end has not seen her: %v", seen)
		}
		until(t, "she is offline at both when she is silent", func() bool { return at(one).Readiness == api.Offline && at(other).Readiness == api.Offline })
	})
}

func TestAFrontEndThatLosesItsDataDirectoryLosesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		dir := t.TempDir()
		one, stop := openFront(t, next(), dir)
		ann := one.agent("ann", api.AgentSpec{})
		r, err := one.as(ann.Text).CreateTask(t.Context(), api.CreateInput{Intent: "keep this", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		var before, after bytes.Buffer
		if err := admin.New(one.boss).ProofKeys(t.Context(), &before); err != nil {
			t.Fatal(err)
		}
		stop()
		for _, dir := range []string{dir, t.TempDir()} { // the same again, and an empty one
			again, stop := openFront(t, next(), dir)
			list, err := again.as(ann.Text).Tasks(t.Context(), api.TaskFilter{})
			if err != nil || len(list.Tasks) != 1 || list.Tasks[0].ID != r.Task || list.Tasks[0].Owner != "ann" {
				t.Errorf("tasks after the start: %+v, %v", list.Tasks, err)
			}
			after.Reset()
			if err := admin.New(again.boss).ProofKeys(t.Context(), &after); err != nil || after.String() != before.String() {
				t.Errorf("keys after the start: %q, want %q, %v", &after, &before, err)
			}
			stop()
		}
	})
}

func TestWhatDoesNotGoWithAFrontEndIsRefusedWithAHint(t *testing.T) {
	onEach(t, func(t *testing.T, next func() server.Place) {
		follower, own := t.TempDir(), t.TempDir()
		_, stop := openFront(t, next(), follower)
		refused := func(what string, c server.Config, code refusal.Code) {
			t.Helper()
			c.Addr = "127.0.0.1:0"
			s, err := server.Open(t.Context(), c)
			if err == nil {
				_ = s.Close(t.Context())
			}
			r, ok := refusal.As(err)
			if !ok || r.Code != code || r.Hint == "" || strings.Contains(err.Error(), pgtest.Password) || strings.Contains(r.Hint, pgtest.Password) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := server.Open(t.Context(), server.Config{DataDir: follower, Record: next(), Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second server on one data directory: %v", err)
		}
		stop()
		s, err := server.Open(t.Context(), server.Config{DataDir: own, Addr: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused("a directory with a record of its own", server.Config{DataDir: own, Record: next()}, refusal.Conflict)
		refused("a directory that follows, without the database", server.Config{DataDir: follower}, refusal.Conflict)
		refused("erasable content", server.Config{DataDir: t.TempDir(), Record: next(), Erasable: true}, refusal.Invalid)
		refused("temporary data", server.Config{Temporary: true, Record: next()}, refusal.Invalid)
		if _, err := server.OpenRecord(follower); refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("trapeze verify: %v", err)
		}
		if _, err := server.Backup(t.Context(), follower, &bytes.Buffer{}, server.BackupOptions{}); refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(hintOf(err), "TRAPEZE_") {
			t.Errorf("trapeze backup: %v", err)
		}
	})
}

func TestAFrontEndOfAnotherRecordIsRefused(t *testing.T) {
	follower := t.TempDir()
	db, empty, cluster := pgtest.Start(t), pgtest.Start(t), natstest.Start(t, 3)
	_, stop := openFront(t, server.Place{Postgres: db.URL()}, follower)
	stop()
	for _, at := range []server.Place{{Postgres: empty.URL()}, {NATS: server.NATS{URL: cluster.Nodes[0].URL(), Synced: true}}} {
		s, err := server.Open(t.Context(), server.Config{DataDir: follower, Record: at, Addr: "127.0.0.1:0"})
		if err == nil {
			_ = s.Close(t.Context())
		}
		if refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(err.Error(), "follows another record") {
			t.Errorf("%v", err)
		}
	}
}

func hintOf(err error) string {
	if r, ok := refusal.As(err); ok {
		return r.Hint
	}
	return ""
}

func TestAFrontEndOfPostgreSQLWritesNothingOverARecordThatHasLostEntries(t *testing.T) {
	db := pgtest.Start(t)
	dir := t.TempDir()
	one, stop := openFront(t, server.Place{Postgres: db.URL()}, dir)
	ann := one.agent("ann", api.AgentSpec{})
	if _, err := one.as(ann.Text).CreateTask(t.Context(), api.CreateInput{Intent: "keep this", Start: true}); err != nil {
		t.Fatal(err)
	}
	stop() // which signs a checkpoint
	conn, err := pgx.Connect(t.Context(), db.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for _, q := range []string{ // as a backup that is older
		"ALTER TABLE trapeze.entries DISABLE TRIGGER USER", "DELETE FROM trapeze.entries WHERE position = (SELECT last FROM trapeze.record)",
		"UPDATE trapeze.record SET last = last - 1",
	} {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	var before, after int
	count := func(n *int) {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM trapeze.entries").Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	count(&before)
	again, err := server.Open(t.Context(), server.Config{DataDir: dir, Record: server.Place{Postgres: db.URL()}, Addr: "127.0.0.1:0"})
	if err == nil {
		f := &front{T: t, server: again}
		if _, err := f.as(ann.Text).CreateTask(t.Context(), api.CreateInput{Intent: "over it"}); code(err) != api.Unavailable {
			t.Errorf("a change on a record that has lost an entry: %v", err)
		}
		if err := f.as(ann.Text).Ready(t.Context()); err == nil {
			t.Error("the front end says that it is ready")
		}
		if err := again.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if count(&after); after != before {
		t.Errorf("%d entries were written over the loss; the start said %v", after-before, err)
	}
}
