package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// maxInput is the most that is read from a file or standard input: more than the server takes.
const maxInput = 2 << 20

// text is an argument that may stand elsewhere: "-" is standard input, "@name" a file, "@@…" text with one @ less.
func (s *shell) text(arg string) (string, error) {
	switch {
	case arg == "-":
		return readAll("standard input", s.env.Stdin)
	case strings.HasPrefix(arg, "@@"):
		return arg[1:], nil
	case strings.HasPrefix(arg, "@"):
		f, err := os.Open(arg[1:])
		if err != nil {
			return "", usageError{err}
		}
		defer f.Close()
		return readAll(arg[1:], f)
	}
	return arg, nil
}

func readAll(name string, r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxInput {
		return "", usagef("%s has more than %d bytes", name, maxInput)
	}
	return string(b), nil
}

// document is an argument that is JSON, wherever it stands. Empty is none.
func (s *shell) document(what, arg string) (json.RawMessage, error) {
	if arg == "" {
		return nil, nil
	}
	text, err := s.text(arg)
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(text)) {
		return nil, usagef("%s is not JSON", what)
	}
	return json.RawMessage(strings.TrimSpace(text)), nil
}

// decode reads an argument that is JSON into v, and refuses fields that v does not have.
func (s *shell) decode(what, arg string, v any) error {
	doc, err := s.document(what, arg)
	if err != nil || doc == nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return usagef("%s: %w", what, err)
	}
	return nil
}

// texts are arguments that may stand elsewhere.
func (s *shell) texts(args ...*string) error {
	for _, a := range args {
		text, err := s.text(*a)
		if err != nil {
			return err
		}
		*a = text
	}
	return nil
}

// contentFlags are what a sender puts into an envelope.
type contentFlags struct {
	whole, data                 string
	ask, state, summary, notes  string
	facts, decisions, questions []string
	confidence                  float64
	hasConfidence               func() bool
}

func (c *contentFlags) add(f *pflag.FlagSet) {
	f.StringVar(&c.whole, "content", "", "the whole content as JSON, @FILE or -; the other flags go on top")
	f.StringVar(&c.ask, "ask", "", "what the receiver must accomplish (text, @FILE or -)")
	f.StringVar(&c.state, "state", "", "where the work stands now (text, @FILE or -)")
	f.StringVar(&c.summary, "summary", "", "the conversation so far, condensed (text, @FILE or -)")
	f.StringVar(&c.notes, "notes", "", "anything else for the receiver (text, @FILE or -)")
	f.StringArrayVar(&c.facts, "fact", nil, "something that is known; ID=TEXT gives it an id, ID<OLD=TEXT replaces another (repeatable)")
	f.StringArrayVar(&c.decisions, "decision", nil, "something that was decided; ids as with --fact (repeatable)")
	f.StringArrayVar(&c.questions, "question", nil, "something that is open; replaces the questions before (repeatable)")
	f.StringVar(&c.data, "data", "", "task data as JSON, @FILE or -; replaces the data before")
	f.Float64Var(&c.confidence, "confidence", 0, "how sure you are of the work, 0 to 1")
	c.hasConfidence = func() bool { return f.Changed("confidence") }
}

func (c *contentFlags) content(s *shell) (client.Content, error) {
	var out client.Content
	if err := s.decode("--content", c.whole, &out); err != nil {
		return out, err
	}
	for _, p := range []struct {
		arg string
		to  *string
	}{{c.ask, &out.Ask}, {c.state, &out.State}, {c.summary, &out.Summary}, {c.notes, &out.Notes}} {
		if p.arg == "" {
			continue
		}
		text, err := s.text(p.arg)
		if err != nil {
			return out, err
		}
		*p.to = text
	}
	data, err := s.document("--data", c.data)
	if err != nil {
		return out, err
	}
	if data != nil {
		out.Data = data
	}
	out.Facts = append(out.Facts, points(c.facts)...)
	out.Decisions = append(out.Decisions, points(c.decisions)...)
	if c.questions != nil {
		out.Questions = c.questions
	}
	if c.hasConfidence() {
		out.Confidence = &c.confidence
	}
	return out, nil
}

var rePoint = regexp.MustCompile(`(?s)^([A-Za-z0-9_.-]{1,64})(?:<([A-Za-z0-9_.-]{1,64}))?=(.*)$`)

func points(args []string) []client.Point {
	list := make([]client.Point, 0, len(args))
	for _, a := range args {
		p := client.Point{Text: a}
		if m := rePoint.FindStringSubmatch(a); m != nil {
			p = client.Point{ID: m[1], Supersedes: m[2], Text: m[3]}
		}
		list = append(list, p)
	}
	return list
}

// duration is a flag like 30s or 1h30m.
type duration client.Duration

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration: write it like 15s or 1h30m", text)
	}
	if v < 0 {
		return fmt.Errorf("%s is negative", text)
	}
	*d = duration(v)
	return nil
}

func (*duration) Type() string { return "duration" }

// moment is a flag that is a time or how long from now.
func moment(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now().Add(d).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usagef("%s: %q is neither a duration like 2h nor a time like 2030-01-31T17:00:00Z", what, text)
	}
	return t, nil
}

// own is the task that this process works on, as a worker's child; zero for everybody else.
func (s *shell) own() (task string, epoch uint64) {
	task = s.env.Getenv("TRAPEZE_TASK")
	epoch, err := strconv.ParseUint(s.env.Getenv("TRAPEZE_EPOCH"), 10, 64)
	if err != nil {
		return task, 0
	}
	return task, epoch
}

// taskArg is the task that a command is about: its first argument where it has more than rest, or else the task that
// this process works on.
func (s *shell) taskArg(args []string, rest int) (task string, others []string, err error) {
	if len(args) > rest {
		return args[0], args[1:], nil
	}
	task, _ = s.own()
	if task == "" && len(args) > 0 && strings.HasPrefix(args[0], "task_") {
		return "", nil, usagef("%s: something is missing after the task", args[0])
	}
	if task == "" {
		return "", nil, usagef("name the task (or set TRAPEZE_TASK)")
	}
	return task, args, nil
}

// epochOf is the epoch to send with a change of a task: the one given, the one that this process works under, or the
// task's present one.
func (s *shell) epochOf(ctx context.Context, c *client.Client, task string, given uint64) (uint64, error) {
	if given != 0 {
		return given, nil
	}
	if own, epoch := s.own(); own == task && epoch != 0 {
		return epoch, nil
	}
	t, err := c.Task(ctx, task)
	return t.Epoch, err
}
