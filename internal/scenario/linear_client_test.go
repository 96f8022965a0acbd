//go:build slow || outside

package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// client is one of several processes that share an agent's credential.
type client struct {
	*contest
	id    int
	agent string
	rng   *rand.Rand
	known map[string]sight // what it last saw of each task
	texts int
}

// turn is what a client does once: it picks a task, perhaps looks at it, and gives a command.
func (c *client) turn() {
	slot := &c.slots[c.rng.IntN(len(c.slots))]
	task := slot.pick(c.rng)
	if _, ok := c.known[task]; !ok || c.rng.IntN(3) == 0 {
		c.do(task, wish{verb: vRead})
	}
	w := c.choose(c.known[task])
	if w.verb == vRead { // nothing to do here: look again next time
		delete(c.known, task)
		return
	}
	a := c.do(task, w)
	slot.used(c.contest, task, a.code == "" && w.verb == vComplete)
}

// choose is a command that is in order as far as the client knows, or on purpose one that is not.
func (c *client) choose(s sight) wish {
	w := wish{agent: c.agent, epoch: s.Epoch, n: s.N, text: c.text()}
	inFlight := s.Stage == event.Offered || s.Stage == event.Accepted
	switch dice := c.rng.IntN(100); {
	case dice < 8:
		w.verb = vTick
	case dice < 18: // out of order, most likely
		w.verb = []verb{vSend, vAccept, vReject, vWithdraw, vConfirm, vProgress, vHeartbeat, vComplete, vReplay}[c.rng.IntN(9)]
		w.epoch -= min(w.epoch, uint64(c.rng.IntN(2)))
		w.n = max(1, w.n-c.rng.IntN(2))
	case s.State == event.Parked:
		w.verb = vReplay
	case s.Stage == event.Offered && has(s.To, c.agent):
		w.verb = c.among(vAccept, vAccept, vAccept, vReject)
		w.offer = s.Offer * c.rng.IntN(2)
	case s.Owner == c.agent && inFlight && s.Recovery:
		w.verb = c.among(vProgress, vHeartbeat, vWithdraw, vTick)
	case s.Owner == c.agent && s.Stage == event.Accepted:
		w.verb = c.among(vConfirm, vConfirm, vWithdraw, vTick)
	case s.Owner == c.agent && inFlight:
		w.verb = c.among(vWithdraw, vHeartbeat, vHeartbeat, vTick)
	case s.Owner == c.agent && s.State == event.Executing:
		w.verb = c.among(vSend, vSend, vSend, vSend, vProgress, vProgress, vHeartbeat)
		if c.rng.IntN(20) == 0 {
			w.verb = vComplete
		}
	default:
		w.verb = c.among(vRead, vRead, vRead, vTick)
	}
	if w.verb == vSend {
		w.to, w.claim, w.explicit = c.receivers(), c.rng.IntN(2) == 0, c.rng.IntN(3) == 0
	}
	return w
}

func (c *client) among(verbs ...verb) verb { return verbs[c.rng.IntN(len(verbs))] }

func (c *client) text() string {
	c.texts++
	return fmt.Sprintf("%s %d.%d", c.agent, c.id, c.texts)
}

// receivers is one or two agents other than the client's own.
func (c *client) receivers() string {
	var to []string
	for _, i := range c.rng.Perm(len(contestants))[:3] {
		if a := contestants[i]; a != c.agent && len(to) < 2 {
			to = append(to, a)
		}
	}
	return strings.Join(to, ",")
}

// do makes one call, and adds it to the history.
func (c *client) do(task string, w wish) answer {
	before := c.known[task]
	ctx, tr := traced(context.Background())
	called := c.history.now()
	a := c.ask(ctx, task, w)
	if w.verb == vTick {
		a.wrote, a.maybe = tr.wrote && a.code == "", !tr.wrote && tr.unknown
		a.code = ""
	}
	switch {
	case a.code == refusal.Unavailable || w.verb == vRead && a.code == refusal.Unknown: // neither says anything about the task
		c.history.count(func(t *tally) { t.unavailable++ })
		return a
	case w.verb == vRead:
		c.known[task] = a.sight
	case a.code == "" && w.verb != vTick:
		c.known[task] = a.sight
	default:
		delete(c.known, task)
	}
	c.history.add(c.id, task, w, called, a)
	c.history.count(func(t *tally) { t.note(w, a, before, tr) })
	return a
}

func (t *tally) note(w wish, a answer, before sight, tr *trace) {
	switch w.verb {
	case vRead:
		t.reads++
		return
	case vTick:
		t.ticks++
		if a.wrote {
			t.expired++
		}
		return
	default:
		t.commands++
	}
	_, no := spec{sight: before}.step(w)
	switch {
	case no != "":
		t.stale++
	case tr.beaten > 0 || a.code != "" && a.code != refusal.Unknown:
		t.lost++
	}
	if a.code == "" && a.sight.Stage == event.Transferred {
		t.moved++
	}
	if a.code == "" && w.verb == vComplete {
		t.completed++
	}
}
