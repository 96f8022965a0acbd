package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// limit is the maximum duration of a demo.
const limit = 90 * time.Second

// Options of a demo.
type Options struct {
	Module     string // directory of a Go module
	Executable string // this program, for the workers
	Dir        string // data directory; empty creates a new temporary one, which is kept
	// Serve runs a server on a directory until ctx ends, and reports its address.
	Serve func(ctx context.Context, dir string, ready func(url, adminTokenFile string)) error
	// Trapeze runs a command against the server.
	Trapeze func(ctx context.Context, out io.Writer, args ...string) error
	Out     io.Writer // gets the narration; nil discards it
	// Page opens the page of the server in a browser, as soon as it runs.
	Page bool
	// Stay keeps the server after the end of the demo until its context ends, so that people can look at the page.
	Stay bool
}

// Outcome is the result of the demo.
type Outcome struct {
	Task      string  `json:"task"`
	Report    string  `json:"report"`   // file
	Artifact  string  `json:"artifact"` // the report's digest
	Data      string  `json:"data_dir"`
	Handoffs  int     `json:"handoffs"`
	Entries   int     `json:"entries"`   // of the record of the task
	Retention float64 `json:"retention"` // share of all content that was retained, 0 to 1
	Seconds   float64 `json:"seconds"`
}

// run is one run of the demo.
type run struct {
	o        Options
	began    time.Time
	dir      string
	owner    *client.Client
	workers  *workers
	task     string
	style    string // ID of the memory item with the house style
	told     uint64 // position up to which the record was narrated
	failures int    // number of failures so far
}

// Run runs the demo.
func Run(ctx context.Context, o Options) (out Outcome, err error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	module, err := report.ModuleAt(o.Module)
	if err != nil {
		return out, err
	}
	if o.Module, err = filepath.Abs(o.Module); err != nil {
		return out, err
	}
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo did not end within %s", limit))
	defer cancel()
	s := &run{o: o, began: time.Now(), dir: o.Dir}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "trapeze-demo-"); err != nil {
			return out, err
		}
	}
	s.say("Four programs write a report on %s, and hand the task to each other.", module)
	stop, err := s.open(ctx)
	if err != nil {
		return out, err
	}
	defer stop()
	if o.Page {
		if err := o.Trapeze(ctx, o.Out, "web"); err != nil {
			return out, err
		}
	}
	if err := s.runTask(ctx, module); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return out, fmt.Errorf("%w (the workers' log: %s)", err, filepath.Join(s.dir, "workers.log"))
	}
	if out, err = s.showSummary(ctx); err != nil || !o.Stay {
		return out, err
	}
	fmt.Fprintf(o.Out, "\nThe page shows the story of the task: %s/tasks/%s. Ctrl-C stops the server.\n", s.owner.URL(), s.task)
	<-whole.Done()
	return out, nil
}

