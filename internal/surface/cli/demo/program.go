package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/surface/cli/stage"
)

// data is what travels in the envelopes.
type data struct {
	Path     string          `json:"path,omitempty"` // of the module, in the first
	Survey   *stage.Survey   `json:"survey,omitempty"`
	Analysis *stage.Analysis `json:"analysis,omitempty"`
	Report   string          `json:"report,omitempty"`
}

// Program is one of the demo's programs, as a worker runs it: it reads its envelope and the environment, works, and
// hands on with the command line's own send.
type Program struct {
	Executable string // of the command line
	Getenv     func(string) string
	Stdout     io.Writer
	Stderr     io.Writer
}

// errUsage says how programs are called.
var errUsage = errors.New("use survey, analyse [--hang-after N], write, review, overloaded or stuck")

// ExitCode is what a program ends with that does not fail but says something by its exit code.
type ExitCode int

func (c ExitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

// ExitCode is the code itself.
func (c ExitCode) ExitCode() int { return int(c) }

// Run runs one program.
func (p Program) Run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "overloaded": // a preview: turns every offer down
		fmt.Fprintln(p.Stderr, "two reports are on my desk already")
		return ExitCode(4)
	case "stuck": // a preview that never answers
		return p.hang(ctx)
	}
	d, err := p.envelope()
	if err != nil {
		return err
	}
	switch args[0] {
	case "survey":
		return p.survey(ctx, d)
	case "analyse":
		return p.analyse(ctx, d, args[1:])
	case "write":
		return p.write(ctx, d)
	case "review":
		return p.review(d)
	}
	return errUsage
}

// envelope reads what the stage before has handed on.
func (p Program) envelope() (d data, err error) {
	b, err := os.ReadFile(p.Getenv("TRAPEZE_ENVELOPE"))
	if err != nil {
		return d, fmt.Errorf("no envelope (this program is run by trapeze work): %w", err)
	}
	var envelope struct {
		Task struct {
			Data data `json:"data"`
		} `json:"task"`
	}
	err = json.Unmarshal(b, &envelope)
	return envelope.Task.Data, err
}

// send hands the task on to the next on its route, as any program would.
func (p Program) send(ctx context.Context, d data, args ...string) error {
	doc, err := json.Marshal(d)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.Executable, append([]string{"send", "--reason", "specialization", "--data", "-"}, args...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(doc), p.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hand on: %w", err)
	}
	return nil
}

// report puts a note on record before it returns, so that what follows cannot overtake it.
func (p Program) report(ctx context.Context, format string, args ...any) error {
	cmd := exec.CommandContext(ctx, p.Executable, "task", "progress", fmt.Sprintf(format, args...))
	cmd.Stderr = p.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// progress says how far the work is; the worker puts it on record.
func (p Program) progress(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "progress: "+format+"\n", args...)
}

func (p Program) survey(ctx context.Context, d data) error {
	s, err := stage.Look(ctx, d.Path, func(string) {})
	if err != nil {
		return err
	}
	files := 0
	for _, l := range s.Packages {
		files += len(l.Files)
	}
	if err := p.report(ctx, "listed %d packages with %d files", len(s.Packages), files); err != nil {
		return err
	}
	return p.send(ctx, data{Survey: &s}, "--ask", "Measure every package.",
		"--fact", fmt.Sprintf("size=%s has %d packages with %d files", s.Module, len(s.Packages), files))
}

func (p Program) analyse(ctx context.Context, d data, args []string) error {
	if d.Survey == nil {
		return errors.New("the envelope has no survey")
	}
	hangAfter := 0
	if len(args) == 2 && args[0] == "--hang-after" {
		var err error
		if hangAfter, err = strconv.Atoi(args[1]); err != nil {
			return errUsage
		}
	}
	n := len(d.Survey.Packages)
	a, err := stage.Analyse(ctx, *d.Survey, func(i int, dir string) error {
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
	return p.send(ctx, data{Analysis: &a}, "--ask", "Write the report, in Markdown.",
		"--fact", fmt.Sprintf("lines=%d lines in %d functions", t.Lines, t.Functions),
		"--fact", fmt.Sprintf("gaps=%d of %d exported names have no comment", t.Undocumented, t.Exported),
		"--decision", "tests=Tests are counted as files, and left out of everything else")
}

func (p Program) write(ctx context.Context, d data) error {
	if d.Analysis == nil {
		return errors.New("the envelope has no analysis")
	}
	report := stage.Write(*d.Analysis)
	if err := p.report(ctx, "wrote %d lines", strings.Count(report, "\n")); err != nil {
		return err
	}
	return p.send(ctx, data{Analysis: d.Analysis, Report: report}, "--ask", "Check the report against the figures, and publish it.",
		"--decision", "order=Packages stand in the order of their directories", "--retries", "1", "--ack-timeout", "1s")
}

func (p Program) review(d data) error {
	if d.Analysis == nil {
		return errors.New("the envelope has no analysis")
	}
	findings := stage.Review(d.Report, *d.Analysis)
	for _, f := range findings {
		p.progress("finding: %s", f)
	}
	if len(findings) > 0 {
		return fmt.Errorf("the report has %d findings, the first: %s", len(findings), findings[0])
	}
	p.progress("checked %d packages, every link and every sum: no findings", len(d.Analysis.Packages))
	_, err := io.WriteString(p.Stdout, d.Report)
	return err
}

// hang waits for the end: of ctx, or of the worker that started this program.
func (p Program) hang(ctx context.Context) error {
	parent := os.Getppid()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if os.Getppid() != parent {
				return errors.New("the worker is gone")
			}
		}
	}
}
