package envelopes

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/parts"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// The most names of one call, and the most bytes of an artifact that is given as a part.
const (
	MaxPartNames = 200
	maxFileText  = 256 << 10
)

// PartsInput names parts of an envelope.
type PartsInput struct {
	ID     string   // of a task, of a handoff, or of what was shared
	Parts  []string // as [parts.Find] takes them
	Tokens int      // the most that the text may have; 0 means [parts.UsualPage], or what fits the reader if that is less
	After  int      // of the page before; 0 for the first
	Via    fetchcall.Via
}

// Parts is parts of an envelope.
type Parts struct {
	Text   string           `json:"text" doc:"The parts as Markdown, for a model."`
	Tokens int              `json:"tokens" doc:"Of the text, by the tokenizer of the caller."`
	Parts  []parts.PartText `json:"parts"`
	// Missing are the names that nothing was found for.
	Missing []string `json:"missing,omitempty" doc:"Names that the envelope has no part for, with the reason if it is known."`
	After   int      `json:"after,omitempty" doc:"For the next page; omitted if this is the last."`
}

// Parts gives parts of what was sent to a caller that was given it, whether its rendition has them or not: to the owner of the
// task, to the receiver of a share, and to those that may read the whole. The receiver of an open offer gets them once it has
// accepted. What was forgotten since is given to nobody. The read is recorded before it is answered.
func (es *Envelopes) Parts(ctx context.Context, c caller.Caller, in PartsInput) (Parts, error) {
	p, err := es.parts(ctx, c, in)
	if err != nil {
		return Parts{}, es.access.Refused(ctx, c.Workspace, c.Actor(), "parts", in.ID, err)
	}
	return p, nil
}

func (es *Envelopes) parts(ctx context.Context, c caller.Caller, in PartsInput) (Parts, error) {
	if err := in.check(); err != nil {
		return Parts{}, err
	}
	reader, err := es.readerOf(ctx, c)
	if err != nil {
		return Parts{}, err
	}
	counter, err := tokenizer.For(reader.Tokenizer)
	if err != nil {
		return Parts{}, err
	}
	taskID, ref, err := es.wholeFor(ctx, c, in.ID)
	if err != nil {
		return Parts{}, err
	}
	source, err := es.readSheet(ctx, c, taskID, Ref{Digest: ref.Source}, ContentInput{ID: in.ID})
	if err != nil {
		return Parts{}, err
	}
	doc, _, err := envelope.Open(source.Envelope)
	if err != nil {
		return Parts{}, err
	}
	var omitted []envelope.Omission
	if ref.Digest != "" && ref.Digest != ref.Source {
		given, err := es.sealer.Open(ctx, c.Workspace, taskID, ref.Digest)
		if err != nil {
			return Parts{}, err
		}
		omitted = given.Omissions
	}
	found, missing, err := parts.Find(&doc, in.Parts, omitted)
	if err != nil {
		return Parts{}, err
	}
	if err := noParts(&doc); err != nil {
		return Parts{}, err
	}
	pages := parts.Pages{Task: taskID, Parts: found, Missing: missing, Budget: in.budget(reader), Counter: counter, Next: nextPage(in.Via)}
	pages.Fetch = func(p parts.Part) (string, error) { return es.fetchPart(ctx, c, in.Via, taskID, &doc, p) }
	return page(pages, in.After, len(omitted) > 0)
}

func (in PartsInput) check() error {
	switch {
	case len(in.Parts) == 0:
		return refusal.New(refusal.Invalid, "name parts like fact:f1, step:3 or data; or all", "no part is named").With("field", "parts")
	case len(in.Parts) > MaxPartNames:
		return refusal.In("parts", event.TooMany("names of parts", len(in.Parts), MaxPartNames))
	case in.Tokens < 0 || in.Tokens > parts.MaxPage:
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d", parts.MaxPage), "%d tokens are out of range", in.Tokens).With("field", "tokens")
	case in.After < 0:
		return refusal.New(refusal.Invalid, "use after of the page before", "after is %d", in.After).With("field", "after")
	}
	return nil
}

