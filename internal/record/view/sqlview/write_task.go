package sqlview

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/rowjson"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/tasklist"
)

// shortPrincipal returns the bare name of an agent, and any other principal unchanged.
func shortPrincipal(p string) string { return strings.TrimPrefix(p, "agent/") }

// row is the task as lists show it.
func (t *taskFold) row() view.TaskRow {
	s := &t.state
	v := view.TaskRow{
		ID: t.id, State: s.State, Intent: preview(s.Intent, taskPreview), Owner: s.Owner, Epoch: s.Epoch, Requester: s.Requester,
		Priority: s.Priority, Parent: s.Parent.Task, Hops: s.Used.Hops, Created: s.Created, Updated: t.updated,
		Deadline: s.Deadline, At: t.at,
	}
	if h := s.Handoff; h != nil {
		v.Handoff, v.Stage, v.Kind = t.handoffID(h.N), h.Stage, h.Kind
		if h.Stage == event.Offered {
			v.To = h.To
		}
	}
	if s.State == event.Parked && s.Parked != nil {
		v.Parked = &view.ParkedRow{Cause: s.Parked.Cause, Detail: s.Parked.Detail, Since: s.Parked.At, Route: s.Route}
	}
	return v
}

// write updates the tables of the task.
func (p *projector) write(t *taskFold) error {
	p.touched = append(p.touched, topic{workspace: t.workspace, task: t.id})
	if err := p.writeRow(t); err != nil {
		return err
	}
	if err := p.writeItems(t); err != nil {
		return err
	}
	for ; t.stored.involved < len(t.involved); t.stored.involved++ {
		if _, err := p.involve.Exec(t.of.workspace, t.involved[t.stored.involved], t.of.id); err != nil {
			return err
		}
	}
	for _, digest := range t.refers {
		if _, err := p.addArtifact.Exec(t.workspace, digest, t.id); err != nil {
			return err
		}
	}
	t.refers = nil
	if err := p.writeDecisions(t); err != nil {
		return err
	}
	if err := p.writeTickets(t); err != nil {
		return err
	}
	if err := p.writeDependents(t); err != nil {
		return err
	}
	return p.writeClaims(t)
}

func (p *projector) writeRow(t *taskFold) (err error) {
	row := t.row()
	p.json = rowjson.AppendTask(p.json[:0], &row)
	c, was := t.columns(), t.stored.columns
	var due any
	if c.due != 0 {
		later, err := p.later(t.workspace)
		if err != nil {
			return err
		}
		due = c.due + later
	}
	if !t.stored.exists {
		_, err = p.insertTask.Exec(t.first, t.of.workspace, t.of.id, string(c.state), c.live, c.owner, due, p.json)
		if err == nil && row.Parent != "" {
			_, err = p.addChild.Exec(t.workspace, row.Parent, t.id)
		}
		if err == nil && t.intent != "" {
			_, err = p.addIntent.Exec(t.first, t.intent)
			t.intent = ""
		}
		if err == nil && t.state.Conversation != "" {
			_, err = p.addCarrier.Exec(t.workspace, t.state.Conversation, t.id)
		}
	} else {
		changed, args := 0, append(make([]any, 0, 6), p.json)
		if c.state != was.state {
			changed, args = changed|1, append(args, string(c.state))
		}
		if c.live != was.live {
			changed, args = changed|2, append(args, c.live)
		}
		if c.owner != was.owner {
			changed, args = changed|4, append(args, c.owner)
		}
		if c.due != was.due {
			changed, args = changed|8, append(args, due)
		}
		_, err = p.updateTask[changed].Exec(append(args, t.first)...)
	}
	if err == nil && c.state != was.state {
		err = p.writeRare(t, was.state, c.state)
	}
	t.stored.exists, t.stored.columns = true, c
	return err
}

