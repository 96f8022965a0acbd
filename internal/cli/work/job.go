package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// maxNotes is how many progress notes may wait to be reported before more are dropped.
const maxNotes = 256

// job is one task in work.
type job struct {
	w       *worker
	task    string
	handoff string // by which it came
	epoch   uint64
	lease   time.Time
	sheet   *client.Sheet

	own   bool // the program handed the task on, or ended it, by itself
	notes chan string
}

// errLost is why a program is stopped: its task is not the agent's any more.
type errLost struct{ why string }

func (e errLost) Error() string { return e.why }

func (j *job) say(format string, args ...any) { j.w.say(j.handoff+": "+format, args...) }

// run runs the program and does with the task what comes of it. A result that is not as expected is given back to the
// program, once, to be mended.
func (j *job) run(ctx context.Context) {
	file, err := tempFile(j.sheet.Envelope)
	if err != nil {
		j.fail(ctx, "the envelope could not be written for the program: "+err.Error(), client.Result{})
		return
	}
	defer os.Remove(file)
	env := append(j.w.env(j.task, j.handoff), fmt.Sprintf("TRAPEZE_EPOCH=%d", j.epoch), "TRAPEZE_ENVELOPE="+file)
	why, out := j.once(ctx, j.sheet.Prompt, slices.Concat(env, []string{"TRAPEZE_ATTEMPT=1"}), true)
	if why == "" {
		return
	}
	j.say("not as expected, and given back once to mend: %s", why)
	j.once(ctx, mending(j.sheet.Prompt, out, why), slices.Concat(env, []string{"TRAPEZE_ATTEMPT=2"}), false)
}

// once runs the program one time. Where its result may still be mended it says what is wrong with it.
func (j *job) once(ctx context.Context, prompt string, env []string, mend bool) (why, printed string) {
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
		args: j.w.o.Command, stdin: strings.NewReader(prompt), stdout: &out, stderr: said, grace: j.w.o.Grace, env: env,
	}.run(running)
	said.flush()
	lost := context.Cause(running)
	stop(nil)
	<-beating
	close(j.notes)
	<-reported
	switch {
	case errors.As(lost, new(errLost)):
		j.say("stopped: %s", lost)
	case ctx.Err() != nil:
		j.say("stopped; the task stays with %s until its lease ends, and is recovered then", j.w.o.Agent)
	case err != nil:
		j.fail(ctx, "the program cannot be run: "+err.Error(), client.Result{})
	default:
		return j.finish(ctx, code, &out, said, mend), out.b.String()
	}
	return "", ""
}

// mending is the prompt for a result that was not accepted: the same one, then the result, and what is wrong with it.
func mending(prompt, printed, why string) string {
	return prompt + "\n## Mend your result\n\nYou have worked on this already. This is what you printed:\n\n" + fenced(printed) +
		"\nIt was not accepted as the result:\n\n" + fenced(why) + "\nPrint the whole result again, mended, and nothing else.\n"
}

// fenced is a text in a block that it cannot end.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// beat keeps the lease alive, and stops the program when the task is not the agent's any more.
func (j *job) beat(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		every := beatEvery
		if left := time.Until(j.lease); left > 0 {
			every = max(min(left/3, beatEvery), 20*time.Millisecond)
		}
		if wire.Sleep(ctx, every) != nil {
			return
		}
		r, err := j.w.c.Heartbeat(ctx, j.task, j.epoch)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !r.Lease.IsZero():
			j.lease = r.Lease
		case client.Away(err):
			j.say("no heartbeat, trying on: %s", err)
		case err != nil:
			t, terr := j.w.c.Task(ctx, j.task)
			if client.Away(terr) {
				continue
			}
			if terr != nil {
				err, t = terr, client.Task{}
			}
			if j.own = j.own || j.handled(t); j.own {
				return // the program may finish its own business
			}
			if why := j.lostBy(t, err); why != "" {
				stop(errLost{why})
				return
			}
		}
	}
}

// handled reports whether the program itself handed the task on, or ended it.
func (j *job) handled(t client.Task) bool {
	if t.Owner == j.w.o.Agent && t.Epoch == j.epoch && (t.State == client.Completed || t.State == client.Failed || t.State == client.Waiting) {
		return true
	}
	h := t.Handoff
	return h != nil && h.ID != j.handoff && h.By == "agent/"+j.w.o.Agent && !h.Recovery && h.From == j.w.o.Agent
}

