package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// maxNotes is the maximum number of progress notes that wait to be reported; more are dropped.
const maxNotes = 256

// job is the work on one task.
type job struct {
	w       *worker
	task    string
	handoff string // that it came with
	epoch   uint64
	lease   time.Time
	content *client.Sheet

	look  chan struct{} // has a value when the task may be lost
	own   bool          // the program itself handed the task off, or ended it
	notes chan string
}

// errLost is why a program is stopped: the agent does not own the task any more.
type errLost struct{ why string }

func (e errLost) Error() string { return e.why }

func (j *job) say(format string, args ...any) { j.w.say(j.handoff+": "+format, args...) }

// run runs the program, and ends the task with its result. If the result does not meet the expectations, the program runs once more to fix
// it.
func (j *job) run(ctx context.Context) {
	file, err := j.w.scratch.file(j.content.Envelope)
	if err != nil {
		j.fail(ctx, "the envelope could not be written for the program: "+err.Error(), client.Result{})
		return
	}
	defer os.Remove(file)
	env := append(j.w.env(j.task, j.handoff), fmt.Sprintf("TRAPEZE_EPOCH=%d", j.epoch), envelopeVar+file)
	env = append(env, traceEnv(j.content.Envelope)...)
	input, err := j.input()
	if err != nil {
		j.fail(ctx, err.Error(), client.Result{})
		return
	}
	why, out := j.once(ctx, input, slices.Concat(env, []string{"TRAPEZE_ATTEMPT=1"}), true)
	if why == "" {
		return
	}
	j.say("the result is not as expected, running the program once more: %s", why)
	j.once(ctx, fixPrompt(input, out, why), slices.Concat(env, []string{"TRAPEZE_ATTEMPT=2"}), false)
}

// input is what the program gets on standard input.
func (j *job) input() (string, error) {
	if j.w.o.Input != InputAsk {
		return j.content.Prompt, nil
	}
	var doc struct {
		Task struct {
			Intent string `json:"intent"`
			Ask    string `json:"ask"`
		} `json:"task"`
	}
	if err := json.Unmarshal(j.content.Envelope, &doc); err != nil {
		return "", fmt.Errorf("the envelope has no ask that can be read: %w", err)
	}
	return cmp.Or(doc.Task.Ask, doc.Task.Intent) + "\n", nil
}

// once runs the program once. If the result is refused and fixable is true, it returns why, and what the program printed.
func (j *job) once(ctx context.Context, prompt string, env []string, fixable bool) (why, printed string) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j.notes = make(chan string, maxNotes)
	var out result
	said := &lines{show: j.w.o.Stderr, showing: &j.w.saying, progress: j.note}
	if j.w.o.Jobs > 1 {
		said.prefix = j.handoff + ": "
	}
	beating, reported := make(chan struct{}), make(chan struct{})
	go func() { defer close(beating); j.beat(running, stop) }()
	go func() { defer close(reported); j.report(ctx) }()
	code, err := program{
		args: j.w.o.Command, stdin: strings.NewReader(prompt), stdout: &out, stderr: said, grace: j.w.o.Grace, env: env, scratch: j.w.scratch,
	}.run(running)
	said.flush()
	lost := context.Cause(running)
	stop(nil)
	<-beating
	close(j.notes)
	<-reported
	switch {
	case errors.As(lost, new(errLost)):
		j.lost(lost)
	case ctx.Err() != nil:
		j.say("stopped; %s owns the task until its lease expires, and it is recovered then", j.w.o.Agent)
	case err != nil:
		j.fail(ctx, "the program cannot be run: "+err.Error(), client.Result{})
	default:
		return j.finish(ctx, code, &out, said, fixable), out.b.String()
	}
	return "", ""
}

// fixPrompt is the prompt after a refused result: the first prompt, the result, and why it was refused.
func fixPrompt(prompt, printed, why string) string {
	return prompt + "\n## Fix your result\n\nYou have worked on this task already, and printed this result:\n\n" + fenced(printed) +
		"\nIt was refused:\n\n" + fenced(why) + "\nPrint the whole result again, with the problems fixed, and nothing else.\n"
}

// fenced is a text in a fenced code block.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// beat renews the lease, and stops the program when the agent loses the task: at the next heartbeat, or as soon as the stream of
// events tells of it.
func (j *job) beat(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		every := beatEvery
		if left := time.Until(j.lease); left > 0 {
			every = max(min(left/3, beatEvery), 20*time.Millisecond)
		}
		if j.pause(ctx, every) != nil {
			return
		}
		r, err := j.w.c.Heartbeat(ctx, j.task, j.epoch)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !r.Lease.IsZero():
			j.lease = r.Lease
		case client.Away(err):
			j.say("heartbeat failed, retrying: %s", err)
		case err != nil:
			t, terr := j.w.c.Task(ctx, j.task)
			if client.Away(terr) {
				continue
			}
			if terr != nil {
				err, t = terr, client.Task{}
			}
			if j.own = j.own || j.handled(t); j.own {
				return // let the program finish
			}
			if why := j.lostBy(t, err); why != "" {
				stop(errLost{why + noticeOf(err)})
				return
			}
		}
	}
}

// pause waits, or until the task may be lost, or ctx ends.
func (j *job) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-j.look:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// noticeOf is who took or ended the task, and why, as a refused heartbeat says it.
func noticeOf(err error) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		if text, ok := refused.Details["notice"].(string); ok {
			return "; " + text
		}
	}
	return ""
}

// handled reports whether the program itself handed the task off, or ended it.
func (j *job) handled(t client.Task) bool {
	if t.Owner == j.w.o.Agent && t.Epoch == j.epoch && (t.State == client.Completed || t.State == client.Failed || t.State == client.Waiting) {
		return true
	}
	h := t.Handoff
	return h != nil && h.ID != j.handoff && h.By == j.w.o.Agent && !h.Recovery && h.From == j.w.o.Agent
}