// open starts the server and the workers. stop stops them.
func (s *run) open(ctx context.Context) (stop func(), err error) {
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	at := make(chan string, 1)
	ended := make(chan error, 1)
	var tokenFile string
	go func() {
		ended <- s.o.Serve(serving, s.dir, func(url, file string) {
			tokenFile = file
			at <- url
		})
	}()
	stop = func() {
		if s.workers != nil {
			s.workers.stopAll()
			s.workers.log.Close()
		}
		end()
		if err := <-ended; err != nil {
			s.aside("The server failed: %s", err)
		}
	}
	var url string
	select {
	case url = <-at:
	case err := <-ended:
		end()
		return nil, errors.Join(errors.New("the server did not start"), err)
	}
	if err := s.startWorkers(ctx, url, tokenFile); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// startWorkers registers the agents, and starts their workers.
func (s *run) startWorkers(ctx context.Context, url, tokenFile string) error {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	if s.owner, err = client.New(url, string(token), client.Options{}); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "workers.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.workers = &workers{executable: s.o.Executable, url: url, dir: s.dir, log: log, byName: map[string]*worker{}}
	for _, r := range roles {
		spec := client.AgentSpec{Description: r.does, Fallbacks: r.fallbacks, ContextWindow: r.window, Tokenizer: r.tokenizer}
		if _, err := s.owner.RegisterAgent(ctx, r.name, spec); err != nil {
			return err
		}
	}
	for _, r := range roles {
		if err := s.workers.start(r); err != nil {
			return err
		}
	}
	if err := ready(ctx, s.owner); err != nil {
		return err
	}
	s.say("A server at %s and %d workers are ready, each worker in its own process.", url, len(roles))
	return nil
}

// runTask creates the task, and follows it to its end. It causes the failures on the way.
func (s *run) runTask(ctx context.Context, module string) error {
	style, err := s.owner.Remember(ctx, client.RememberInput{
		Title: houseStyle, Text: "What is published ends with this line, word for word:\n*Counted from the source. Nothing is estimated.*",
		Scope: client.ScopeWorkspace, Pinned: true,
	})
	if err != nil {
		return err
	}
	s.style = style.ID
	doc, err := json.Marshal(data{Path: s.o.Module})
	if err != nil {
		return err
	}
	r, err := s.owner.CreateTask(ctx, client.CreateInput{
		Intent:  "Write a documentation report on the Go module " + module + ".",
		Content: client.Content{Data: doc, Ask: "List what there is."},
		Constraints: []client.Constraint{
			{ID: "files", Kind: client.ConstraintProhibition, Text: "Change no file of the module.", Hard: true},
			{ID: "markdown", Kind: client.ConstraintFormat, Text: "The report is Markdown."},
		},
		Expected: client.Expected{Format: "markdown", MaxBytes: 500, Criteria: []string{"every package has a section", "the figures add up"}},
		Timeouts: client.Timeouts{Lease: client.Duration(4 * time.Second), Offer: client.Duration(30 * time.Second)}, // short, to show how a lease expires
		Route:    route, Send: &client.SendInput{Reason: client.ReasonSpecialization},
	})
	if err != nil {
		return err
	}
	s.task = r.Task
	done := errors.New("done")
	err = s.owner.Events(ctx, 0, func(e client.Event) error {
		if e.Kind == "memory" {
			return s.narrateMemory(ctx, e.ID)
		}
		if e.ID != s.task || e.Position <= s.told {
			return nil
		}
		over, err := s.catchUp(ctx)
		if err == nil && over {
			err = done
		}
		return err
	})
	if errors.Is(err, done) {
		return nil
	}
	return err
}

// narrateMemory narrates a new memory item.
func (s *run) narrateMemory(ctx context.Context, id string) error {
	m, err := s.owner.Memory(ctx, id, client.MemoryReference{})
	if err != nil {
		return err
	}
	whom := "for later owners of the task"
	if m.Scope == client.ScopeWorkspace {
		whom = "for all agents"
	}
	if m.Pinned {
		whom += ", pinned"
	}
	s.say("%s adds to memory, %s: %s", strings.TrimPrefix(m.Author, "agent/"), whom, m.Title)
	return nil
}

// catchUp narrates the new entries of the record, and acts on them. It reports whether the task is completed.
func (s *run) catchUp(ctx context.Context) (over bool, err error) {
	trail, err := s.owner.Trail(ctx, s.task)
	if err != nil {
		return false, err
	}
	before := s.told
	for i, e := range trail.Entries {
		if e.Position <= before {
			continue
		}
		s.told = e.Position
		if sentence := narrate(trail.Entries, i); sentence != "" {
			s.say("%s", sentence)
		}
		if err := s.causeFailure(ctx, e); err != nil {
			return false, err
		}
		switch {
		case isEvent(e, event.Finished{}):
			return true, nil
		case isEvent(e, event.GaveUp{}), isEvent(e, event.Called{}), isEvent(e, event.Discarded{}):
			return false, errors.New("the task ended without a report")
		}
	}
	return false, nil
}

// causeFailure causes the failure that the demo plans after an entry, or fixes it.
func (s *run) causeFailure(ctx context.Context, e client.AuditEntry) error {
	switch {
	case isEvent(e, event.Progressed{}) && e.Agent == "analyst" && s.failures == 0:
		s.failures++
		s.aside("The demo kills the analyst's worker in the middle of its work: kill -9 %d", s.workers.pid("analyst"))
		s.workers.kill("analyst")
	case isEvent(e, event.ParkedTask{}):
		return s.replay(ctx)
	}
	return nil
}

// replay shows the dead letter, restarts the worker that was stuck, and replays the task.
func (s *run) replay(ctx context.Context) error {
	if s.failures++; s.failures > 3 {
		return errors.New("the task is in the dead letters again")
	}
	s.aside("An operator lists the dead letters:")
	if err := s.command(ctx, 12, "dead", "list"); err != nil {
		return err
	}
	s.aside("The worker of the reviewer is stuck. The demo restarts it, and replays the task:")
	s.workers.kill("reviewer")
	for _, r := range roles {
		if r.name == "reviewer" {
			r.preview = ""
			if err := s.workers.start(r); err != nil {
				return err
			}
		}
	}
	return s.command(ctx, 2, "dead", "replay", s.task, "--why", "the reviewer was stuck and has been restarted")
}

// command runs a command, and shows the first lines of its output.
func (s *run) command(ctx context.Context, lines int, args ...string) error {
	fmt.Fprintf(s.o.Out, "\n    $ trapeze %s\n", shellword.Quotes(args...))
	var out bytes.Buffer
	if err := s.o.Trapeze(ctx, &out, args...); err != nil {
		return err
	}
	s.quote(out.String(), lines)
	return nil
}

// quote prints the first lines of a text, indented.
func (s *run) quote(text string, lines int) {
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i >= lines {
			fmt.Fprintln(s.o.Out, "    …")
			break
		}
		fmt.Fprintf(s.o.Out, "    %s\n", line)
	}
	fmt.Fprintln(s.o.Out)
}

// nextCommands are commands to look at the data of the demo, with the port that its server had: that port was free, and the default one
// may not be.
func nextCommands(at, dir, task string) string {
	dir, task = shellword.Quote(dir), shellword.Quote(task)
	trapeze := "trapeze --url " + at + " --data-dir " + dir
	return strings.Join([]string{
		"trapeze serve --addr " + shellword.Quote(strings.TrimPrefix(at, "http://")) + " --data-dir " + dir,
		trapeze + " task show " + task,
		trapeze + " envelope render " + task,
		trapeze + " audit show " + task,
		trapeze + " agent list",
	}, "\n")
}

// say prints a line of the narration, with its time.
func (s *run) say(format string, args ...any) {
	fmt.Fprintf(s.o.Out, "%5.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// aside prints a remark of the demo.
func (s *run) aside(format string, args ...any) {
	fmt.Fprintf(s.o.Out, "        ▸ %s\n", fmt.Sprintf(format, args...))
}
