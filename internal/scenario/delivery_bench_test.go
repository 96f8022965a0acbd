package scenario

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/garbage"
)

// BenchmarkDelivery is the time from the call that sends a handoff to a receiver that waits in its inbox: until the inbox is answered
// (delivered), and until the receiver owns the task (accepted). Handoffs of 1 KiB are sent one after the other, to one agent, to one of a
// thousand that wait, or to a capability that all of them have: the first to accept gets it.
func BenchmarkDelivery(b *testing.B) {
	garbage.Tune()
	for _, over := range []string{"http", "mcp"} {
		for _, c := range []struct {
			waiting int
			claim   bool
		}{{1, false}, {1000, false}, {1000, true}} {
			name := fmt.Sprintf("over=%s/waiting=%d", over, c.waiting)
			if c.claim {
				name += "/claim"
			}
			b.Run(name, func(b *testing.B) { measureDelivery(b, over, c.waiting, c.claim) })
		}
	}
}

func measureDelivery(b *testing.B, over string, waiting int, claim bool) {
	s, err := server.Open(context.Background(), server.Config{DataDir: b.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	tokens := diggers(b, s, waiting)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	got := make(chan arrival, waiting)
	for i, token := range tokens[1:] {
		w := &waiter{bare: dialBare(b, s.URL()), token: token, mcp: over == "mcp"}
		stop := context.AfterFunc(ctx, func() { _ = w.conn.Close() })
		b.Cleanup(func() { stop() })
		wg.Go(func() {
			if err := w.run(got); err != nil && ctx.Err() == nil {
				b.Errorf("agent %d: %v", i, err)
				cancel()
			}
		})
	}
	sender := dialBare(b, s.URL())
	var delivered, accepted []time.Duration
	send := func() {
		to := `"to":["` + diggerName(1+rand.IntN(waiting)) + `"]`
		if claim {
			to = `"capability":"dig","kind":"broadcast"`
		}
		began := time.Now()
		if _, err := sender.post(tokens[0], "/v1/tasks", `{"intent":"measure a handoff","content":{"data":`+string(kib)+
			`},"send":{`+to+`,"reason":"specialization"}}`); err != nil {
			b.Fatal(err)
		}
		select {
		case a := <-got:
			delivered, accepted = append(delivered, a.delivered.Sub(began)), append(accepted, a.accepted.Sub(began))
		case <-ctx.Done():
			b.FailNow()
		}
	}
	send() // once all wait
	delivered, accepted = nil, nil
	cpu := processor(b)
	for b.Loop() {
		send()
	}
	b.ReportMetric(float64((processor(b)-cpu).Microseconds())/float64(len(accepted)), "cpu-µs/handoff")
	cancel()
	wg.Wait()
	for name, list := range map[string][]time.Duration{"delivered": delivered, "accepted": accepted} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, name+"-p50-ms")
		b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, name+"-p99-ms")
	}
}

func diggerName(i int) string { return fmt.Sprintf("digger-%d", i) }

// diggers registers a sender and agents with one capability, and returns their tokens, the sender's first.
func diggers(b *testing.B, s *server.Server, n int) (tokens []string) {
	b.Helper()
	text, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		b.Fatal(err)
	}
	admin, err := api.New(s.URL(), string(text), api.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer admin.Close()
	tokens = make([]string, n+1)
	var wg sync.WaitGroup
	for part := range 16 { // they share fsyncs
		wg.Go(func() {
			for i := part; i <= n; i += 16 {
				spec := api.AgentSpec{}
				if i > 0 {
					spec.Capabilities = []string{"dig"}
				}
				if _, err := admin.RegisterAgent(context.Background(), diggerName(i), spec); err != nil {
					b.Error(err)
					return
				}
				t, err := admin.CreateToken(context.Background(), api.TokenInput{Role: "agent", Name: diggerName(i)})
				if err != nil {
					b.Error(err)
					return
				}
				tokens[i] = t.Text
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return tokens
}

// arrival is when a receiver had an offer, and when the task was its own.
type arrival struct{ delivered, accepted time.Time }

// waiter is an agent that waits in its inbox, accepts what it gets and completes it.
type waiter struct {
	*bare
	token string
	mcp   bool
}

// run reports what the agent gets, until its connection ends.
func (w *waiter) run(got chan<- arrival) error {
	for {
		box, err := w.inbox()
		if err != nil {
			return err
		}
		at := arrival{delivered: time.Now()}
		handoff, task := field(box, `"id":"task_`), field(box, `"task":"task_`)
		if handoff == "" {
			continue
		}
		won, err := w.accept("task_" + handoff)
		if err != nil {
			return err
		}
		if !won {
			continue // another was faster
		}
		at.accepted = time.Now()
		got <- at
		if _, err := w.post(w.token, "/v1/tasks/task_"+task+"/complete", `{"epoch":1,"result":{"text":"done"}}`); err != nil {
			return err
		}
	}
}

func (w *waiter) inbox() ([]byte, error) {
	if w.mcp {
		return w.tool("inbox", `{"wait":45}`)
	}
	box, ok, err := w.call("GET", w.token, "/v1/inbox?wait=50s", "")
	if err == nil && !ok {
		err = fmt.Errorf("inbox: %s", box)
	}
	return box, err
}

// accept reports whether the receiver got the task.
func (w *waiter) accept(handoff string) (won bool, err error) {
	var answer []byte
	if w.mcp {
		answer, err = w.tool("accept", `{"handoff":"`+handoff+`"}`)
	} else {
		answer, _, err = w.call("POST", w.token, "/v1/handoffs/"+handoff+"/accept", "{}")
	}
	return bytes.Contains(answer, kib[10:100]), err
}

// tool calls a tool of the MCP server.
func (w *waiter) tool(name, arguments string) ([]byte, error) {
	const version = "2026-07-28"
	w.more = "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: " + version + "\r\nMcp-Method: tools/call\r\nMcp-Name: " + name + "\r\n"
	defer func() { w.more = "" }()
	return w.post(w.token, "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"`+version+`","io.modelcontextprotocol/clientCapabilities":{}}}}`)
}
