package scenario

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// otlp is a collector of OpenTelemetry that keeps the spans it gets.
type otlp struct {
	*httptest.Server
	t testing.TB

	mu    sync.Mutex
	spans []received
	down  bool // it takes none
	came  chan struct{}
}

// received is a span that a collector got.
type received struct {
	name, trace, id, parent string
	values                  map[string]string
	links                   []string // the ids of spans
	failed                  bool
	start, end              uint64
	raw                     string
}

// newOTLP starts a collector, and makes servers of this process and its children send spans to it.
func newOTLP(t *testing.T) *otlp {
	c := &otlp{t: t, came: make(chan struct{}, 1)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/v1/traces")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	return c
}

func (c *otlp) take(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var req collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &req)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("%s: %v", r.URL, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		w.WriteHeader(http.StatusBadRequest) // the exporter does not repeat it by itself
		return
	}
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, receivedOf(s))
			}
		}
	}
	select {
	case c.came <- struct{}{}:
	default:
	}
}

func receivedOf(s *traces.Span) received {
	r := received{
		name: s.GetName(), trace: hex.EncodeToString(s.GetTraceId()), id: hex.EncodeToString(s.GetSpanId()), parent: hex.EncodeToString(s.GetParentSpanId()),
		values: map[string]string{}, failed: s.GetStatus().GetCode() == traces.Status_STATUS_CODE_ERROR, start: s.GetStartTimeUnixNano(), end: s.GetEndTimeUnixNano(),
		raw: s.String(),
	}
	for _, v := range s.GetAttributes() {
		r.values[v.GetKey()] = textOf(v.GetValue())
	}
	for _, l := range s.GetLinks() {
		r.links = append(r.links, hex.EncodeToString(l.GetSpanId()))
	}
	return r
}

func textOf(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	default:
		return fmt.Sprint(v)
	}
}

// all returns the spans that came so far.
func (c *otlp) all() []received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// await returns the spans as soon as there are those of a name that are wanted.
func (c *otlp) await(name string, n int) []received {
	c.t.Helper()
	limit := time.After(time.Minute) // the test's own context ends only after it
	for {
		all := c.all()
		if found := named(all, name); len(found) >= n {
			return all
		}
		select {
		case <-c.came:
		case <-limit:
			c.t.Fatalf("only %d spans named %s came:\n%s", len(named(all, name)), name, tree(all))
		}
	}
}

func named(all []received, name string) (found []received) {
	for _, s := range all {
		if s.name == name {
			found = append(found, s)
		}
	}
	return found
}

// tree shows spans below their parents, in the order of their names.
func tree(all []received) string {
	ids := map[string]bool{}
	for _, s := range all {
		ids[s.id] = true
	}
	var b strings.Builder
	var below func(parent string, depth int)
	show := func(s received, depth int) {
		fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", depth), s.name)
		if s.failed {
			fmt.Fprintf(&b, " (%s)", s.values["error.type"])
		}
		b.WriteString("\n")
		below(s.id, depth+1)
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(x, y received) int { return strings.Compare(x.name, y.name) })
	below = func(parent string, depth int) {
		for _, s := range order {
			if s.parent == parent {
				show(s, depth)
			}
		}
	}
	for _, s := range order {
		if !ids[s.parent] {
			show(s, 0)
		}
	}
	return b.String()
}
