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

// showSummary fetches the report, and shows what each hop kept and dropped, from the record.
func (s *run) showSummary(ctx context.Context) (out Outcome, err error) {
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
		return out, fmt.Errorf("the report names %s, which the constraint %s forbids", s.o.Module, pathsRule)
	}
	out.Seconds = time.Since(s.began).Seconds()
	s.say("Done: %d handoffs, %d recorded events, nothing lost. The result:", out.Handoffs, out.Entries)
	fmt.Fprintln(s.o.Out)
	s.quote(r.task.Result.Text, 20)
	s.aside("The report is in %s. From the record:", out.Report)
	fmt.Fprintln(s.o.Out)
	found, err := s.owner.SearchMemory(ctx, client.MemoryFilter{Tag: countTag, Task: s.task})
	if err != nil {
		return out, err
	}
	lines, err := r.summary(s.style, found.Items)
	if err != nil {
		return out, err
	}
	s.quote(strings.Join(lines, "\n"), len(lines))
	s.aside("What each hop kept, changed and dropped:")
	if err := s.command(ctx, 60, "drift", s.task); err != nil {
		return out, err
	}
	s.aside("To look at the data of the demo, start a server on it:")
	s.quote(nextCommands(s.workers.url, s.dir, s.task), 6)
	return out, nil
}