// lostBy returns why the program must stop; empty if it need not.
func (j *job) lostBy(t client.Task, err error) string {
	switch {
	case t.ID == "":
		return err.Error()
	case t.Owner != j.w.o.Agent || t.Epoch != j.epoch:
		return fmt.Sprintf("%s owns the task now (epoch %d; the worker had %d)", orNobody(t.Owner), t.Epoch, j.epoch)
	case t.State.Final() || t.State == client.Parked:
		return fmt.Sprintf("the task is %s", t.State)
	}
	return ""
}

func orNobody(name string) string {
	if name == "" {
		return "nobody"
	}
	return name
}

// note queues a progress note of the program.
func (j *job) note(text string) {
	select {
	case j.notes <- text:
	default:
		j.say("a progress note was dropped: the program writes them faster than they can be recorded")
	}
}

// report records the notes, in order.
func (j *job) report(ctx context.Context) {
	for text := range j.notes {
		_, err := insist(ctx, func(ctx context.Context) (client.Receipt, error) {
			return j.w.c.Progress(ctx, j.task, client.ProgressInput{Epoch: j.epoch, Note: text})
		})
		if err != nil && ctx.Err() == nil {
			j.say("progress %q was not recorded: %s", text, err)
		}
	}
}

// finish ends the task according to how its program exited. If the result is refused and fixable is true, it returns why, and leaves the
// task as it is.
func (j *job) finish(ctx context.Context, code int, out *result, said *lines, fixable bool) (why string) {
	t, err := insist(ctx, func(ctx context.Context) (client.Task, error) { return j.w.c.Task(ctx, j.task) })
	switch {
	case err != nil:
		j.say("the program is done, but the result could not be reported: %s", err)
		return ""
	case j.own || j.handled(t):
		j.sayHandled(t, code)
		return ""
	}
	if why := j.lostBy(t, nil); why != "" {
		j.say("the program is done, but the result could not be reported: %s", why)
		return ""
	}
	if code != 0 {
		detail := fmt.Sprintf("%s exited with code %d", j.w.o.Command[0], code)
		if last := said.last(); last != "" {
			detail += ": " + last
		}
		j.fail(ctx, detail, client.Result{Code: code, Text: string(said.tail)})
		return ""
	}
	if out.over {
		j.fail(ctx, fmt.Sprintf("the result is larger than %d bytes: print less, or upload an artifact and print its digest", MaxResult), client.Result{})
		return ""
	}
	return j.deliver(ctx, out.b.String(), fixable)
}

// deliver completes the task with the program's output. If that is refused, it returns why if fixable is true, and fails the task if not.
func (j *job) deliver(ctx context.Context, printed string, fixable bool) (why string) {
	res := client.Result{Text: printed}
	if j.w.o.JSONResult {
		res = client.Result{Data: json.RawMessage(strings.TrimSpace(printed))}
	}
	if len(res.Data) > 0 && !json.Valid(res.Data) {
		why = "the program's output is not JSON"
	} else {
		why, fixable = j.complete(ctx, res, fixable)
	}
	if why == "" || fixable {
		return why
	}
	j.fail(ctx, why, client.Result{Text: printed})
	return ""
}

// sayHandled prints the state of a task that its program handed off or ended.
func (j *job) sayHandled(t client.Task, code int) {
	how := string(t.State)
	if h := t.Handoff; h != nil && h.ID != j.handoff {
		how = "handed off, " + string(h.Stage)
		if t.Owner == j.w.o.Agent && t.State == client.Executing {
			how = "handed off and returned (" + h.Why + "); it is recovered when its lease expires"
		}
	}
	if code != 0 {
		how += fmt.Sprintf("; the program then exited with code %d", code)
	}
	j.say("%s", how)
}

// complete completes the task, or fails it if a limit does not allow that. If the result itself is refused, it returns why, and whether the
// program can fix it: if it does not meet the expectations, or is too large.
func (j *job) complete(ctx context.Context, res client.Result, fixable bool) (why string, canFix bool) {
	_, err := insist(ctx, func(ctx context.Context) (client.Receipt, error) {
		return j.w.c.Complete(ctx, j.task, client.CompleteInput{Epoch: j.epoch, Result: res})
	})
	var refused *client.Error
	switch {
	case err == nil:
		j.say("completed")
	case errors.As(err, &refused) && refused.Code == client.Invalid:
		return "the result was refused: " + refused.Message, fixable && refused.Details["problems"] != nil
	case errors.As(err, &refused) && refused.Code == client.TooLarge:
		return "the result was refused: " + refused.Message + ": " + refused.Hint, fixable
	case is(err, client.Budget, client.Limit):
		j.fail(ctx, "the result was refused: "+err.Error(), client.Result{})
	default:
		j.say("the program is done, but the result could not be reported: %s", err)
	}
	return "", false
}

// fail ends the task as failed, with the result if the server accepts it.
func (j *job) fail(ctx context.Context, detail string, res client.Result) {
	detail = strings.ToValidUTF8(detail, "\uFFFD")
	report := func(res client.Result) error {
		_, err := insist(ctx, func(ctx context.Context) (client.Receipt, error) {
			return j.w.c.Fail(ctx, j.task, client.FailInput{Epoch: j.epoch, Detail: detail, Result: res})
		})
		return err
	}
	err := report(res)
	if is(err, client.TooLarge, client.Invalid) {
		err = report(client.Result{Code: res.Code})
	}
	if err != nil {
		j.say("failed (%s), but not reported: %s", detail, err)
		return
	}
	j.say("failed: %s", detail)
}
