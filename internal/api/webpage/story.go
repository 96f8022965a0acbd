package webpage

import (
	"context"
	"net/http"
	"slices"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
	"github.com/trapezehq/trapeze/internal/api/webpage/standing"
	"github.com/trapezehq/trapeze/internal/api/webpage/timeline"
)

// story is a task from its intent to its result.
type story struct {
	client.Task
	Standing []standing.Standing
	Bars     []timeline.Bar
	Owners   []timeline.Bar // the first of each agent
	Moments  []timeline.Moment
	Hops     []timeline.Hop
	Drift    *client.Drift
	Picture  []timeline.Stack
	Children []branch
	NoTrail  string // why there is no trail
	Mine     bool   // the person owns it
	Two      bool   // it has two handoffs, which can be compared
}

// branch is a task below another.
type branch struct {
	client.TaskRow
	Depth int
}

func (v *visit) story(w http.ResponseWriter, r *http.Request) error {
	ctx, id := r.Context(), r.PathValue("task")
	t, err := v.api.Task(ctx, id)
	if err != nil {
		return err
	}
	s := story{Task: t, Standing: standing.Of(t), Mine: v.owns(ctx, t)}
	for i := range s.Standing {
		switch at := &s.Standing[i]; at.Link {
		case "#takeover":
			at.Link = s.giveAt(v.me)
		case standing.DeadLetter(t):
			if !operates(v.me) {
				at.Do = "Look at the dead letters"
			}
		}
	}
	about := []string{t.Parent.Task}
	for _, at := range s.Standing {
		about = append(about, at.Task)
	}
	marks, err := v.heldOrErased(ctx, admin.ErasureFilter{Task: t.ID})
	if err != nil {
		return err
	}
	s.Standing = append(s.Standing, marks...)
	trail, err := v.api.Trail(ctx, id)
	if err != nil {
		s.NoTrail = err.Error()
	}
	if drift, err := v.api.Drift(ctx, id); err == nil {
		s.Drift, s.Picture = &drift, timeline.Picture(id, drift)
	}
	s.Moments = timeline.Moments(id, trail.Entries)
	if h := t.Handoff; h != nil && t.State == client.HandingOff {
		if m := timeline.Vain(s.Moments, h.Requested); m != nil {
			s.Standing = append(s.Standing, standing.Standing{Tone: "bad", Text: "Before that: " + m.Event + " by " + m.Actor + ", " + m.Text, Link: "#" + m.Anchor, Do: "Look at it"})
		}
	}
	s.Bars = timeline.Bars(trail.Entries, t, v.now())
	s.Owners = timeline.Owners(s.Bars)
	if s.Children, err = v.branches(ctx, id, len(t.Children)); err != nil {
		return err
	}
	parts := map[string]client.State{}
	for _, c := range s.Children {
		parts[c.ID] = c.State
	}
	s.Hops = timeline.Hops(id, trail.Handoffs, s.Drift, parts)
	s.Two = len(slices.DeleteFunc(slices.Clone(s.Hops), func(h timeline.Hop) bool { return h.N == 0 })) > 1
	return v.show(w, r, "story", page{Title: human.Short(60, t.Intent), Live: s.follows(), About: about, Body: s})
}

// follows is what changes the story: the task, those below it, and what is held or erased.
func (s story) follows() string {
	of := []string{s.ID, marks}
	for _, t := range s.Children {
		of = append(of, t.ID)
	}
	return following(of...)
}

// AtWork reports whether the person owns the task and works on it: then the page has a form to hand it on, and none to take it over.
func (s story) AtWork() bool { return s.Mine && s.State == client.Executing }

// giveAt is where the page gives a task to an agent; empty: the person may not.
func (s story) giveAt(me client.Me) string {
	switch {
	case s.AtWork():
		return "#mine"
	case operates(me):
		return "#takeover"
	}
	return ""
}

// owns reports whether the person owns a task: as the agent that the token is of or, of an operator, as the person who is registered by that name.
func (v *visit) owns(ctx context.Context, t client.Task) bool {
	if v.me.Role == client.RoleAgent || v.me.Role == client.RoleAuditor || t.Owner != v.me.Name {
		return t.Owner != "" && t.Owner == v.me.Agent
	}
	person, err := v.api.Agent(ctx, t.Owner)
	return err == nil && person.Spec.Kind == "human"
}

// maxBranches is how many children a page shows, with theirs.
const maxBranches = 200

// branches lists the tasks below a task, each after its parent and in the order in which they were made.
func (v *visit) branches(ctx context.Context, id string, children int) (all []branch, err error) {
	if children == 0 {
		return nil, nil
	}
	of := map[string][]client.TaskRow{}
	direct, err := v.api.Tasks(ctx, client.TaskFilter{Parent: id, Limit: maxBranches})
	if err != nil {
		return nil, err
	}
	of[id] = direct.Tasks
	deep, err := v.api.Tasks(ctx, client.TaskFilter{Parent: id, Deep: true, Limit: 2 * maxBranches})
	for _, t := range deep.Tasks {
		if t.Parent != id {
			of[t.Parent] = append(of[t.Parent], t)
		}
	}
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		for _, t := range slices.Backward(of[parent]) { // lists have the newest first
			if len(all) == maxBranches {
				return
			}
			all = append(all, branch{t, depth})
			add(t.ID, depth+1)
		}
	}
	add(id, 0)
	return all, err
}
