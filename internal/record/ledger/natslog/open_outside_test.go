//go:build outside

package natslog_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

func TestAStreamInWhichEntriesWouldNotBeSafeIsRefused(t *testing.T) {
	c := natstest.Start(t, 3)
	conn := c.Connect(t, 0)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	good := func(name string) jetstream.StreamConfig {
		return natslog.Wanted(natslog.Options{Name: name, Replicas: 3})
	}
	for name, spoil := range map[string]func(*jetstream.StreamConfig){
		"REPLICAS": func(c *jetstream.StreamConfig) { c.Replicas = 1 },
		"MEMORY":   func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"OLD":      func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"AGE":      func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"DELETE":   func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"PURGE":    func(c *jetstream.StreamConfig) { c.DenyPurge = false },
		"SMALL":    func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 << 20 },
		"DIRECT":   func(c *jetstream.StreamConfig) { c.AllowDirect = false },
		"OTHER":    func(c *jetstream.StreamConfig) { c.Metadata = nil },
		"NEWER":    func(c *jetstream.StreamConfig) { c.Metadata["trapeze-format"] = "2" },
	} {
		o := good(name)
		spoil(&o)
		until(t, "the stream "+name, func() bool {
			_, err = js.CreateStream(t.Context(), o)
			return err == nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, jetstream.ErrNoStreamResponse) && !strings.Contains(err.Error(), "unavailable")
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l, err := natslog.Open(t.Context(), conn, natslog.Options{Name: name, Synced: true})
		if err == nil {
			_ = l.Close()
			t.Errorf("%s: the stream is accepted", name)
		} else if !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAConnectionThatIsNotSafeIsRefused(t *testing.T) {
	const secret = "s3cret"
	for _, url := range []string{"", "nats://", "http://127.0.0.1:4222", "nats://u:" + secret + "@example.org:4222", "tls://u:" + secret + "%zz@h", "nats://127.0.0.1:1,nats://u:" + secret + "@10.0.0.1:4222"} {
		c, err := natslog.Connect(url)
		if err == nil {
			c.Close()
		}
		if err == nil || strings.Contains(err.Error(), secret) || !strings.HasPrefix(err.Error(), "natslog: ") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The number of an append in its header tells it from another with the same content, if the answer is lost.
func TestAnAppendWithoutAnAnswerIsFoundAgain(t *testing.T) {
	c := natstest.Start(t, 3)
	l := open(t, c, 0, natslog.Options{Name: newName()})
	e := ledgertest.NewEntry("w/task/lost", 1, "x")
	at, err := natslog.WithoutAnswer(l).Append(t.Context(), e, 0)
	if err != nil || at != 1 {
		t.Fatalf("%d, %v", at, err)
	}
	if got, err := recorded(t, l, 0); err != nil || len(got) != 1 || got[0].Key != e.Key {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := natslog.WithoutAnswer(l).Append(t.Context(), ledgertest.NewEntry("w/task/lost", 1, "late"), 0); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("an append that came second: %v", err)
	}
}

// A request to a leader that is gone is not waited for when the next one is there, and the log looks at once whether it accepts writes again.
func TestAnElectionEndsRequestsOnTheirWay(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName()}
	l, conn := open(t, c, 0, o), c.Connect(t, 1)
	gone, err := conn.SubscribeSync("gone")
	if err != nil {
		t.Fatal(err)
	}
	elected, err := conn.SubscribeSync("$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED." + o.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	send := func() { sent <- natslog.Send(t.Context(), l, "gone") }
	go send()
	until(t, "the request", func() bool {
		select {
		case err := <-sent: // the node of the log does not know yet of the subscription at another
			if !errors.Is(err, nats.ErrNoResponders) {
				t.Fatal(err)
			}
			go send()
		default:
		}
		n, _, err := gone.Pending()
		return n > 0 && err == nil
	})
	if err := natslog.Request(t.Context(), conn, "$JS.API.STREAM.LEADER.STEPDOWN."+o.Name, nil, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := elected.NextMsg(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; !errors.Is(err, natslog.ErrElected) {
		t.Errorf("%v, want %v", err, natslog.ErrElected)
	}
}

// A read that went to a replica which died while it led waits for nothing.
func TestAReadOnItsWayEndsWhenALeaderIsElected(t *testing.T) {
	c := natstest.Start(t, 1)
	conn, replica := c.Connect(t, 0), c.Connect(t, 0)
	silent, err := replica.SubscribeSync("$JS.API.DIRECT.GET.GONE")
	if err := errors.Join(err, replica.Flush()); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { read <- natslog.AskReplica(t.Context(), conn, "GONE") }()
	if _, err := silent.NextMsg(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := replica.Publish("$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.GONE", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, natslog.ErrElected) {
		t.Errorf("%v, want %v", err, natslog.ErrElected)
	}
}

// An election is told of before the new leader answers.
func TestALeaderThatDoesNotAnswerYetIsAskedAgain(t *testing.T) {
	c := natstest.Start(t, 1)
	conn, leader := c.Connect(t, 0), c.Connect(t, 0)
	asked := 0
	_, err := leader.Subscribe("$JS.API.STREAM.MSG.GET.NEW", func(m *nats.Msg) {
		if asked++; asked > 1 {
			_ = m.Respond([]byte(`{"error": {"err_code": 10037}}`)) // it has no message
		}
	})
	if err := errors.Join(err, leader.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := natslog.AskAfterElection(t.Context(), conn, "NEW"); err != nil {
		t.Error(err)
	}
}

// A leader of before, or a new one, may lack for a moment what another had: that is no damage.
func TestAnEntryThatTheLeaderDoesNotHaveYetIsNotDamaged(t *testing.T) {
	c := natstest.Start(t, 3)
	l := open(t, c, 0, natslog.Options{Name: newName()})
	p, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := natslog.Between(t.Context(), l, "w/task/a", p+1); !errors.Is(err, ledger.ErrNoMajority) {
		t.Errorf("it comes next: %v", err)
	}
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*ledger.Damaged](natslog.Between(t.Context(), l, "w/task/a", p+1)); !ok {
		t.Error("it is another's: the stream lacks it")
	}
}

func TestAStreamThatHasLostEntriesIsNotWritten(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName()}
	first := open(t, c, 0, o)
	p, err := first.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	o.Acknowledged = p + 1
	late := open(t, c, 1, o)
	if _, err := late.Append(t.Context(), ledgertest.NewEntry("w/task/a", 2, "x"), p); !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "lost entries") {
		t.Errorf("an append after the loss: %v", err)
	}
	if got, err := late.Stream(t.Context(), "w/task/a", 0, 10); err != nil || len(got) != 1 {
		t.Errorf("a read after the loss: %v, %v", got, err)
	}
}

func TestAnotherRecordInThePlaceOfThisOneIsNotWritten(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName(), Poll: 20 * time.Millisecond}
	l := open(t, c, 0, o)
	conn := c.Connect(t, 1)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), o.Name); err != nil {
		t.Fatal(err)
	}
	open(t, c, 2, o)
	until(t, "that the log notices it", func() bool { return l.Err() != nil && strings.Contains(l.Err().Error(), "another record") })
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("an append to another record: %v", err)
	}
}

func TestAMessageOfAnotherProgramIsNamedAndSkipped(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName()}
	l := open(t, c, 0, o)
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Connect(t, 0).Request(strings.ToLower(o.Name)+".e.w.task.b", []byte("{}"), time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/c", 1, "x"), 0); err != nil {
		t.Fatal(err)
	}
	entries, err := recorded(t, l, 0)
	if d, ok := errors.AsType[*ledger.Damaged](err); !ok || d.Position != 2 || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	var skipped, seen int
	enough := errors.New("enough")
	err = ledger.FollowPast(t.Context(), l, 0, func(at ledger.Position, _ error) { skipped += int(at) }, func(entries []ledger.Entry) error { //nolint:gosec // small
		if seen += len(entries); seen == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || skipped != 2 {
		t.Errorf("%v, skipped %d", err, skipped)
	}
}

// A second restore is refused without a word about deleting what the first one fills, also when that has filled it already and compares.
func TestASecondRestoreDoesNotTouchTheFirst(t *testing.T) {
	c := natstest.Start(t, 3)
	o := natslog.Options{Name: newName(), Filling: true}
	first := open(t, c, 0, o)
	second := func() error {
		o.Synced = true
		l, err := natslog.Open(t.Context(), c.Connect(t, 1), o)
		if err == nil {
			_ = l.Close()
		}
		return err
	}
	give := []ledger.Entry{ledgertest.NewEntry("w/task/a", 1, "x")}
	give[0].Position = 1
	if err := first.Copy(t.Context(), func() ([]ledger.Entry, error) {
		if err := second(); !errors.Is(err, natslog.ErrFilled) {
			t.Errorf("while the first copies: %v", err)
		}
		entries := give
		give = nil
		return entries, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := second(); !errors.Is(err, natslog.ErrFilled) {
		t.Errorf("when the first has copied: %v", err)
	}
}