// budget is the most tokens of a page for a reader: as asked for, up to its whole context window; or else as many as an envelope may take of
// the window, up to those of a usual page.
func (in PartsInput) budget(reader agent.Spec) int {
	if most := Budget(event.Pack{Tokens: in.Tokens}, reader); in.Tokens > 0 || most > 0 {
		return min(most, max(in.Tokens, parts.UsualPage))
	}
	return parts.UsualPage
}

// readerOf is the registration of an agent; people have none.
func (es *Envelopes) readerOf(ctx context.Context, c caller.Caller) (agent.Spec, error) {
	name := c.Agent()
	if name == "" {
		return agent.Spec{}, nil
	}
	to, err := es.sealer.agents.Known(ctx, c.Workspace, name, false)
	return to.Spec, err
}

// wholeFor is what was sent to the caller, as Source, and what it was given of it, as Digest, which may be empty.
func (es *Envelopes) wholeFor(ctx context.Context, c caller.Caller, id string) (taskID string, r Ref, err error) {
	if taskID, n, err := event.ParseShareID(id); err == nil {
		t, err := es.tasks.For(ctx, c, taskID)
		if err != nil {
			return "", Ref{}, err
		}
		r, err := es.wholeOfShare(ctx, c, t.Task, func(s task.Share) bool { return s.N == n }, id)
		return taskID, r, err
	}
	taskID, n := id, 0
	if event.CheckTaskID(id) != nil {
		if taskID, n, err = event.ParseHandoffID(id); err != nil {
			return "", Ref{}, err
		}
	}
	t, err := es.tasks.For(ctx, c, taskID)
	if err != nil {
		return "", Ref{}, err
	}
	h, name := t.Handoff, c.Agent()
	mine := func(s task.Share) bool { return s.To == name }
	offered := h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, name)
	switch {
	case name != "" && t.Owner == name && task.OwnEnvelope(&t.Task) != "" && (n == 0 || h != nil && n <= h.N):
		r = Ref{Source: task.OwnEnvelope(&t.Task)} // also while the owner offers the task to another agent
		if h != nil && h.Envelope == r.Source {
			r.Digest = h.Rendition
		}
		return taskID, r, nil
	case offered && !taskstore.VisibilityFor(c, t.Task).Work:
		return "", Ref{}, refusal.New(refusal.NotPermitted, "[accept the offer](accept) first", "what was left out of task %s is for its owner", taskID)
	case n == 0 && name != "" && !taskstore.VisibilityFor(c, t.Task).Work && slices.ContainsFunc(t.Shares, mine):
		r, err = es.wholeOfShare(ctx, c, t.Task, mine, id)
		return taskID, r, err
	}
	if r, err = es.contentFor(ctx, c, t.Task, n, true); err != nil {
		return "", Ref{}, err
	}
	return taskID, Ref{Source: r.Digest}, nil
}

// wholeOfShare is the newest share of a task that is meant, for the agent that it was given to and for people.
func (es *Envelopes) wholeOfShare(ctx context.Context, c caller.Caller, t task.Task, meant func(task.Share) bool, id string) (Ref, error) {
	for _, s := range slices.Backward(t.Shares) {
		if !meant(s) || c.Agent() != "" && s.To != c.Agent() {
			continue
		}
		if s.To != c.Agent() {
			return Ref{Source: s.Envelope}, nil
		}
		r, err := es.takeShare(ctx, c, t, s)
		return Ref{Digest: r.Digest, Source: s.Envelope}, err
	}
	return Ref{}, refusal.New(refusal.NotFound, "[check your inbox](inbox)", "nothing is shared with you under %s", id)
}

