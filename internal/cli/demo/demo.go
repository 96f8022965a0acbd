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
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/demo/report"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// limit is when a demo that hangs gives up.
const limit = 90 * time.Second

// Options say what the demo works on and with.
type Options struct {
	Module     string // directory of a Go module
	Executable string // the command line, for the workers
	Dir        string // data directory; empty makes a temporary one, which is kept
	// Serve runs a server on a directory until ctx ends, and says where it is.
	Serve func(ctx context.Context, dir string, ready func(url, adminTokenFile string)) error
	// Trapeze runs a command against the server, as a person would.
	Trapeze func(ctx context.Context, out io.Writer, args ...string) error
	Out     io.Writer // the story; nil means nobody listens
}

// Outcome is what came of the demo.
type Outcome struct {
	Task      string  `json:"task"`
	Report    string  `json:"report"`   // file
	Artifact  string  `json:"artifact"` // the report's digest
	Data      string  `json:"data_dir"`
	Handoffs  int     `json:"handoffs"`
	Entries   int     `json:"entries"`   // on record about the task
	Retention float64 `json:"retention"` // of what was ever said, 0 to 1
	Seconds   float64 `json:"seconds"`
}

// show is one run of the demo.
type show struct {
	o     Options
	began time.Time
	dir   string
	owner *client.Client
	cast  *cast
	task  string
	style string // id of the memory item
	known uint64 // position up to which the trail was told
	stage int    // mishaps behind us
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
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the demo did not end within %s", limit))
	defer cancel()
	s := &show{o: o, began: time.Now(), dir: o.Dir}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "trapeze-demo-"); err != nil {
			return out, err
		}
	}
	s.say("A report on %s, by four programs that hand on to each other.", module)
	stop, err := s.open(ctx)
	if err != nil {
		return out, err
	}
	defer stop()
	if err := s.play(ctx, module); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return out, fmt.Errorf("%w (the workers' log: %s)", err, filepath.Join(s.dir, "workers.log"))
	}
	return s.finale(ctx)
}

// open starts the server and the workers. stop ends them.
func (s *show) open(ctx context.Context) (stop func(), err error) {
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
		if s.cast != nil {
			s.cast.stopAll()
			s.cast.log.Close()
		}
		end()
		if err := <-ended; err != nil {
			s.aside("The server ended badly: %s", err)
		}
	}
	var url string
	select {
	case url = <-at:
	case err := <-ended:
		end()
		return nil, errors.Join(errors.New("the server did not start"), err)
	}
	if err := s.hire(ctx, url, tokenFile); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// hire registers the agents and starts their workers.
func (s *show) hire(ctx context.Context, url, tokenFile string) error {
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
	s.cast = &cast{executable: s.o.Executable, url: url, dir: s.dir, log: log, workers: map[string]*worker{}}
	for _, r := range troupe {
		spec := client.AgentSpec{Description: r.does, Fallbacks: r.fallbacks, ContextWindow: r.window, Tokenizer: r.tokenizer}
		if _, err := s.owner.RegisterAgent(ctx, r.name, spec); err != nil {
			return err
		}
	}
	for _, r := range troupe {
		if err := s.cast.start(r); err != nil {
			return err
		}
	}
	if err := ready(ctx, s.owner); err != nil {
		return err
	}
	s.say("A server at %s and %d workers are ready, each a process of its own.", url, len(troupe))
	return nil
}

