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

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
)

// data is the task data of the envelopes.
type data struct {
	Path     string           `json:"path,omitempty"` // of the module; in the first envelope only
	Survey   *report.Survey   `json:"survey,omitempty"`
	Analysis *report.Analysis `json:"analysis,omitempty"`
}

// content is the part of an envelope that the programs and the narration read.
type content struct {
	Handoff struct {
		From string `json:"from"`
	} `json:"handoff"`
	Task struct {
		Ask  string `json:"ask"`
		Data *data  `json:"data"`
	} `json:"task"`
	Facts     []client.Point `json:"key_facts"`
	Decisions []client.Point `json:"decisions"`
	Memory    []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	} `json:"memory"`
	Constraints []client.Constraint `json:"constraints"`
	Artifacts   []file              `json:"artifacts"`
	Expected    client.Expected     `json:"expected_output"`
	Omissions   []struct {
		Kind   string `json:"kind"`
		Tokens int    `json:"tokens"`
	} `json:"omissions"`
}

// file is an artifact of an envelope.
type file struct {
	Digest string `json:"digest"`
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
}

// Names that the programs share.
const (
	houseStyle = "House style" // title of the memory item whose last line must end every document
	countTag   = "count"       // tag of the memory item with the counts of the survey
	pathsRule  = "paths"       // ID of the constraint against naming directories of this machine
	reportName = "report.md"
)

// rules are the rules of the envelope for a report.
func (s content) rules() (r report.Rules) {
	for _, m := range s.Memory {
		if text := strings.TrimSpace(m.Text); m.Title == houseStyle {
			r.Closing = text[strings.LastIndexByte(text, '\n')+1:]
		}
	}
	_, r.NoPaths = s.constraint(pathsRule)
	return r
}

func (s content) constraint(id string) (c client.Constraint, there bool) {
	for _, c := range s.Constraints {
		if c.ID == id {
			return c, true
		}
	}
	return c, false
}

func (s content) file(name string) (f file, there bool) {
	for _, f := range s.Artifacts {
		if f.Name == name {
			return f, true
		}
	}
	return f, false
}

// Program is one of the demo's programs, as a worker runs it: it reads its envelope and the environment, works, and does everything else
// with commands, as any program does.
type Program struct {
	Executable string // of the command line
	Getenv     func(string) string
	Stdout     io.Writer
	Stderr     io.Writer
}

// errUsage is the error of wrong arguments.
var errUsage = errors.New("use survey, analyse [--hang-after N], write, review, overloaded or stuck")

// ExitCode is the error of a program that exits with a certain code.
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
	case "overloaded": // a preview that rejects every offer
		fmt.Fprintln(p.Stderr, "two reports are waiting already")
		return ExitCode(4)
	case "stuck": // a preview that never answers
		return p.hang(ctx)
	}
	s, err := p.envelope(ctx)
	if err != nil {
		return err
	}
	switch args[0] {
	case "survey":
		return p.survey(ctx, s)
	case "analyse":
		return p.analyse(ctx, s, args[1:])
	case "write":
		return p.write(ctx, s)
	case "review":
		return p.review(ctx, s)
	}
	return errUsage
}

// envelope reads the envelope, and fetches data and artifacts that were omitted from it.
func (p Program) envelope(ctx context.Context) (s content, err error) {
	b, err := os.ReadFile(p.Getenv("TRAPEZE_ENVELOPE"))
	if err != nil {
		return s, fmt.Errorf("no envelope (trapeze work must run this program): %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, err
	}
	missing := 0
	for _, o := range s.Omissions {
		if o.Kind == "data" || o.Kind == "artifact" {
			missing += o.Tokens
		}
	}
	if missing > 0 {
		var source content
		if err := p.ask(ctx, &source, "envelope", "show", p.Getenv("TRAPEZE_HANDOFF"), "--source"); err != nil {
			return s, err
		}
		s.Task.Data, s.Artifacts = source.Task.Data, source.Artifacts
		if p.Getenv("TRAPEZE_ATTEMPT") == "1" {
			p.progress("fetched what did not fit the prompt: %d tokens", missing)
		}
	}
	if s.Task.Data == nil {
		return s, errors.New("the envelope has no data")
	}
	return s, nil
}

// trapeze runs a command and returns what it prints.
func (p Program) trapeze(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Executable, args...) //nolint:gosec // this program
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), p.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("trapeze %s: %w", strings.Join(args[:min(2, len(args))], " "), err)
	}
	return out, nil
}

// ask runs a command, and decodes its JSON.
func (p Program) ask(ctx context.Context, out any, args ...string) error {
	b, err := p.trapeze(ctx, nil, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, out)
}

// send hands the task to the next agent on its route. If d is nil, the data stays as it is.
func (p Program) send(ctx context.Context, d *data, args ...string) error {
	args = append([]string{"send", "--reason", "specialization"}, args...)
	if d == nil {
		_, err := p.trapeze(ctx, nil, args...)
		return err
	}
	doc, err := json.Marshal(d)
	if err == nil {
		_, err = p.trapeze(ctx, doc, append(args, "--data", "-")...)
	}
	return err
}

// report records progress before it returns, so that it comes before what follows.
func (p Program) report(ctx context.Context, format string, args ...any) error {
	_, err := p.trapeze(ctx, nil, "task", "progress", fmt.Sprintf(format, args...))
	return err
}

// progress prints progress, which the worker records.
func (p Program) progress(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "progress: "+format+"\n", args...)
}

// hang waits until ctx or the worker that started this program ends.
func (p Program) hang(ctx context.Context) error {
	parent := os.Getppid()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if os.Getppid() != parent {
				return errors.New("the worker has exited")
			}
		}
	}
}