// fetchPart is the text of a memory item or a file that the envelope only refers to, for a caller that may read it. The read is
// recorded.
func (es *Envelopes) fetchPart(ctx context.Context, c caller.Caller, via fetchcall.Via, taskID string, doc *envelope.Envelope, p parts.Part) (string, error) {
	if p.Kind == envelope.PartArtifact {
		return es.fileText(ctx, c, via, p.ID)
	}
	at := slices.IndexFunc(doc.Memory, func(m envelope.MemoryRef) bool { return m.ID == p.ID })
	if p.Kind != envelope.PartMemory || at < 0 {
		return "", nil
	}
	text, why, err := es.sealer.memories.Text(ctx, c, taskID, doc.Memory[at])
	switch {
	case err != nil:
		return "", err
	case why != "":
		return "(This memory item is " + why.InWords() + ".)", nil
	}
	m := &doc.Memory[at]
	return text, es.access.Read(ctx, c.Workspace, c.Actor(), taskID, "memory "+m.ID+" version "+strconv.Itoa(m.Version), m.Digest)
}

// fileText is a file that is a short text, or a note in place of it, which names the call that fetches the file.
func (es *Envelopes) fileText(ctx context.Context, c caller.Caller, via fetchcall.Via, digest string) (string, error) {
	r, info, err := es.sealer.artifacts.Open(ctx, c, digest)
	switch refusal.CodeOf(err) {
	case "":
	case refusal.NotFound:
		return "(This file is not on the server.)", nil
	default:
		return "", err
	}
	defer r.Close()
	if info.Size > maxFileText {
		return fmt.Sprintf("(This file has %d bytes, too many for a part; fetch it with: %s)", info.Size, via.FileCall(digest)), nil
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return fmt.Sprintf("(This file of %d bytes is no text; fetch it with: %s)", len(b), via.FileCall(digest)), nil
	}
	return string(b), nil
}

func nextPage(via fetchcall.Via) func(after, left int) string {
	with := "after=%d"
	if via == fetchcall.ViaCLI {
		with = "--after %d"
	}
	return func(after, left int) string {
		return fmt.Sprintf("Not all: the same call with "+with+" goes on; parts left: %d.", after, left)
	}
}

// noParts refuses (not_found) any parts of an envelope that has none, such as that of a cold handoff. If the envelope names what it has
// no longer, the reason is in the refusal of that part.
func noParts(doc *envelope.Envelope) error {
	if len(doc.Gaps) > 0 {
		return nil
	}
	if all, _, err := parts.Find(doc, []string{"all"}, nil); err != nil || len(all) > 0 {
		return err
	}
	what := "the envelope has no parts: nothing was left out"
	if doc.Handoff.Kind == event.Cold {
		what = "a cold handoff has no parts: it gives the description of the task alone"
	}
	return refusal.New(refusal.NotFound, "work from the prompt, which has everything; ask the requester or the sender if something is missing", "%s", what)
}

// page is the page that is asked for. packed says that the caller's rendition leaves something out.
func page(pages parts.Pages, after int, packed bool) (Parts, error) {
	switch {
	case len(pages.Parts) == 0 && len(pages.Missing) > 0:
		hint := "the parts are named under Left out in the prompt; all gives everything that was left out"
		if !packed {
			hint = "read the content for the names of its parts; all gives everything"
		}
		return Parts{}, refusal.New(refusal.NotFound, hint, "it has no %.200s", pages.Missing[0]).With("missing", pages.Missing)
	case pages.Beyond(after):
		return Parts{}, refusal.New(refusal.Invalid, "use after of the page before", "after is %d, which is beyond the last part", after).With("field", "after")
	}
	page, err := pages.Page(after)
	if err != nil {
		return Parts{}, err
	}
	if page.Tokens > pages.Budget {
		return Parts{}, refusal.New(refusal.Budget, fmt.Sprintf("use tokens %d or more", page.Tokens),
			"the shortest page takes %d tokens, the budget is %d", page.Tokens, pages.Budget).With("needed", page.Tokens).With("budget", pages.Budget)
	}
	return Parts{Text: page.Text, Tokens: page.Tokens, Parts: page.Parts, Missing: pages.Missing, After: page.After}, nil
}
