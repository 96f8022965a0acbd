package scenario

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/garbage"
)

var watchedHandoffs = flag.Int("handoffs", 500, "life cycles of each run of BenchmarkWatchedHTTP; docs/performance.md has 20000")

// BenchmarkWatchedHTTP is what figures and traces cost: runs of BenchmarkLifecycleHTTP in turn, without them, with, and without. A run with
// them sends every span, and the figures at its end, to a collector that throws them away, and is scraped every second. Each operation is three runs.
// cost-% is the throughput that is lost, and cpu-cost-% the processor time that a handoff takes more in the process of the server and of the load,
// which is light; both are medians, and against the mean of the two runs without. cpu-cost-µs is the same in microseconds. noise-% and cpu-noise-% are by
// how much those two differ, as medians: on a machine that others use, a cost that is not more than these is not told apart from them. The collector is a process of its own on the same processors:
// its time is collector-µs, for each handoff of a run with it.
func BenchmarkWatchedHTTP(b *testing.B) {
	garbage.Tune()
	url, stop := startCollector(b)
	var cost, processors, more, plain, noise, cpuNoise []float64
	for range b.N {
		before, with, after := watch(b, url, false), watch(b, url, true), watch(b, url, false)
		per, cpu := (before.perSecond+after.perSecond)/2, (before.cpu+after.cpu)/2
		cost = append(cost, 100*(1-with.perSecond/per))
		processors = append(processors, 100*(float64(with.cpu)/float64(cpu)-1))
		more = append(more, float64((with.cpu - cpu).Microseconds()))
		plain = append(plain, per)
		noise = append(noise, 100*math.Abs(before.perSecond-after.perSecond)/per)
		cpuNoise = append(cpuNoise, 100*math.Abs(float64(before.cpu-after.cpu))/float64(cpu))
	}
	b.ReportMetric(middle(cost), "cost-%")
	b.ReportMetric(middle(processors), "cpu-cost-%")
	b.ReportMetric(middle(more), "cpu-cost-µs")
	b.ReportMetric(middle(noise), "noise-%")
	b.ReportMetric(middle(cpuNoise), "cpu-noise-%")
	b.ReportMetric(float64(stop().Microseconds())/float64(b.N**watchedHandoffs), "collector-µs")
	b.ReportMetric(middle(plain), "handoffs/s")
	b.ReportMetric(0, "ns/op")
}

// startCollector starts a collector in a process of its own. stop ends it and returns its processor time.
func startCollector(b *testing.B) (url string, stop func() time.Duration) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0]) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), childMode+"="+modeDevour, childAddr+"=127.0.0.1:0")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	url, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	stop = sync.OnceValue(func() time.Duration {
		_ = in.Close()
		_ = cmd.Wait() // it exits when its input ends
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	})
	b.Cleanup(func() { stop() })
	return strings.TrimSpace(url), stop
}

// serveDevour prints the address of a collector and serves it until ctx ends.
func serveDevour(ctx context.Context, _, addr string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return s.Serve(l)
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// watch is one run on a new server.
func watch(b *testing.B, collector string, watched bool) figures {
	b.Helper()
	const clients = 100
	endpoint := ""
	if watched {
		endpoint = collector
	}
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	s, err := server.Open(context.Background(), server.Config{DataDir: b.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	tokens, _ := httpAgents(b, s)
	pool := make(chan *bare, clients)
	for range clients {
		pool <- dialBare(b, s.URL())
	}
	ctx, stop := context.WithCancel(context.Background())
	scraped := make(chan struct{})
	go func() {
		defer close(scraped)
		if watched {
			scrapeEvery(ctx, b, s, time.Second)
		}
	}()
	before := processor(b)
	f := drive(b, clients, *watchedHandoffs, func(n int, took func(time.Duration)) error {
		c := <-pool
		defer func() { pool <- c }()
		return lifecycleHTTP(c, tokens, n, took)
	})
	stop()
	<-scraped
	if err := s.Close(context.Background()); err != nil { // it sends what is left
		b.Error(err)
	}
	f.cpu = (processor(b) - before) / time.Duration(*watchedHandoffs)
	return f
}

// scrapeEvery scrapes a server until ctx ends.
func scrapeEvery(ctx context.Context, b *testing.B, s *server.Server, every time.Duration) {
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		b.Error(err)
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/metrics", nil)
		if err != nil {
			b.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+string(token))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // the run is over
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}