// lostBy says why the program must stop, or "" if it need not.
func (j *job) lostBy(t client.Task, err error) string {
	switch {
	case t.ID == "":
		return err.Error()
	case t.Owner != j.w.o.Agent || t.Epoch != j.epoch:
		return fmt.Sprintf("the task has moved on: %s owns it now (epoch %d, ours was %d)", orNobody(t.Owner), t.Epoch, j.epoch)
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

// note takes a progress note from the program.
func (j *job) note(text string) {
	select {
	case j.notes <- text:
	default:
		j.say("a progress note is dropped: they come faster than they can be recorded")
	}
}

// report puts the notes on record, in order.
func (j *job) report(ctx context.Context) {
	for text := range j.notes {
		_, err := insist(ctx, func(ctx context.Context) (client.Receipt, error) {
			return j.w.c.Progress(ctx, j.task, client.ProgressInput{Epoch: j.epoch, Note: text})
		})
		if err != nil && ctx.Err() == nil {
			j.say("progress %q is not on record: %s", text, err)
		}
	}
}

// finish does with the task what its program's end means. Where the result may still be mended it says what is wrong
// with it, and leaves the task as it is.
func (j *job) finish(ctx context.Context, code int, out *result, said *lines, mend bool) (why string) {
	t, err := insist(ctx, func(ctx context.Context) (client.Task, error) { return j.w.c.Task(ctx, j.task) })
	switch {
	case err != nil:
		j.say("done, but not reported: %s", err)
		return ""
	case j.own || j.handled(t):
		j.tellOwn(t, code)
		return ""
	}
	if why := j.lostBy(t, nil); why != "" {
		j.say("done, but not reported: %s", why)
		return ""
	}
	if code != 0 {
		detail := fmt.Sprintf("%s ended with exit code %d", j.w.o.Command[0], code)
		if last := said.last(); last != "" {
			detail += ": " + last
		}
		j.fail(ctx, detail, client.Result{Code: code, Text: string(said.tail)})
		return ""
	}
	if out.over {
		j.fail(ctx, fmt.Sprintf("the result has more than %d bytes: print less, or keep it elsewhere and print where", MaxResult), client.Result{})
		return ""
	}
	return j.deliver(ctx, out.b.String(), mend)
}

// deliver completes the task with what its program printed, or fails it where that is refused and may not be mended.
func (j *job) deliver(ctx context.Context, printed string, mend bool) (why string) {
	res := client.Result{Text: printed}
	if j.w.o.JSONResult {
		res = client.Result{Data: json.RawMessage(strings.TrimSpace(printed))}
	}
	if len(res.Data) > 0 && !json.Valid(res.Data) {
		why = "the program's output is not JSON"
	} else {
		why, mend = j.complete(ctx, res, mend)
	}
	if why == "" || mend {
		return why
	}
	j.fail(ctx, why, client.Result{Text: printed})
	return ""
}

// tellOwn says how a task stands that its program moved or ended by itself.
func (j *job) tellOwn(t client.Task, code int) {
	how := string(t.State)
	if h := t.Handoff; h != nil && h.ID != j.handoff {
		how = "handed on, " + string(h.Stage)
		if t.Owner == j.w.o.Agent && t.State == client.Executing {
			how = "handed on and come back (" + h.Why + "); it is recovered when its lease ends"
		}
	}
	if code != 0 {
		how += fmt.Sprintf("; the program then ended with exit code %d", code)
	}
	j.say("%s", how)
}

// complete finishes the task, or fails it where the limits are against it. It says why a result is refused by itself, and
// whether that can be mended: if it is not what the task expects, or too long.
func (j *job) complete(ctx context.Context, res client.Result, mend bool) (why string, mendable bool) {
	_, err := insist(ctx, func(ctx context.Context) (client.Receipt, error) {
		return j.w.c.Complete(ctx, j.task, client.CompleteInput{Epoch: j.epoch, Result: res})
	})
	var refused *client.Error
	switch {
	case err == nil:
		j.say("completed")
	case errors.As(err, &refused) && refused.Code == client.Invalid:
		return "the result was refused: " + refused.Message, mend && refused.Details["problems"] != nil
	case errors.As(err, &refused) && refused.Code == client.TooLarge:
		return "the result was refused: " + refused.Message + ": " + refused.Hint, mend
	case is(err, client.Budget, client.Limit):
		j.fail(ctx, "the result was refused: "+err.Error(), client.Result{})
	default:
		j.say("done, but not reported: %s", err)
	}
	return "", false
}

// fail ends the task as not done, with what there is of a result if that can be kept.
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
