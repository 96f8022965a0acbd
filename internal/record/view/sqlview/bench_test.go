package sqlview

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// life makes the entries of complete handoffs: request, accept, complete. It is for one goroutine.
type life struct {
	codec *ledger.Codec[event.Event]
	task  task.Task
	id    string
	now   time.Time
	agent identity.Principal
	step  int
	at    ledger.Position // of the stream's end; set by the caller
	crowd int             // agents that it is offered to, of a thousand: a claim; 0: to one
}

func newLife() *life {
	return &life{codec: ledger.NewCodec(event.Events...), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

var kib = []byte(`"` + strings.Repeat("context for the next agent; ", 37)[:1022] + `"`)

// next is the next entry: of the task with number n where a life begins.
func (l *life) next(b testing.TB, n int) ledger.Entry {
	l.now = l.now.Add(time.Millisecond)
	var c handoff.Command
	switch l.step % 3 {
	case 0:
		l.task, l.at, l.id = task.Task{}, 0, fmt.Sprintf("task_%026d", n)
		name := fmt.Sprintf("agent-%d", n%100)
		l.agent = identity.Principal{Role: identity.Agent, Name: name}
		from := identity.Principal{Role: identity.Agent, Name: fmt.Sprintf("agent-%d", (n+1)%100)}
		kind, candidates := event.Warm, []event.Candidate{{Agent: name, Tier: event.TierTarget}}
		for i := 1; i < l.crowd; i++ {
			kind = event.Broadcast
			candidates = append(candidates, event.Candidate{Agent: fmt.Sprintf("digger-%d", (n*389+i*61)%1000), Tier: event.TierTarget})
		}
		c = handoff.Sequence{
			handoff.Create{By: from, Task: l.id, Intent: "Write the release notes of version 2 from the merged changes, in plain words."},
			handoff.Send{
				By: from, Kind: kind, Reason: event.ReasonSpecialization, Candidates: candidates,
				Envelope: event.Sealed{Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Bytes: kib},
			},
		}
	case 1:
		c = handoff.Accept{By: l.agent, Handoff: 1}
	case 2:
		c = handoff.Complete{By: l.agent, Epoch: 1, Result: event.Result{Text: "done"}}
	}
	events, err := handoff.Decide(l.task, c, l.now)
	if err != nil {
		b.Fatal(err)
	}
	l.task = task.FoldAll(l.task, events)
	encoded, err := l.codec.EncodeAll(events)
	if err != nil {
		b.Fatal(err)
	}
	l.step++
	return ledger.Entry{
		Stream: ledger.StreamOf("default", "task", l.id), Version: uint64((l.step-1)%3) + 1, Time: l.now,
		Actor: ledger.Actor{Principal: "agent/agent"}, Events: encoded,
	}
}

// BenchmarkProject projects the entries of complete handoffs, three each, without a ledger. Batches are those of one
// client (1) and of many; 1,000 lives are under way at a time. A claim is offered to 64 of a thousand agents.
func BenchmarkProject(b *testing.B) {
	for _, c := range []struct{ batch, crowd int }{{1, 0}, {32, 0}, {500, 0}, {1, 64}, {32, 64}} {
		batch := c.batch
		b.Run(fmt.Sprintf("batch=%d/crowd=%d", batch, c.crowd), func(b *testing.B) {
			db, err := sqlitelog.OpenDatabase("", 1)
			if err != nil {
				b.Fatal(err)
			}
			defer closeAll(b, db)
			p := newProjector(func(done) {})
			if err := db.Write(func(tx *sqlconn.Tx) error { _, err := p.Setup(tx); return err }); err != nil {
				b.Fatal(err)
			}
			lives := make([]*life, 1000)
			for i := range lives {
				lives[i] = newLife()
				lives[i].crowd = c.crowd
			}
			entries, position := make([]ledger.Entry, 0, batch), ledger.Position(0)
			var spent time.Duration
			for n := 0; n < b.N; {
				entries = entries[:0]
				for len(entries) < batch && n < b.N {
					e := lives[n%len(lives)].next(b, n)
					position++
					n++
					e.Position = position
					entries = append(entries, e)
				}
				err := db.Write(func(tx *sqlconn.Tx) error {
					start := time.Now()
					defer func() { spent += time.Since(start) }()
					return p.project(tx, entries)
				})
				if err != nil {
					b.Fatal(err)
				}
				p.publish(position, position)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/1000/float64(b.N), "µs/entry")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkLedgerWithViews appends complete handoffs to the embedded ledger with its views.
func BenchmarkLedgerWithViews(b *testing.B) {
	for _, clients := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			dir := b.TempDir()
			log, v := embedded(b, filepath.Join(dir, "trapeze.db"))
			lives := make([]*life, clients)
			for i := range lives {
				lives[i] = newLife()
			}
			p50 := ledgertest.Load(b, clients, "entries/s", func(client, call int) error {
				l := lives[client]
				e := l.next(b, call/3*clients+client)
				at, err := log.Append(b.Context(), e, l.at)
				l.at = at
				return err
			})
			if clients == 1 {
				ledgertest.ReportSync(b, dir, p50)
			}
			if err := v.Err(); err != nil {
				b.Error(err)
			}
		})
	}
}
