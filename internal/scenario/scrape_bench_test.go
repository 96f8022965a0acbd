package scenario

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
)

const scrapedAgents = 500

// BenchmarkScrape scrapes a server over loopback, on which each of 500 agents has received two handoffs and has a third in its inbox. It measures the views as a
// scrape does. p50-ms and p99-ms are of one scrape; the target is less than 50 ms.
func BenchmarkScrape(b *testing.B) {
	s, err := server.Open(context.Background(), server.Config{DataDir: b.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	token := furnishScraped(b, s)
	var took []float64
	size, cpu := 0, processor(b)
	for b.Loop() {
		began := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL()+"/metrics", nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || strings.Count(string(text), "\ntrapeze_inbox_items{") < scrapedAgents {
			b.Fatalf("%v: %.2000s", err, text)
		}
		took, size = append(took, time.Since(began).Seconds()*1000), len(text)
	}
	cpu = processor(b) - cpu
	slices.Sort(took)
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(took)), "cpu-ms")
	b.ReportMetric(took[len(took)/2], "p50-ms")
	b.ReportMetric(took[len(took)*99/100], "p99-ms")
	b.ReportMetric(float64(size)/1024, "KiB")
	b.ReportMetric(0, "ns/op")
}

// furnishScraped registers the agents and has them hand tasks on. It returns the administrator's token.
func furnishScraped(b *testing.B, s *server.Server) (token string) {
	b.Helper()
	token = tokenIn(b, s.AdminTokenFile())
	connect := func(token string) *api.Client {
		c, err := api.New(s.URL(), token, api.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(c.Close)
		return c
	}
	boss := connect(token)
	name := func(i int) string { return fmt.Sprintf("a%03d", i%scrapedAgents) }
	for i := range scrapedAgents {
		if _, err := boss.RegisterAgent(b.Context(), name(i), api.AgentSpec{}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range scrapedAgents {
		made, err := boss.CreateToken(b.Context(), api.TokenInput{Role: "agent", Name: name(i)})
		if err != nil {
			b.Fatal(err)
		}
		agent := connect(made.Text)
		for n := range 3 {
			r, err := boss.CreateTask(b.Context(), api.CreateInput{Intent: "work", Send: &api.SendInput{To: []string{name(i)}}})
			if err != nil {
				b.Fatal(err)
			}
			if n == 2 {
				break
			}
			got, err := agent.Accept(b.Context(), r.Handoff, api.AcceptInput{})
			if err == nil {
				_, err = agent.Complete(b.Context(), r.Task, api.CompleteInput{Epoch: got.Epoch, Result: api.Result{Text: "done"}})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	return token
}
