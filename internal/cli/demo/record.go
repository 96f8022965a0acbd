package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// record is the server's record of the demo, at its end.
type record struct {
	task     client.Task
	trail    client.Trail
	drift    client.Drift
	sent     []document // envelopes as sent, in order
	received []document // envelopes as received
	access   []access   // reads, and refused calls
	report   file
}

// document is an envelope, its sender or receiver, and its position in the record.
type document struct {
	content
	agent string
	at    uint64
}

// access is an entry of the export for a read or a refused call.
type access struct {
	Event   string `json:"event"`
	Agent   string `json:"agent"`
	Details struct {
		What    string `json:"what"`
		Verb    string `json:"verb"`
		Subject string `json:"subject"`
		Message string `json:"message"`
	} `json:"details"`
}

// read reads the record.
func (s *run) read(ctx context.Context) (r record, err error) {
	if r.task, err = s.owner.Task(ctx, s.task); err != nil {
		return r, err
	}
	if r.task.Result == nil || r.task.Result.Text == "" {
		return r, errors.New("the task has no result")
	}
	if r.trail, err = s.owner.Trail(ctx, s.task); err != nil {
		return r, err
	}
	if r.drift, err = s.owner.Drift(ctx, s.task); err != nil {
		return r, err
	}
	for _, e := range r.trail.Entries {
		if err := r.add(e); err != nil {
			return r, err
		}
	}
	var export bytes.Buffer
	if err := s.owner.Export(ctx, client.ExportOptions{Format: "jsonl"}, &export); err != nil {
		return r, err
	}
	if r.access, err = accesses(&export); err != nil {
		return r, err
	}
	for _, d := range r.sent {
		if f, there := d.file(reportName); there {
			r.report = f
		}
	}
	if r.report.Digest == "" {
		return r, errors.New("no envelope has the report")
	}
	return r, nil
}

// add adds the envelope of an entry, if it has one.
func (r *record) add(e client.AuditEntry) error {
	d := document{at: e.Position}
	switch {
	case isEvent(e, event.Sealed{}):
		var f event.Sealed
		if err := json.Unmarshal(e.Details, &f); err != nil {
			return err
		}
		if err := json.Unmarshal(f.Bytes, &d.content); err != nil {
			return err
		}
		d.agent = d.Handoff.From
		r.sent = append(r.sent, d)
	case isEvent(e, event.Rendered{}):
		var f event.Rendered
		if err := json.Unmarshal(e.Details, &f); err != nil {
			return err
		}
		if err := json.Unmarshal(f.Bytes, &d.content); err != nil {
			return err
		}
		d.agent = f.Agent
		r.received = append(r.received, d)
	}
	return nil
}

func accesses(export io.Reader) (list []access, err error) {
	for in := json.NewDecoder(export); ; {
		var row struct {
			Kind string `json:"kind"`
			access
		}
		if err := in.Decode(&row); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if row.Kind == "access" {
			list = append(list, row.access)
		}
	}
}

// summary describes memory, constraints, refusals and the report, from the record. It is an error if the record does not have what the demo
// means to show. style is the pinned memory item; kept are the items of the task.
func (r record) summary(style string, kept []client.MemoryItem) (lines []string, err error) {
	for _, part := range []func() (string, error){
		func() (string, error) { return r.pinned(style) },
		func() (string, error) { return r.recalled(kept) },
		r.bound, r.refused, r.carried,
	} {
		line, err := part()
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// pinned describes which prompts have the pinned memory item.
func (r record) pinned(id string) (string, error) {
	title := ""
	for _, d := range r.received {
		if title = d.remembers(id); title == "" {
			return "", fmt.Errorf("the prompt of %s lacks the memory item %s", d.agent, id)
		}
	}
	return fmt.Sprintf("memory      %s: pinned, and therefore in all %d prompts", title, len(r.received)), nil
}

// remembers is the title of a memory item whose text is in the document.
func (d document) remembers(id string) string {
	for _, m := range d.Memory {
		if m.ID == id && m.Text != "" {
			return m.Title
		}
	}
	return ""
}

// recalled describes which agent added a memory item for the task, and which agent read it though it was in no prompt.
func (r record) recalled(kept []client.MemoryItem) (string, error) {
	for _, m := range kept {
		author := strings.TrimPrefix(m.Author, "agent/")
		for _, d := range r.received {
			if d.remembers(m.ID) != "" {
				return "", fmt.Errorf("the prompt of %s has the memory item %s", d.agent, m.ID)
			}
		}
		for _, a := range r.access {
			receiver := slices.ContainsFunc(r.received, func(d document) bool { return d.agent == a.Agent })
			if receiver && a.Agent != author && a.Event == "content-read" && strings.HasPrefix(a.Details.What, "memory "+m.ID+" ") {
				return fmt.Sprintf("memory      %s: added by %s, in no prompt, and found by %s", m.Title, author, a.Agent), nil
			}
		}
	}
	return "", errors.New("no agent has read the memory item of the survey")
}

// bound describes which agents the constraint reached, though no agent passed it on.
func (r record) bound() (string, error) {
	i := slices.IndexFunc(r.trail.Entries, func(e client.AuditEntry) bool { return isEvent(e, event.Constrained{}) })
	if i < 0 {
		return "", errors.New("no constraint was added")
	}
	set := r.trail.Entries[i]
	var f event.Constrained
	if err := json.Unmarshal(set.Details, &f); err != nil {
		return "", err
	}
	for _, d := range r.sent {
		if d.at > set.Position && strings.Contains(d.words(), f.Constraint.Text) {
			return "", fmt.Errorf("%s has repeated the constraint %s", d.agent, f.Constraint.ID)
		}
	}
	var agents []string
	for _, d := range r.received {
		if d.at < set.Position {
			continue
		}
		if _, there := d.constraint(f.Constraint.ID); !there {
			return "", fmt.Errorf("the constraint %s did not reach %s", f.Constraint.ID, d.agent)
		}
		agents = append(agents, d.agent)
	}
	return fmt.Sprintf("constraint  %s: set by %s, repeated by nobody, and in the prompts of %s", f.Constraint.ID, set.Agent, strings.Join(agents, ", ")), nil
}

// words is the text of a document, without its constraints.
func (d document) words() string {
	words := []string{d.Task.Ask}
	for _, p := range append(slices.Clone(d.Facts), d.Decisions...) {
		words = append(words, p.Text)
	}
	return strings.Join(words, "\n")
}

// refused describes the result that was refused, and the final one.
func (r record) refused() (string, error) {
	for _, a := range r.access {
		if a.Event == "attempt-refused" && a.Details.Verb == "complete" && a.Details.Subject == r.task.ID {
			return fmt.Sprintf("refused     %s: %s, at most %d are expected; the program fixed it to %d bytes",
				a.Agent, a.Details.Message, r.task.Expected.MaxBytes, len(r.task.Result.Text)), nil
		}
	}
	return "", errors.New("no result was refused")
}

// carried describes how the report was sent.
func (r record) carried() (string, error) {
	if !strings.Contains(r.task.Result.Text, r.report.Digest) {
		return "", errors.New("the result does not name the report")
	}
	return fmt.Sprintf("artifact    %s: %d bytes, referred to by its digest in envelopes and the result", r.report.Name, r.report.Bytes), nil
}
