//go:build slow || outside

package scenario

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/server"
)

// counters is a collector of OpenTelemetry that keeps the newest point of each counter and histogram, by name.
type counters struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]count
}

func newCounters(t *testing.T) *counters {
	c := &counters{got: map[string]count{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var req collector.ExportMetricsServiceRequest
		if err == nil {
			err = proto.Unmarshal(b, &req)
		}
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		c.take(&req)
	}))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", c.URL+"/v1/metrics")
	return c
}

func (c *counters) take(req *collector.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range req.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				for _, p := range m.GetSum().GetDataPoints() {
					c.got[m.GetName()] = count{p.GetStartTimeUnixNano(), p.GetTimeUnixNano(), p.GetAsDouble()}
				}
				for _, p := range m.GetHistogram().GetDataPoints() {
					c.got[m.GetName()] = count{p.GetStartTimeUnixNano(), p.GetTimeUnixNano(), float64(p.GetCount())}
				}
			}
		}
	}
}

// last returns the newest points, and forgets them.
func (c *counters) last() map[string]count {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = map[string]count{}
	return got
}

// TestARestartIsNoResetOfWhatIsCountedFromTheRecord: to a collector, a cumulative point with a later start begins at zero, so that all that it has
// counted would be taken for new.
func TestARestartIsNoResetOfWhatIsCountedFromTheRecord(t *testing.T) {
	embedded(t)
	c, dir := newCounters(t), t.TempDir()
	run := func(work func(*api.Client)) map[string]count {
		s, err := server.Open(t.Context(), server.Config{DataDir: dir, Addr: "127.0.0.1:0", Clock: server.NewClock(time.Time{})})
		if err != nil {
			t.Fatal(err)
		}
		boss := connectTo(t, s.URL(), tokenIn(t, s.AdminTokenFile()))
		work(boss)
		if _, err := admin.New(boss).MoveClock(t.Context(), time.Millisecond); err != nil { // now everything is counted
			t.Error(err)
		}
		if err := s.Close(context.Background()); err != nil { // it sends its figures for the last time
			t.Fatal(err)
		}
		return c.last()
	}
	before := run(func(boss *api.Client) {
		if _, err := boss.RegisterAgent(t.Context(), "coder", api.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := boss.CreateTask(t.Context(), api.CreateInput{Intent: "work", Send: &api.SendInput{To: []string{"coder"}}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	between := uint64(time.Now().UnixNano()) //nolint:gosec // after 1970
	after := run(func(*api.Client) {})
	for _, name := range []string{"trapeze.tasks.created", "trapeze.handoffs.requested"} {
		if b, a := before[name], after[name]; b.value != 3 || a.value != 3 || a.start != b.start || b.start == 0 || b.start >= b.at || a.at <= b.at {
			t.Errorf("%s: %+v, and after the restart %+v", name, b, a)
		}
	}
	for _, name := range []string{"trapeze.http.calls", "trapeze.http.call.duration", "trapeze.ledger.entries"} {
		if b, a := before[name], after[name]; b.start == 0 || b.start >= between || a.start <= between {
			t.Errorf("%s, which the process counts: %+v, and after the restart %+v", name, b, a)
		}
	}
}