func (p *projector) writeRare(t *taskFold, was, is event.State) (err error) {
	if tasklist.IsRare(was) {
		_, err = p.dropRare.Exec(t.workspace, string(was), t.id)
	}
	if err == nil && tasklist.IsRare(is) {
		_, err = p.addRare.Exec(t.workspace, string(is), t.id)
	}
	return err
}

// writeItems writes the difference between the items in the tables and the current ones.
func (p *projector) writeItems(t *taskFold) error {
	was, from := t.stored.items, 0
	kept := make([]bool, len(was))
	claim := claimChange{of: topic{workspace: t.workspace, task: t.id}}
	for i := range t.items {
		n := &t.items[i]
		j := find(was, from, n.itemKey)
		if j >= 0 && was[j].at == n.at {
			kept[j], from = true, j+1
			if n.same(&was[j]) {
				continue
			}
		} else {
			j = -1
		}
		shown := t.show(n)
		p.json = rowjson.AppendOwn(p.json[:0], &shown)
		var err error
		if j >= 0 {
			_, err = p.updateItem.Exec(p.json, t.of.workspace, n.rest(), n.agent, n.sender, n.ord(t.state.Priority), shown.ID)
		} else {
			_, err = p.insertItem.Exec(t.of.workspace, n.rest(), n.agent, n.sender, n.ord(t.state.Priority), shown.ID, p.json)
		}
		if err != nil {
			return err
		}
		if key := (topic{workspace: t.workspace, agent: n.agent}); j < 0 && shown.Claim {
			claim.to = append(claim.to, key)
		} else {
			p.touched = append(p.touched, key)
		}
	}
	offered := slices.ContainsFunc(t.items, func(i item) bool { return i.kind == view.ItemOffer })
	for j := range was {
		if kept[j] {
			continue
		}
		o := &was[j]
		if _, err := p.deleteItem.Exec(t.of.workspace, o.rest(), o.agent, o.sender, o.ord(t.state.Priority), t.idOf(o)); err != nil {
			return err
		}
		if o.kind == view.ItemOffer && !offered && t.stored.offer.id != "" {
			claim.over = true // nobody waits for that
		} else {
			p.touched = append(p.touched, topic{workspace: t.workspace, agent: o.agent})
		}
	}
	if len(claim.to) > 0 || claim.over {
		p.claims = append(p.claims, claim)
	}
	t.stored.items = t.items
	return p.writeOffer(t)
}

// writeOffer writes what the items of a claim have in common.
func (p *projector) writeOffer(t *taskFold) (err error) {
	is, was := t.offer(), t.stored.offer
	if was.id != "" && was.id != is.id {
		_, err = p.dropOffer.Exec(t.workspace, was.id)
	}
	if err == nil && is.id != "" && is != was {
		_, err = p.putOffer.Exec(t.workspace, is.id, []byte(is.item))
	}
	t.stored.offer = is
	return err
}

func (p *projector) writeDependents(t *taskFold) error {
	waits := t.waits()
	if waits == t.stored.dependents {
		return nil
	}
	stmt := p.dropDependent
	if waits {
		stmt = p.addDependent
	}
	for _, d := range t.state.Dependencies {
		if _, err := stmt.Exec(t.workspace, d.Task, t.id); err != nil {
			return err
		}
	}
	t.stored.dependents, p.dependents = waits, unknown
	return nil
}

func (p *projector) writeClaims(t *taskFold) error {
	is, was := t.claims(), t.stored.claims
	for _, c := range was {
		if slices.Contains(is, c) {
			continue
		}
		if _, err := p.dropClaim.Exec(t.workspace, c.who, t.handoffID(c.handoff)); err != nil {
			return err
		}
	}
	for _, c := range is {
		if slices.Contains(was, c) {
			continue
		}
		if _, err := p.addClaim.Exec(t.workspace, c.who, t.handoffID(c.handoff)); err != nil {
			return err
		}
	}
	t.stored.claims = is
	return nil
}
