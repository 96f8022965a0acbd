package server

import (
	"context"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/delivery/tracer"
)

// tracesFile is the file of the data directory that keeps how far spans have been sent.
const tracesFile = "traces.position"

// tracer returns the tracer of calls, and sends the spans of the record from now on, if the environment names a collector of OpenTelemetry.
// Otherwise it returns nil.
func (s *Server) tracer(ctx context.Context) (tracing.Tracer, error) {
	on, err := otelapi.TracesConfigured()
	if s.config.Temporary { // a server of tests is of no interest to the collector of the program that it runs in
		return nil, nil //nolint:nilnil // no tracer is a value
	}
	if err != nil || !on {
		return nil, err
	}
	traces, err := otelapi.OpenTraces(ctx, otelapi.Options{Version: s.config.Version, Log: s.config.Log})
	if err != nil {
		return nil, err
	}
	t, err := tracer.Open(ctx, s.log, traces, tracer.Options{Path: filepath.Join(s.config.DataDir, tracesFile), Log: s.config.Log, Every: otelapi.Delay()})
	if err != nil {
		return nil, err
	}
	s.running.Go(func() {
		t.Run(ctx)
		if err := traces.Close(ctx); err != nil {
			s.config.Log.Warn("the last spans of calls could not be sent", "error", err)
		}
	})
	return traces, nil
}
