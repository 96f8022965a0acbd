package scenario

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

var stockSize = flag.Int("items", 2_000, "memory items that the benchmarks of context store first; docs/performance.md has 100000")

// prose is so many words, the same for the same seed: as in real texts, a few words are very frequent and most are rare.
// The most frequent are those that every English text has.
func prose(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same every time
	z := rand.NewZipf(r, 1.07, 3, 30_000)
	out := make([]string, n)
	for i := range out {
		if at := int(z.Uint64()); at < len(frequent) { //nolint:gosec // small
			out[i] = frequent[at]
		} else {
			out[i] = spell(at)
		}
	}
	return strings.Join(out, " ")
}

var frequent = strings.Fields(`the of and to a in is that for it was on are as with be this have at or by not from but what all were when we there
	can an your which their if do will each about how up out them then so some would has more no been its who my than`)

// spell is a made-up word for a number.
func spell(n int) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var b strings.Builder
	for n > 0 || b.Len() < 4 {
		b.WriteByte(consonants[n%len(consonants)])
		n /= len(consonants)
		b.WriteByte(vowels[n%len(vowels)])
		n /= len(vowels)
	}
	return b.String()
}

// stock stores items of some 60 words in the workspace, a hundred calls at a time; ten of them are pinned.
func (h *harness) stock(n int) {
	h.Helper()
	drive(h, 100, n, func(i int, _ func(time.Duration)) error {
		_, err := h.app.Memories.Remember(context.Background(), h.agent(agentName(i)), memories.RememberInput{
			Title: prose(uint64(i), 4), Text: prose(uint64(i)+1<<32, 60), Scope: memory.Workspace, Importance: float64(i%10) / 10, Pinned: i <= 10,
		})
		return err
	})
}

// one measures a call of a single client, beside a raw fdatasync.
func one(b *testing.B, call func(i int) error) {
	b.Helper()
	took := make([]time.Duration, 0, b.N)
	before := processor(b)
	b.ResetTimer()
	for i := range b.N {
		start := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	b.StopTimer()
	b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(ledgertest.Percentile(took, 50).Microseconds()), "p50-µs")
	b.ReportMetric(float64(ledgertest.Percentile(took, 99).Microseconds()), "p99-µs")
	b.ReportMetric(0, "ns/op")
	ledgertest.ReportSync(b, b.TempDir(), ledgertest.Percentile(took, 50))
}

// BenchmarkMemory measures one client among many stored items: assembling an envelope from 20 of them and the pinned ones
// and packing it to 4,000 tokens, and searching. Both calls record a read, one durable commit, which is included.
func BenchmarkMemory(b *testing.B) {
	h := open(b, sound())
	defer h.stop()
	for i := range benchAgents {
		h.join(agentName(i))
	}
	h.stock(*stockSize)
	ann := h.agent(agentName(0))
	r := h.create(ann, tasks.CreateInput{Intent: prose(1, 40), Start: true})
	b.Run("seal", func(b *testing.B) {
		one(b, func(i int) error {
			p, err := h.app.Tasks.Preview(context.Background(), ann, tasks.PreviewInput{
				Task: r.Task, Pack: event.Pack{Tokens: 4000}, Content: envelopes.Content{Ask: prose(uint64(i)+1<<40, 12), Recent: 20, State: prose(uint64(i)+1<<41, 200)},
			})
			if err == nil && (p.Tokens > 4000 || p.Tokens < 1000) {
				return fmt.Errorf("%d tokens", p.Tokens)
			}
			return err
		})
	})
	b.Run("search", func(b *testing.B) {
		one(b, func(i int) error {
			found, err := h.app.Memories.Search(context.Background(), ann, memories.SearchInput{Text: prose(uint64(i)+1<<42, 3)})
			if err == nil && len(found.Items) == 0 {
				return fmt.Errorf("nothing found for %q", prose(uint64(i)+1<<42, 3))
			}
			return err
		})
	})
}

// BenchmarkLifecycleContext is BenchmarkLifecycle with envelopes of about 4,000 tokens, beside tiny ones: facts that many
// handoffs share, and a part that is new in each. Agents have a context window of 16,000 tokens, so each envelope is
// counted, packed, and sealed twice where something is left out.
func BenchmarkLifecycleContext(b *testing.B) {
	for _, size := range []string{"tiny", "4000-tokens"} {
		b.Run(size, func(b *testing.B) {
			h := open(b, sound())
			defer h.stop()
			for i := range benchAgents {
				h.register(agentName(i), agents.AgentSpec{ContextWindow: 16_000})
			}
			stop := h.poll(benchReaders)
			defer stop()
			facts := make([]envelopes.Point, 1000)
			for i := range facts {
				facts[i] = envelopes.Point{ID: fmt.Sprintf("f%d", i), Text: prose(uint64(i), 80)}
			}
			texts := make([][3]string, b.N+1) // written before the clock starts, of either size: writing them is not what is measured
			for n := range texts {
				texts[n] = [3]string{prose(uint64(n)+1<<40, 20), prose(uint64(n)+1<<41, 200), prose(uint64(n)+1<<42, 100)}
			}
			measure(b, 1000, func(n int, took func(time.Duration)) error {
				in := tasks.CreateInput{Intent: texts[n][0], Timeouts: event.Timeouts{Ack: event.Duration(time.Hour), Offer: event.Duration(time.Hour)}}
				if size != "tiny" {
					at := n % (len(facts) - 40)
					in.Content = envelopes.Content{Facts: facts[at : at+40], State: texts[n][1], Summary: texts[n][2]}
				}
				return lifecycleOf(h, n, in, took)
			})
		})
	}
}

// lifecycleOf is lifecycle with a content of one's own.
func lifecycleOf(h *harness, n int, in tasks.CreateInput, took func(time.Duration)) error {
	from, to := h.agent(agentName(n)), h.agent(agentName(n+1))
	in.Send = &handoffs.SendInput{To: []string{to.Name}, Reason: event.ReasonSpecialization}
	ctx := context.Background()
	timed := func(do func() error) error {
		start := time.Now()
		err := do()
		took(time.Since(start))
		return err
	}
	keyed := func(c caller.Caller) caller.Caller { return c.WithKey(uuid.Must(uuid.NewV7()).String()) }
	var r taskstore.Receipt
	var got tasks.Accepted
	return timed(func() (err error) {
		if r, err = h.app.Tasks.Create(ctx, keyed(from), &in); err != nil {
			return err
		}
		if got, err = h.app.Tasks.Accept(ctx, keyed(to), tasks.AcceptInput{Handoff: r.Handoff}); err != nil {
			return err
		}
		_, err = h.app.Tasks.Complete(ctx, keyed(to), tasks.CompleteInput{Task: r.Task, Epoch: got.Epoch, Result: event.Result{Text: "done"}})
		return err
	})
}
