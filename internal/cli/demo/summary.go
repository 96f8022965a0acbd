package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
)

// finale fetches the report, and shows what became of what was said: by asking the server.
func (s *show) finale(ctx context.Context) (out Outcome, err error) {
	r, err := s.read(ctx)
	if err != nil {
		return out, err
	}
	out = Outcome{
		Task: s.task, Report: filepath.Join(s.dir, reportName), Artifact: r.report.Digest, Data: s.dir,
		Handoffs: len(r.trail.Handoffs), Entries: len(r.trail.Entries), Retention: r.drift.Retention.Overall.Rate,
	}
	var reportValue bytes.Buffer
	if _, err := s.owner.Artifact(ctx, r.report.Digest, &reportValue); err != nil {
		return out, err
	}
	if err := os.WriteFile(out.Report, reportValue.Bytes(), 0o600); err != nil {
		return out, err
	}
	if report.Names(reportValue.String(), s.o.Module) {
		return out, fmt.Errorf("the report names %s, against the constraint %s", s.o.Module, pathsRule)
	}
	out.Seconds = time.Since(s.began).Seconds()
	s.say("Done: %d handoffs, %d events on record, nothing lost. The result:", out.Handoffs, out.Entries)
	fmt.Fprintln(s.o.Out)
	s.quote(r.task.Result.Text, 20)
	s.aside("The report itself is in %s. What the record says:", out.Report)
	fmt.Fprintln(s.o.Out)
	found, err := s.owner.SearchMemory(ctx, client.MemoryFilter{Tag: countTag, Task: s.task})
	if err != nil {
		return out, err
	}
	lines, err := r.says(s.style, found.Items)
	if err != nil {
		return out, err
	}
	s.quote(strings.Join(lines, "\n"), len(lines))
	s.aside("What became of what was said, from hop to hop:")
	if err := s.run(ctx, 60, "drift", s.task); err != nil {
		return out, err
	}
	s.aside("To look further, start a server on what the demo left behind, and ask it:")
	s.quote(further(s.cast.url, s.dir, s.task), 6)
	return out, nil
}
