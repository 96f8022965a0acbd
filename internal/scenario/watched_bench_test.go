package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var watchedHandoffs = flag.Int("handoffs", 500, "life cycles of each server of BenchmarkWatchedHTTP in an operation; docs/performance.md has 20000")

// BenchmarkWatchedHTTP is what figures and traces cost: the load of BenchmarkLifecycleHTTP on three servers, each a process of its own: one with them and two
// without. They are loaded in turn, [watchedTurn] handoffs each, so that what else the machine does falls on all. The one with them sends every span, and its figures at the
// end, to a collector that throws them away, and is scraped after each second of load.
// cost-% is the throughput that is lost, as the median of turns; cpu-cost-% and cpu-cost-µs are the processor time that its process takes more for a handoff, until it
// has ended: both against the mean of the two servers without. noise-% and cpu-noise-% are the same figures of one of those against the other, without their sign: a cost
// that is not more than these is not told apart from none. collector-µs is the time of the collector for each handoff.
func BenchmarkWatchedHTTP(b *testing.B) {
	collector := startChild(b, modeDevour)
	servers := []*watchedServer{startWatched(b, ""), startWatched(b, collector.said), startWatched(b, "")}
	for range b.N {
		for n := range max(*watchedHandoffs/watchedTurn, 1) {
			for i := range servers { // who is first changes
				servers[(i+n)%len(servers)].turn(b, min(*watchedHandoffs, watchedTurn))
			}
		}
	}
	var cost, noise, plain []float64
	for n := range servers[0].perSecond {
		before, with, after := servers[0].perSecond[n], servers[1].perSecond[n], servers[2].perSecond[n]
		per := (before + after) / 2
		plain = append(plain, per)
		cost, noise = append(cost, 100*(1-with/per)), append(noise, 100*(before-after)/per)
	}
	one, with, other := servers[0].end(b), servers[1].end(b), servers[2].end(b)
	cpu := (one + other) / 2
	b.ReportMetric(middle(cost), "cost-%")
	b.ReportMetric(100*(with/cpu-1), "cpu-cost-%")
	b.ReportMetric(with-cpu, "cpu-cost-µs")
	b.ReportMetric(math.Abs(middle(noise)), "noise-%")
	b.ReportMetric(100*math.Abs(one-other)/cpu, "cpu-noise-%")
	b.ReportMetric(cpu, "cpu-µs/handoff")
	b.ReportMetric(float64(collector.stop(b).Microseconds())/float64(servers[1].handoffs), "collector-µs")
	b.ReportMetric(middle(plain), "handoffs/s")
	b.ReportMetric(0, "ns/op")
}

// watchedTurn is the number of handoffs of a turn of BenchmarkWatchedHTTP.
const watchedTurn = 250

// child is this test program again, in one of its modes.
type child struct {
	*exec.Cmd
	said string // the line that it has printed
	in   io.Closer
}

// startChild starts a child in a mode, on a free port, and reads the line that it prints when it is ready.
func startChild(b *testing.B, mode string, env ...string) *child {
	b.Helper()
	c := &child{Cmd: exec.CommandContext(b.Context(), os.Args[0])} //nolint:gosec // ourselves
	c.Env = append(append(os.Environ(), childMode+"="+mode, childAddr+"=127.0.0.1:0"), env...)
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	c.in = in
	b.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	c.said = strings.TrimSpace(line)
	return c
}

// stop ends the child as an operator does, and returns its processor time.
func (c *child) stop(b *testing.B) time.Duration {
	b.Helper()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Error(err)
	}
	_ = c.in.Close()
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// watchedServer is a server under load, and what was seen of it.
type watchedServer struct {
	*child
	url         string
	watched     bool
	admin       string
	tokens      []string
	connections chan *bare

	idle      time.Duration // its processor time before the load
	handoffs  int
	perSecond []float64     // by turn
	unscraped time.Duration // time under load without a scrape
}

// startWatched starts a server that sends figures and traces to a collector; "": to none.
func startWatched(b *testing.B, collector string) *watchedServer {
	b.Helper()
	const clients = 100
	w := &watchedServer{child: startChild(b, modeServe, childData+"="+b.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector), watched: collector != ""}
	var ready struct {
		URL       string `json:"url"`
		TokenFile string `json:"admin_token_file"`
	}
	if err := json.Unmarshal([]byte(w.said), &ready); err != nil {
		b.Fatal(err)
	}
	w.url, w.admin = ready.URL, tokenIn(b, ready.TokenFile)
	w.tokens, _ = httpAgents(b, w.url, ready.TokenFile)
	w.connections = make(chan *bare, clients)
	for range clients {
		w.connections <- dialBare(b, w.url)
	}
	w.idle = w.processor(b)
	return w
}

// turn is a number of handoffs.
func (w *watchedServer) turn(b *testing.B, handoffs int) {
	b.Helper()
	began := time.Now()
	drive(b, cap(w.connections), handoffs, func(n int, took func(time.Duration)) error {
		c := <-w.connections
		defer func() { w.connections <- c }()
		return lifecycleHTTP(c, w.tokens, n, took)
	})
	for w.unscraped += time.Since(began); w.watched && w.unscraped >= time.Second; w.unscraped -= time.Second {
		w.scrape(b)
	}
	w.handoffs += handoffs
	w.perSecond = append(w.perSecond, float64(handoffs)/time.Since(began).Seconds())
}

// processor is the processor time of the server up to now.
func (w *watchedServer) processor(b *testing.B) time.Duration {
	b.Helper()
	_, line, _ := strings.Cut(w.scrape(b), "\ntrapeze_process_cpu_time_seconds_total ")
	line, _, _ = strings.Cut(line, "\n")
	seconds, err := strconv.ParseFloat(line, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// end ends the server, and returns its processor time for each handoff, in microseconds.
func (w *watchedServer) end(b *testing.B) float64 {
	b.Helper()
	return float64((w.stop(b) - w.idle).Microseconds()) / float64(w.handoffs)
}

func (w *watchedServer) scrape(b *testing.B) string {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, w.url+"/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
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
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
