package handoff

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// The stories under testdata are the specification in examples. Each line is a command, and below it stands what
// happened: the events, and the task in one line. The clock stands still unless a command moves it ("wait", "tick").
// After a change of the rules, go test -run TestStories -rewrite writes them again; commit only differences that you
// understand.

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d stories found: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := &story{now: t0}
			datadriven.RunTest(t, file, s.line)
		})
	}
}

// story is one file: a task and a clock.
type story struct {
	task task.Task
	now  time.Time
	d    *datadriven.TestData
}

// line plays one command and tells what came of it.
func (s *story) line(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.d = d
	switch d.Cmd {
	case "new":
		*s = story{now: t0}
		return ""
	case "wait":
		s.now = s.now.Add(s.duration(t))
		return s.state()
	case "tick":
		s.now = s.now.Add(s.duration(t))
		return s.tick(t)
	case "notices":
		return s.notices()
	case "task":
		return s.whole()
	}
	return s.play(t, s.command(t))
}

// play gives the command, and holds the rules to their promises on the way.
func (s *story) play(t *testing.T, c Command) string {
	t.Helper()
	after, events, err := realRules.apply(s.task, c, s.now)
	if err = errors.Join(err, lawful(s.task, c, events, after), sound(after), inOrder(s.task, after.ID, events)); err != nil {
		t.Errorf("%s: %v", s.d.Pos, err)
	}
	_, refused := Decide(s.task, c, s.now)
	s.task = after
	if r, ok := refusal.As(refused); ok {
		return short(fmt.Sprintf("refused, %s: %s\n  hint: %s\n", r.Code, r.Message, r.Hint))
	}
	return s.tell(events) + s.state()
}

// tick lets the clocks do what is due, until nothing is.
func (s *story) tick(t *testing.T) string {
	t.Helper()
	after, events, err := ticks(realRules, s.task, Tick{Hints: s.hints(), Recovery: append(targets(s.list("recover")...), desks(s.list("desks")...)...), Envelope: s.sealed()}, s.now)
	if err != nil {
		t.Errorf("%s: %v", s.d.Pos, err)
	}
	s.task = after
	return s.tell(events) + s.state()
}

// sealed is the envelope that goes with a command: always the next one, unless the command says envelope=none.
func (s *story) sealed() event.Sealed {
	switch s.word("envelope", "") {
	case "none":
		return event.Sealed{}
	case "old":
		return event.Sealed{Digest: "sha256:old", Parent: "sha256:older"}
	}
	return nextEnvelope(s.task)
}

func (s *story) tell(events []event.Event) string {
	if len(events) == 0 {
		return "nothing\n"
	}
	var b strings.Builder
	for _, e := range events {
		if _, ok := e.(event.Sealed); ok {
			continue // one goes with nearly everything
		}
		b.WriteString(strings.TrimRight(e.EventName()+"  "+short(s.detail(e)), " ") + "\n")
	}
	return b.String()
}

// state is the task in one line: what a newcomer wants to know first.
func (s *story) state() string {
	t := s.task
	if !t.Exists() {
		return ""
	}
	parts := []string{string(t.State)}
	if t.Owner != "" {
		parts = append(parts, fmt.Sprintf("%s, epoch %d", t.Owner, t.Epoch))
	} else if !t.State.Final() {
		parts = append(parts, "nobody owns it")
	}
	if h := t.InFlight(); h != nil {
		what := fmt.Sprintf("handoff %d %s", h.N, h.Stage)
		if h.Stage == event.Offered {
			what += " to " + strings.Join(h.To, ", ")
		}
		parts = append(parts, what)
	}
	if k := t.OpenTicket(); k != nil {
		what := fmt.Sprintf("ticket %d %s", k.N, k.State)
		if k.ClaimedBy != "" {
			what += " by " + k.ClaimedBy
		}
		parts = append(parts, what)
	}
	if due := t.Due(); !due.IsZero() {
		parts = append(parts, "next clock "+s.at(due))
	}
	return fmt.Sprintf("%s: %s\n", s.at(s.now), strings.Join(parts, "; "))
}

// at is a moment, as the time since the story began.
func (s *story) at(when time.Time) string {
	text := when.Sub(t0).String()
	if !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
	}
	return text
}

var longID = regexp.MustCompile(`task_0*(\d+)(\.[a-z]\d+)?`)

// short writes ids so that a reader can follow: task 1 is the story's, tasks from 90 on it depends on, from 100 on are
// its children.
func short(text string) string { return longID.ReplaceAllString(text, "task-$1$2") }
