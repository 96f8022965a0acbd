package webpage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// recordPage is what the record as a whole is under: its last signed checkpoint, legal holds, erasures and the workspaces that the person may see.
type recordPage struct {
	Checkpoint string // empty: nothing is signed yet
	admin.ErasureList
	Workspaces []admin.Workspace
	Own        admin.Workspace
	More       bool // there are more workspaces
}

func (v *visit) record(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body recordPage
	var err error
	if body.ErasureList, err = v.admin.Erasures(ctx); err != nil {
		return err
	}
	var signed bytes.Buffer
	if err := v.admin.Checkpoint(ctx, &signed); err == nil {
		body.Checkpoint = signed.String()
	} else if !early(err) {
		return err
	}
	if body.Own, err = v.admin.Workspace(ctx, v.me.Workspace); err != nil {
		return err
	}
	list, err := v.admin.Workspaces(ctx, admin.WorkspaceOptions{Limit: 200})
	if err != nil {
		return err
	}
	body.Workspaces, body.More = list.Workspaces, list.Next != ""
	return v.show(w, r, "record", page{Title: "Record", Body: body})
}

// receipt answers with the receipt of a handoff, as a file.
func (v *visit) receipt(w http.ResponseWriter, r *http.Request) error {
	id := fmt.Sprintf("%s.h%s", r.PathValue("task"), r.PathValue("hop"))
	return file(w, id+".receipt", func(to io.Writer) error { return v.admin.HandoffReceipt(r.Context(), id, to) })
}

// checkpoint answers with the last signed checkpoint, as a file.
func (v *visit) checkpoint(w http.ResponseWriter, r *http.Request) error {
	return file(w, "checkpoint.txt", func(to io.Writer) error { return v.admin.Checkpoint(r.Context(), to) })
}

// file answers with a file that a browser saves.
func file(w http.ResponseWriter, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	_, _ = w.Write(b.Bytes()) // the browser is gone
	return nil
}

// heldOrErased says which legal hold is on a task, and that its content was erased, to people that may know.
func (v *visit) heldOrErased(ctx context.Context, t client.Task) (all []standing, err error) {
	list, err := v.admin.Erasures(ctx)
	if hidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	of := func(subject string) bool {
		tag, tagged := strings.CutPrefix(subject, "tag/")
		return subject == "task/"+t.ID || tagged && slices.Contains(t.Tags, tag)
	}
	for _, h := range list.Holds {
		if of(h.Subject) {
			all = append(all, standing{Tone: "ask", Text: fmt.Sprintf("A legal hold is on %s, by %s: %s", h.Subject, h.By, h.Why), Link: "/record#holds", Do: "All holds"})
		}
	}
	for _, e := range list.Erasures {
		if of(e.Subject) && !e.At.Before(t.Created) {
			all = append(all, standing{Tone: "ask", Text: fmt.Sprintf("The content of %s was erased, by %s: %s", e.Subject, e.By, e.Why), Link: "/record#erasures", Do: "All erasures"})
		}
	}
	return all, nil
}
