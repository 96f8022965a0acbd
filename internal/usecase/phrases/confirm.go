package phrases

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing/phrase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// MaxAge is how long a confirmation may be used.
const MaxAge = 10 * time.Minute

// A confirmation is "EPOCH.TASK.TIME.STANDING.SUM": the epoch of the task when it was asked for, the id of the task, the time of
// asking, the state of the task, and a MAC of these four, the caller and the instruction, with a secret of this server. One that was
// asked for before a restart has to be asked for again.
type confirmation struct {
	epoch    uint64
	task     string
	at       int64 // seconds since 1970
	standing string
}

func (k confirmation) String() string {
	return strconv.FormatUint(k.epoch, 10) + "." + k.task + "." + strconv.FormatInt(k.at, 10) + "." + k.standing
}

// sum is of who says what by a confirmation.
func (ps *Phrases) sum(c caller.Caller, said phrase.Instruction, k confirmation) string {
	return ps.digest("do\x00%s\x00%s\x00%s\x00%s", c.Workspace, c, k, said.Canonical())
}

func (ps *Phrases) digest(format string, args ...any) string {
	mac := hmac.New(sha256.New, ps.secret)
	fmt.Fprintf(mac, format, args...)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// ask is the confirmation of what was understood. Its task is found, so that all of it is as it is now.
func (ps *Phrases) ask(ctx context.Context, c caller.Caller, said phrase.Instruction) (string, error) {
	k := confirmation{task: said.Task, at: ps.now().Unix()}
	var err error
	if fenced(said) {
		var t taskstore.Task
		if t, err = ps.tasks.Show(ctx, c, said.Task); err != nil {
			return "", ps.near(ctx, c, said.Task, err)
		}
		k.epoch, k.standing = t.Epoch, ps.standing(t.Task)
	} else if k.standing, err = ps.stands(ctx, c, said); err != nil {
		return "", err
	}
	return k.String() + "." + ps.sum(c, said, k), nil
}

// fenced reports whether what was said is done under the task's epoch. Who takes over is no owner and knows none.
func fenced(s phrase.Instruction) bool {
	return s.Intent != phrase.Takeover && s.Intent != phrase.Stuck
}

// stands is how what was said to be taken over or stuck stands: the task, or the tasks that an agent works on. Nothing where the
// caller may not see the task, and may ask for it all the same.
func (ps *Phrases) stands(ctx context.Context, c caller.Caller, said phrase.Instruction) (string, error) {
	if said.Task == "" {
		return ps.holds(ctx, c, said.Agent)
	}
	t, err := ps.store.For(ctx, c, said.Task)
	if refusal.CodeOf(err) == refusal.NotFound {
		return "", nil
	}
	return ps.standing(t.Task), err
}

// standing tells one standing of a task from every other that it had or will have. Signs of life and progress change nothing of it.
func (ps *Phrases) standing(t task.Task) string {
	var parked time.Time
	if t.Parked != nil {
		parked = t.Parked.At
	} else if t.WasParked != nil {
		parked = t.WasParked.At
	}
	handoff, ticket := task.Handoff{}, task.Ticket{}
	if t.Handoff != nil {
		handoff = *t.Handoff
	}
	if t.Ticket != nil {
		ticket = *t.Ticket
	}
	return ps.digest("task\x00%s\x00%d\x00%s\x00%d.%d.%d.%s\x00%d.%s\x00%d.%d.%d.%d.%d\x00%d", t.ID, t.Epoch, t.State, handoff.N, handoff.Offer, handoff.Tries, handoff.Stage,
		ticket.N, ticket.State, t.TakeoverCount, len(t.Takeovers), len(t.Shares), len(t.Children), len(t.Constraints), parked.UnixNano())
}

// holds is standing for all that an agent works on.
func (ps *Phrases) holds(ctx context.Context, c caller.Caller, agent string) (string, error) {
	if err := ps.positions.CatchUp(ctx); err != nil {
		return "", err
	}
	tasks, err := ps.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: agent, State: event.Executing, Limit: view.MaxPage})
	if err != nil {
		return "", stream.Unavailable(err)
	}
	var all strings.Builder
	for _, t := range tasks {
		fmt.Fprintf(&all, "%s.%d\x00", t.ID, t.Epoch)
	}
	return ps.digest("agent\x00%s\x00%s", agent, all.String()), nil
}

// check refuses (conflict) a confirmation of anything else than what is said now, and (expired) one that is too old. It says
// which task "this" was.
func (ps *Phrases) check(c caller.Caller, said *phrase.Instruction, token string) (k confirmation, err error) {
	parts := strings.Split(token, ".")
	if len(parts) == 5 {
		k.task, k.standing = parts[1], parts[3]
		k.epoch, err = strconv.ParseUint(parts[0], 10, 64)
		if err == nil {
			k.at, err = strconv.ParseInt(parts[2], 10, 64)
		}
	}
	then := *said
	if then.Task == "" && means(then) {
		then.Task = k.task
	}
	const hint = "send the sentence without a confirmation, read what is understood, and confirm that"
	if len(parts) != 5 || err != nil || then.Task != k.task || !hmac.Equal([]byte(parts[4]), []byte(ps.sum(c, then, k))) {
		return k, refusal.New(refusal.Conflict, hint, "what is confirmed is not what is understood: %s", said.Canonical())
	}
	if ps.now().Sub(time.Unix(k.at, 0)) > MaxAge {
		return k, refusal.New(refusal.Expired, hint, "what is confirmed was asked more than %d minutes ago", MaxAge/time.Minute)
	}
	*said = then
	return k, nil
}

// unmoved refuses (conflict) a task that stands otherwise than when the confirmation was asked for. Of one with another epoch the
// rules have more to say.
func (ps *Phrases) unmoved(said phrase.Instruction, k confirmation) func(task.Task) error {
	return func(t task.Task) error {
		if k.standing == "" || fenced(said) && t.Epoch != k.epoch || ps.standing(t) == k.standing {
			return nil
		}
		return moved("task " + t.ID)
	}
}

func moved(what string) error {
	return refusal.New(refusal.Conflict, "look at it, and say again what is to be done", "%s has moved since that was asked", what)
}
