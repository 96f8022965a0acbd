package webpage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/standing"
)

// marksShown is how many holds, and how many erasures, the page of a task or memory item has; recordShown is how many the page of the record has.
const (
	marksShown  = 3
	recordShown = 200
)

// recordPage is what the record as a whole is under: its last signed checkpoint, legal holds, erasures and the workspaces that the person may see.
type recordPage struct {
	Checkpoint string // empty: nothing is signed yet
	admin.ErasureList
	MoreHolds    int // that are not shown
	MoreErasures int
	Workspaces   []admin.Workspace
	Own          admin.Workspace
	More         bool // there are more workspaces
}

func (v *visit) record(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body recordPage
	var err error
	if body.ErasureList, err = v.admin.Erasures(ctx, admin.ErasureFilter{}); err != nil {
		return err
	}
	if n := len(body.Holds) - recordShown; n > 0 {
		body.Holds, body.MoreHolds = body.Holds[n:], n // the newest come last
	}
	if n := len(body.Erasures) - recordShown; n > 0 {
		body.Erasures, body.MoreErasures = body.Erasures[:recordShown], n
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
	var about []string
	for _, h := range body.Holds {
		about = append(about, h.Subject)
	}
	for _, e := range body.Erasures {
		about = append(about, e.Subject)
	}
	return v.show(w, r, "record", page{Title: "Record", Live: everything, About: about, Body: body})
}

// receipt answers with the receipt of a handoff, as a file.
func (v *visit) receipt(w http.ResponseWriter, r *http.Request) error {
	id := fmt.Sprintf("%s.h%s", r.PathValue("task"), r.PathValue("hop"))
	return file(w, id+".receipt", plain, func(to io.Writer) error { return v.admin.HandoffReceipt(r.Context(), id, to) })
}

// checkpoint answers with the last signed checkpoint, as a file.
func (v *visit) checkpoint(w http.ResponseWriter, r *http.Request) error {
	return file(w, "checkpoint.txt", plain, func(to io.Writer) error { return v.admin.Checkpoint(r.Context(), to) })
}

// export answers with the record of a task, as a file.
func (v *visit) export(w http.ResponseWriter, r *http.Request) error {
	task, format := r.PathValue("task"), r.PathValue("format")
	media, ok := exported[format]
	if !ok {
		return form.Invalid(fmt.Sprintf("%.20q is not a format of an export", format), "go back to the task")
	}
	return file(w, task+"."+format, media, func(to io.Writer) error {
		return v.api.Export(r.Context(), client.ExportOptions{Task: task, Format: format}, to)
	})
}

// plain is the media type of texts; exported are those of exports, by format.
const plain = "text/plain; charset=utf-8"

var exported = map[string]string{"json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8", "proof": plain}

// file answers with a file that a browser saves. A refusal before its first byte is shown; after it, the answer is cut short.
func file(w http.ResponseWriter, name, media string, write func(io.Writer) error) error {
	f := download{w: w, name: name, media: media}
	err := write(&f)
	if err != nil && f.begun {
		panic(http.ErrAbortHandler) // the browser reports that it is incomplete
	}
	return err
}

// download begins an answer with the first byte of its content.
type download struct {
	w           http.ResponseWriter
	name, media string
	begun       bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.w.Header()
		h.Set("Content-Type", d.media)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", d.name))
	}
	return d.w.Write(b)
}

// heldOrErased says which legal holds are on a task or a memory item, and that its content was erased, to people that may know.
func (v *visit) heldOrErased(ctx context.Context, of admin.ErasureFilter) (all []standing.Standing, err error) {
	if !v.oversees() {
		return nil, nil
	}
	list, err := v.admin.Erasures(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, h := range list.Holds[:min(len(list.Holds), marksShown)] {
		all = append(all, standing.Standing{Tone: "ask", Text: fmt.Sprintf("A legal hold is on %s, by %s: %s", standing.Subject(h.Subject, of.Task, of.Memory), h.By, h.Why), Link: "/record#holds", Do: "All holds"})
	}
	if n := len(list.Holds) - marksShown; n > 0 {
		all = append(all, standing.Standing{Tone: "ask", Text: fmt.Sprintf("%d more legal holds are on it", n), Link: "/record#holds", Do: "All holds"})
	}
	for _, e := range list.Erasures[:min(len(list.Erasures), marksShown)] {
		all = append(all, standing.Standing{Tone: "ask", Text: fmt.Sprintf("The content of %s was erased, by %s: %s", standing.Subject(e.Subject, of.Task, of.Memory), e.By, e.Why), Link: "/record#erasures", Do: "All erasures"})
	}
	return all, nil
}