// play creates the task and follows it to its end, making the mishaps on the way.
func (s *show) play(ctx context.Context, module string) error {
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
		Timeouts: client.Timeouts{Lease: client.Duration(4 * time.Second), Offer: client.Duration(30 * time.Second)}, // to see a lease end soon
		Route:    route, Send: &client.SendInput{Reason: client.ReasonSpecialization},
	})
	if err != nil {
		return err
	}
	s.task = r.Task
	done := errors.New("done")
	err = s.owner.Events(ctx, 0, func(e client.Event) error {
		if e.Kind == "memory" {
			return s.remembered(ctx, e.ID)
		}
		if e.ID != s.task || e.Position <= s.known {
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

// remembered tells what is kept in memory.
func (s *show) remembered(ctx context.Context, id string) error {
	m, err := s.owner.Memory(ctx, id, client.MemoryReference{})
	if err != nil {
		return err
	}
	whom := "for whoever has the task later"
	if m.Scope == client.ScopeWorkspace {
		whom = "for everybody"
	}
	if m.Pinned {
		whom += ", pinned"
	}
	s.say("%s keeps in memory, %s: %s", strings.TrimPrefix(m.Author, "agent/"), whom, m.Title)
	return nil
}

// catchUp tells what is new on record, and acts on it. It reports whether the task is completed.
func (s *show) catchUp(ctx context.Context) (over bool, err error) {
	trail, err := s.owner.Trail(ctx, s.task)
	if err != nil {
		return false, err
	}
	before := s.known
	for i, e := range trail.Entries {
		if e.Position <= before {
			continue
		}
		s.known = e.Position
		if sentence := tell(trail.Entries, i); sentence != "" {
			s.say("%s", sentence)
		}
		if err := s.mishap(ctx, e); err != nil {
			return false, err
		}
		switch {
		case caught(e, event.Finished{}):
			return true, nil
		case caught(e, event.GaveUp{}), caught(e, event.Called{}), caught(e, event.Discarded{}):
			return false, errors.New("the task ended without a report")
		}
	}
	return false, nil
}

// mishap does what the demo has in store for this moment.
func (s *show) mishap(ctx context.Context, e client.AuditEntry) error {
	switch {
	case caught(e, event.Progressed{}) && e.Agent == "analyst" && s.stage == 0:
		s.stage++
		s.aside("We kill the analyst's worker in the middle of its work: kill -9 %d", s.cast.pid("analyst"))
		s.cast.kill("analyst")
	case caught(e, event.ParkedTask{}):
		return s.revive(ctx)
	}
	return nil
}

// revive looks at the dead letter, mends what was broken, and replays it.
func (s *show) revive(ctx context.Context) error {
	if s.stage++; s.stage > 3 {
		return errors.New("the task is in the dead letters again")
	}
	s.aside("An operator looks:")
	if err := s.run(ctx, 12, "dead", "list"); err != nil {
		return err
	}
	s.aside("The reviewer is stuck. We replace it, and replay:")
	s.cast.kill("reviewer")
	for _, r := range troupe {
		if r.name == "reviewer" {
			r.preview = ""
			if err := s.cast.start(r); err != nil {
				return err
			}
		}
	}
	return s.run(ctx, 2, "dead", "replay", s.task, "--why", "the reviewer was stuck and has been restarted")
}

// run runs a command as a person would, and shows up to so many lines of its answer.
func (s *show) run(ctx context.Context, lines int, args ...string) error {
	quoted := slices.Clone(args)
	for i, a := range quoted {
		if strings.Contains(a, " ") {
			quoted[i] = "'" + a + "'"
		}
	}
	fmt.Fprintf(s.o.Out, "\n    $ trapeze %s\n", strings.Join(quoted, " "))
	var out bytes.Buffer
	if err := s.o.Trapeze(ctx, &out, args...); err != nil {
		return err
	}
	s.quote(out.String(), lines)
	return nil
}

// quote shows text, indented, up to so many lines.
func (s *show) quote(text string, lines int) {
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i >= lines {
			fmt.Fprintln(s.o.Out, "    …")
			break
		}
		fmt.Fprintf(s.o.Out, "    %s\n", line)
	}
	fmt.Fprintln(s.o.Out)
}

// further are the commands that look at what a demo left behind, on the port that its own server had: that one was free,
// and the usual one may not be.
func further(at, dir, task string) string {
	trapeze := "trapeze --url " + at + " --data-dir " + dir
	return strings.Join([]string{
		"trapeze serve --addr " + strings.TrimPrefix(at, "http://") + " --data-dir " + dir,
		trapeze + " task show " + task,
		trapeze + " envelope render " + task,
		trapeze + " audit show " + task,
		trapeze + " agent list",
	}, "\n")
}

// say tells a part of the story, with its time.
func (s *show) say(format string, args ...any) {
	fmt.Fprintf(s.o.Out, "%5.1fs  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// aside is what the demo itself has to say.
func (s *show) aside(format string, args ...any) {
	fmt.Fprintf(s.o.Out, "        ▸ %s\n", fmt.Sprintf(format, args...))
}
