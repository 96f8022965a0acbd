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

// record is what the server has on record when all is over.
type record struct {
	task   client.Task
	trail  client.Trail
	drift  client.Drift
	said   []document // what was sent, in order
	given  []document // what its receivers got of it
	access []access   // who looked at what, and what was refused
	report file
}

// document is an envelope, who sent it or got it, and where it is on record.
type document struct {
	sheet
	agent string
	at    uint64
}

// access is a read or a refusal, as an export has it.
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

// read reads it all.
func (s *show) read(ctx context.Context) (r record, err error) {
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
	for _, d := range r.said {
		if f, there := d.file(reportName); there {
			r.report = f
		}
	}
	if r.report.Digest == "" {
		return r, errors.New("no envelope has the report")
	}
	return r, nil
}

// add keeps the envelope of an entry, if it has one.
func (r *record) add(e client.AuditEntry) error {
	d := document{at: e.Position}
	switch {
	case caught(e, event.Sealed{}):
		var f event.Sealed
		if err := json.Unmarshal(e.Details, &f); err != nil {
			return err
		}
		if err := json.Unmarshal(f.Bytes, &d.sheet); err != nil {
			return err
		}
		d.agent = d.Handoff.From
		r.said = append(r.said, d)
	case caught(e, event.Rendered{}):
		var f event.Rendered
		if err := json.Unmarshal(e.Details, &f); err != nil {
			return err
		}
		if err := json.Unmarshal(f.Bytes, &d.sheet); err != nil {
			return err
		}
		d.agent = f.Agent
		r.given = append(r.given, d)
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

// says tells what the record has to say of memory, constraints, refusals and the report. What is not as the demo means to
// show it is an error: nothing is claimed that did not happen. style is the pinned item, kept what was kept for the task.
func (r record) says(style string, kept []client.MemoryItem) (lines []string, err error) {
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

// pinned is in whose prompts the pinned memory item is.
func (r record) pinned(id string) (string, error) {
	title := ""
	for _, d := range r.given {
		if title = d.remembers(id); title == "" {
			return "", fmt.Errorf("what %s got does not have the memory item %s", d.agent, id)
		}
	}
	return fmt.Sprintf("memory      %s: pinned, so it was in all %d prompts", title, len(r.given)), nil
}

// remembers is the title of a memory item that is in the document with its text.
func (d document) remembers(id string) string {
	for _, m := range d.Memory {
		if m.ID == id && m.Text != "" {
			return m.Title
		}
	}
	return ""
}

// recalled is who kept something for the task in memory, and who read it there, though it stood in no prompt.
func (r record) recalled(kept []client.MemoryItem) (string, error) {
	for _, m := range kept {
		author := strings.TrimPrefix(m.Author, "agent/")
		for _, d := range r.given {
			if d.remembers(m.ID) != "" {
				return "", fmt.Errorf("%s did not need to look for the memory item %s", d.agent, m.ID)
			}
		}
		for _, a := range r.access {
			receiver := slices.ContainsFunc(r.given, func(d document) bool { return d.agent == a.Agent })
			if receiver && a.Agent != author && a.Event == "content-read" && strings.HasPrefix(a.Details.What, "memory "+m.ID+" ") {
				return fmt.Sprintf("memory      %s: kept by %s, in no prompt, and found by %s", m.Title, author, a.Agent), nil
			}
		}
	}
	return "", errors.New("nobody has read what the survey kept in memory")
}

// bound is whom the constraint bound, though nobody passed it on.
func (r record) bound() (string, error) {
	i := slices.IndexFunc(r.trail.Entries, func(e client.AuditEntry) bool { return caught(e, event.Constrained{}) })
	if i < 0 {
		return "", errors.New("no constraint was added")
	}
	set := r.trail.Entries[i]
	var f event.Constrained
	if err := json.Unmarshal(set.Details, &f); err != nil {
		return "", err
	}
	for _, d := range r.said {
		if d.at > set.Position && strings.Contains(d.words(), f.Constraint.Text) {
			return "", fmt.Errorf("%s has passed the constraint %s on", d.agent, f.Constraint.ID)
		}
	}
	var agents []string
	for _, d := range r.given {
		if d.at < set.Position {
			continue
		}
		if _, there := d.constraint(f.Constraint.ID); !there {
			return "", fmt.Errorf("the constraint %s did not reach %s", f.Constraint.ID, d.agent)
		}
		agents = append(agents, d.agent)
	}
	return fmt.Sprintf("constraint  %s: set by %s, passed on by nobody, and there for %s", f.Constraint.ID, set.Agent, strings.Join(agents, ", ")), nil
}

// words is all that a sender says, but for constraints.
func (d document) words() string {
	words := []string{d.Task.Ask}
	for _, p := range append(slices.Clone(d.Facts), d.Decisions...) {
		words = append(words, p.Text)
	}
	return strings.Join(words, "\n")
}

// refused is which result was refused, and what it was in the end.
func (r record) refused() (string, error) {
	for _, a := range r.access {
		if a.Event == "attempt-refused" && a.Details.Verb == "complete" && a.Details.Subject == r.task.ID {
			return fmt.Sprintf("refused     %s: %s, at most %d are expected; it was mended, to %d",
				a.Agent, a.Details.Message, r.task.Expected.MaxBytes, len(r.task.Result.Text)), nil
		}
	}
	return "", errors.New("no result was refused")
}

// carried is how the report came along.
func (r record) carried() (string, error) {
	if !strings.Contains(r.task.Result.Text, r.report.Digest) {
		return "", errors.New("the result does not name the report")
	}
	return fmt.Sprintf("artifact    %s: %d bytes, named by its hash in envelopes and result", r.report.Name, r.report.Bytes), nil
}
