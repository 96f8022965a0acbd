package server

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// counts are the figures of the process. Their zero value is not usable.
type counts struct {
	connections atomic.Int64

	mu  sync.Mutex
	set *figure.Set
}

func newCounts() *counts { return &counts{set: figure.NewSet()} }

// committed counts a commit of the ledger.
func (c *counts) committed(entries int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set.Add(figure.LedgerEntries, float64(entries))
	c.set.Observe(figure.LedgerCommit, took.Seconds())
}

// called counts a call of the API.
func (c *counts) called(method, route string, code int, took time.Duration) {
	method = tracing.Method(method, figure.Other)
	if route == "" {
		route = figure.Other
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set.Add(figure.Calls, 1, method, route, strconv.Itoa(code))
	c.set.Observe(figure.CallTime, took.Seconds(), route)
}

// connection counts open connections.
func (c *counts) connection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.connections.Add(-1)
	case http.StateActive, http.StateIdle:
	}
}

// add adds the figures of the process. wal is the size of the write-ahead log in bytes.
func (c *counts) add(to *figure.Set, wal int64) {
	c.mu.Lock()
	to.AddAll(c.set)
	c.mu.Unlock()
	to.Add(figure.LedgerLog, float64(wal))
	to.Add(figure.Connections, float64(c.connections.Load()))
	to.Add(figure.ProcessorTime, processorTime().Seconds())
	to.Add(figure.Memory, memory())
	to.Add(figure.Goroutines, float64(runtime.NumGoroutine()))
}

// logSize returns the size of the write-ahead log of the embedded ledger, in bytes.
func (s *Server) logSize() int64 {
	if s.embedded == nil {
		return 0
	}
	return s.embedded.LogSize()
}

// memory returns the bytes that the runtime holds.
func memory() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64()) - float64(s[1].Value.Uint64())
}

// scraper gives /metrics to the API, and the figures to a collector of OpenTelemetry if the environment names one.
func (s *Server) scraper(ctx context.Context) (func(workspace string) (http.Handler, error), error) {
	push, err := otelapi.Configured()
	if err != nil && !s.config.Temporary {
		return nil, err
	}
	if s.config.Temporary {
		push = false // a server of tests is of no interest to the collector of the program that it runs in
	}
	if !s.config.Temporary {
		for _, u := range otelapi.FindUnused() {
			s.config.Log.Warn("environment variables of OpenTelemetry have no effect", "variables", strings.Join(u.Names, ", "), "hint", u.Hint)
		}
	}
	m := otelapi.New(s.monitor, otelapi.Options{Version: s.config.Version, Log: s.config.Log, Process: identity.DefaultWorkspace})
	if push {
		s.running.Go(func() {
			if err := m.Push(ctx); err != nil && ctx.Err() == nil {
				s.config.Log.Error("the figures are not sent to the collector", "error", err)
			}
		})
	}
	return m.Handler, nil
}
