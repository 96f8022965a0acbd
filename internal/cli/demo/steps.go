package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
)

// survey lists the packages. It adds the counts to memory for later owners of the task, because later steps replace the figures in the
// envelope. It adds a constraint against publishing the path in the data.
func (p Program) survey(ctx context.Context, s content) error {
	v, err := report.Look(ctx, s.Task.Data.Path, func(string) {})
	if err != nil {
		return err
	}
	count := v.Count()
	for _, args := range [][]string{
		{"task", "constrain", "prohibition!:Name no directory of this machine in what is published.", "--id", pathsRule},
		{"memory", "add", count.String(), "--title", "What the survey listed", "--scope", "task", "--tag", countTag},
		{"task", "progress", "listed " + count.String()},
	} {
		if _, err := p.trapeze(ctx, nil, args...); err != nil {
			return err
		}
	}
	return p.send(ctx, &data{Survey: &v}, "--ask", "Measure every package.",
		"--fact", "size="+count.String())
}

// analyse measures the packages. On purpose it asks the next agent for what a constraint forbids.
func (p Program) analyse(ctx context.Context, s content, args []string) error {
	v := s.Task.Data.Survey
	if v == nil {
		return errors.New("the envelope has no survey")
	}
	hangAfter := 0
	if len(args) == 2 && args[0] == "--hang-after" {
		var err error
		if hangAfter, err = strconv.Atoi(args[1]); err != nil {
			return errUsage
		}
	}
	n := len(v.Packages)
	a, err := report.Analyse(ctx, *v, func(i int, dir string) error {
		if hangAfter > 0 && i == min(hangAfter, n)-1 {
			p.progress("measuring package %d of %d, %s", i+1, n, dir)
			return p.hang(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t := a.Totals()
	if err := p.report(ctx, "measured %d packages, %d lines", t.Packages, t.Lines); err != nil {
		return err
	}
	args = []string{
		"--ask", "Write the report, in Markdown. Say where the source is.", "--pin", "fact:gaps",
		"--fact", fmt.Sprintf("counts<size=%d packages with %d files and %d of tests", t.Packages, t.Files, t.Tests),
		"--fact", fmt.Sprintf("lines=%d lines in %d functions", t.Lines, t.Functions),
		"--fact", fmt.Sprintf("gaps=%d of %d exported names have no comment", t.Undocumented, t.Exported),
		"--decision", "tests=Tests are counted as files, and left out of everything else",
	}
	if hub, n := a.Hub(); n > 0 {
		args = append(args, "--fact", fmt.Sprintf("hub=%s is imported by %d packages", hub, n))
	}
	if m := a.Longest(); m.LongestLines > 0 {
		args = append(args, "--fact", fmt.Sprintf("longest=the longest function is %s in %s: %d lines", m.Longest, m.Dir, m.LongestLines))
	}
	return p.send(ctx, &data{Analysis: &a}, args...)
}

// write makes the report by the envelope's rules, and sends it as an artifact. The token budget of the reviewer is small: what does not fit
// is omitted, except for pinned parts.
func (p Program) write(ctx context.Context, s content) error {
	a := s.Task.Data.Analysis
	if a == nil {
		return errors.New("the envelope has no analysis")
	}
	report := report.Write(*a, s.rules())
	dir, err := os.MkdirTemp("", "trapeze-demo-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, reportName)
	if err := os.WriteFile(name, []byte(report), 0o600); err != nil {
		return err
	}
	var kept client.ArtifactInfo
	if err := p.ask(ctx, &kept, "artifact", "put", name, "--json"); err != nil {
		return err
	}
	if err := p.report(ctx, "wrote %d lines", strings.Count(report, "\n")); err != nil {
		return err
	}
	return p.send(ctx, nil, "--ask", "Check the report against the figures, and publish it.",
		"--artifact", kept.Digest+"="+reportName, "--tokens", "430", "--pin", "artifact:"+kept.Digest, "--pin", "fact:gaps",
		"--decision", "order=Packages stand in the order of their directories", "--retries", "1", "--ack-timeout", "5s")
}

// review checks the report. Its first result has the whole report and is larger than expected; its second result is the summary alone.
func (p Program) review(ctx context.Context, s content) error {
	a := s.Task.Data.Analysis
	f, there := s.file(reportName)
	if a == nil || !there {
		return errors.New("the envelope has no report, or no analysis")
	}
	summary := report.Summary(*a, s.rules(), fmt.Sprintf("%d bytes, %s", f.Bytes, f.Digest), s.Expected.MaxBytes)
	if p.Getenv("TRAPEZE_ATTEMPT") != "1" {
		p.progress("fixing the result: the summary alone")
		_, err := io.WriteString(p.Stdout, summary)
		return err
	}
	reportList, err := p.trapeze(ctx, nil, "artifact", "get", f.Digest)
	if err != nil {
		return err
	}
	findings := report.Review(string(reportList), *a, s.rules())
	count, err := p.recall(ctx)
	if err != nil {
		return err
	}
	if d := count.Differs(*a); d != "" {
		findings = append(findings, d)
	}
	for _, finding := range findings {
		p.progress("finding: %s", finding)
	}
	if len(findings) > 0 {
		return fmt.Errorf("the report has %d findings, the first: %s", len(findings), findings[0])
	}
	if err := p.report(ctx, "checked %d packages, all links, all sums and the counts of the survey: no findings", len(a.Packages)); err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, summary+"\n"+string(reportList))
	return err
}

// recall finds the counts of the survey in memory.
func (p Program) recall(ctx context.Context) (c report.Count, err error) {
	var found client.MemoryPage
	if err := p.ask(ctx, &found, "memory", "search", "what the survey listed", "--tag", countTag, "--task", p.Getenv("TRAPEZE_TASK"), "--json"); err != nil {
		return c, err
	}
	if len(found.Items) == 0 {
		return c, errors.New("memory has no counts of the survey")
	}
	var item client.MemoryItem
	if err := p.ask(ctx, &item, "memory", "get", found.Items[0].ID, "--json"); err != nil {
		return c, err
	}
	return report.ParseCount(item.Text)
}
