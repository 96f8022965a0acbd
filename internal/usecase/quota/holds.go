package quota

import (
	"slices"
	"time"
)

const (
	// held is how long a reader that is shown an open claim has it before the others, so that many who look at once do not all try the same. If the
	// claim is open after that, twice as many have it for as long, and so on: one that nobody takes is soon shown to all.
	held = time.Second
	// remembered is how long it is known that a claim was held, and by how many.
	remembered = 10 * time.Second
)

// holds is which open claims readers were just shown.
type holds struct {
	of    map[string]*hold // by workspace/handoff
	begun []begun          // the oldest first
}

// hold is that of some agents on an open claim.
type hold struct {
	agents []string
	most   int // of them
	ends   time.Time
}

// begun is when the hold on a claim has begun, or begun again with more agents.
type begun struct {
	key string
	at  time.Time
}

// Hold notes that an agent is shown an open claim, and reports whether the agent has it before others.
func (t *Turns) Hold(workspace, agent, handoff string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, key := t.now(), workspace+"/"+handoff
	t.holds.forget(now)
	h := t.holds.of[key]
	switch {
	case h == nil:
		h = &hold{most: 1}
		t.holds.of[key] = h
	case !now.Before(h.ends):
		h.agents, h.most = nil, 2*h.most
	case slices.Contains(h.agents, agent):
		return true
	case len(h.agents) >= h.most:
		return false
	}
	if len(h.agents) == 0 {
		h.ends = now.Add(held)
		t.holds.begun = append(t.holds.begun, begun{key, now})
	}
	h.agents = append(h.agents, agent)
	return true
}

// Has reports whether an agent has an open claim before others.
func (t *Turns) Has(workspace, agent, handoff string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.holds.of[workspace+"/"+handoff]
	return h != nil && t.now().Before(h.ends) && slices.Contains(h.agents, agent)
}

// Held is until when others than an agent have an open claim; zero: they do not.
func (t *Turns) Held(workspace, agent, handoff string) (until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.holds.of[workspace+"/"+handoff]
	if h == nil || len(h.agents) < h.most || !t.now().Before(h.ends) || slices.Contains(h.agents, agent) {
		return time.Time{}
	}
	return h.ends
}

// forget drops the holds that began long ago.
func (h *holds) forget(now time.Time) {
	for len(h.begun) > 0 && !now.Before(h.begun[0].at.Add(remembered)) {
		if b := h.begun[0]; h.of[b.key] != nil && h.of[b.key].ends.Equal(b.at.Add(held)) {
			delete(h.of, b.key)
		}
		h.begun = h.begun[1:]
	}
}
