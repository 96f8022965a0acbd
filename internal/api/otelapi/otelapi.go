package otelapi

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// atOnce is the number of scrapes of a workspace at the same time; further ones are answered 503.
const atOnce = 4

// Source gives the figures of all workspaces, in the order of [figure.Sort]. Figures that it cannot give are missing, and its error says why.
type Source interface {
	Points(ctx context.Context) ([]figure.Point, error)
}

// Options of Metrics and Traces.
type Options struct {
	Version string       // of the server
	Log     *slog.Logger // nil means slog.Default
	Start   time.Time    // when the process began to count; zero means now
	// Stdio says that the process is an MCP server on standard input and output. It is another service to collectors, unless OTEL_SERVICE_NAME names it.
	Stdio bool
	// Process is the workspace whose readers get the figures of the process, too, which tell how busy all workspaces are; empty: all get them.
	Process string
}

// Metrics gives the figures of a source. It is safe for concurrent use.
type Metrics struct {
	source Source
	o      Options

	mu       sync.Mutex
	handlers map[string]http.Handler // by workspace
}

// New returns metrics of a source.
func New(source Source, o Options) *Metrics {
	return &Metrics{source: source, o: o.filled(), handlers: map[string]http.Handler{}}
}

// filled returns the options with defaults set.
func (o Options) filled() Options {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	return o
}

// Handler returns the handler of scrapes for those who may read the figures of a workspace.
func (m *Metrics) Handler(workspace string) (http.Handler, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.handlers[workspace]; h != nil {
		return h, nil
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithProducer(&producer{m, &workspace}))
	if err != nil {
		return nil, err
	}
	sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(resourceOf(m.o))) // a reader works only in a provider
	h := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: errorLog{m.o.Log}, ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: atOnce,
		DisableCompression: true, // it would take as much of the processor as all else: a collector is near
	})
	m.handlers[workspace] = inChunks(h)
	return m.handlers[workspace], nil
}

// chunk is how much of an answer is written at once, in bytes: one of 500 agents has about a megabyte, in many small writes.
const chunk = 64 << 10

// inChunks has the answers of a handler written in few parts.
func inChunks(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &chunked{w, bufio.NewWriterSize(w, chunk)}
		h.ServeHTTP(c, r)
		_ = c.body.Flush() // the reader has gone
	})
}

type chunked struct {
	http.ResponseWriter
	body *bufio.Writer
}

// Write implements [http.ResponseWriter].
func (c *chunked) Write(b []byte) (int, error) { return c.body.Write(b) }

// errorLog writes the errors of scrapes to a log.
type errorLog struct{ log *slog.Logger }

// Println implements [promhttp.Logger].
func (l errorLog) Println(v ...any) { l.log.Warn("a scrape of the figures failed", "error", v) }
