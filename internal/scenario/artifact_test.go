package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// keep stores an artifact.
func (h *harness) keep(by caller.Caller, content string) envelopes.Artifact {
	h.Helper()
	info := ok(h, by, func(c caller.Caller) (artifact.Info, error) {
		return h.app.Artifacts.Put(ctx(h), c, strings.NewReader(content), "")
	})
	return envelopes.Artifact{Digest: string(info.Digest), Name: "a file"}
}

// gets fetches an artifact.
func (h *harness) gets(by caller.Caller, a envelopes.Artifact) (string, error) {
	h.Helper()
	r, err := call(by, func(c caller.Caller) (io.ReadCloser, error) {
		r, _, err := h.app.Artifacts.Get(ctx(h), c, artifact.Digest(a.Digest))
		return r, err
	})
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func (h *harness) has(by caller.Caller, a envelopes.Artifact, want string) {
	h.Helper()
	if got, err := h.gets(by, a); err != nil || got != want {
		h.Errorf("%s gets %q, %v; want %q", by.Principal, got, err, want)
	}
}

func (h *harness) lacks(by caller.Caller, a envelopes.Artifact) {
	h.Helper()
	if got, err := h.gets(by, a); refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s gets %q, %v", by.Principal, got, err)
	}
}

// sheet is what an envelope says.
func sheetOf(h *harness, s *envelopes.Sheet) (e envelope.Envelope) {
	h.Helper()
	if s == nil {
		h.Fatal("no content")
	}
	if err := json.Unmarshal(s.Envelope, &e); err != nil {
		h.Fatal(err)
	}
	return e
}

func TestAnArtifactTravelsWithItsTaskAndIsThereAsLongAsAnEnvelopeRefersToIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("writer", "coder", "tester", "spy")
		patch, loose := h.keep(h.agent("writer"), "patch"), h.keep(h.agent("writer"), "loose")
		h.lacks(h.agent("coder"), patch)
		r := h.create(h.agent("writer"), tasks.CreateInput{Intent: "fix it", Start: true})
		h.send(h.agent("writer"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Artifacts: []envelopes.Artifact{patch}}})
		item := h.wait("coder")
		h.has(h.agent("coder"), patch, "patch") // the offer's content is for its receiver
		a := h.accept("coder", item)
		if list := sheetOf(h, a.Content).Artifacts; len(list) != 1 || list[0].Digest != patch.Digest || list[0].Bytes != 5 || list[0].Name != "a file" {
			h.Errorf("the envelope refers to %+v", list)
		}
		h.progress("coder", a.Receipt, "fixed half")
		h.send(h.agent("coder"), a.Receipt, handoffs.SendInput{To: []string{"tester"}})
		b := h.accept("tester", h.wait("tester"))
		h.has(h.agent("tester"), patch, "patch") // it stays with the task
		h.complete("tester", b.Receipt, "done")

		h.skew.Add(int64(1000 * time.Hour))
		swept, err := h.app.Artifacts.Sweep(ctx(h))
		if err != nil || swept.Deleted != 1 || swept.Kept != 1 {
			h.Errorf("swept: %+v, %v", swept, err)
		}
		for _, name := range []string{"writer", "coder", "tester"} {
			h.has(h.agent(name), patch, "patch")
		}
		h.has(h.operator(), patch, "patch")
		h.lacks(h.agent("spy"), patch)
		h.lacks(h.agent("writer"), loose)
		elsewhere := h.agent("writer")
		elsewhere.Workspace = "elsewhere"
		h.lacks(elsewhere, patch)
	})
}

func TestAnEnvelopeRefersToNothingThatItsSenderMayNotRead(t *testing.T) {
	story(t, func(h *harness) {
		h.join("writer", "coder", "spy")
		secret := h.keep(h.agent("writer"), "secret")
		nowhere := envelopes.Artifact{Digest: string(artifact.DigestOf([]byte("nowhere")))}
		r := h.create(h.agent("spy"), tasks.CreateInput{Intent: "get at it", Start: true})
		h.send(h.agent("spy"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Artifacts: []envelopes.Artifact{secret, nowhere}}})
		a := h.accept("coder", h.wait("coder"))
		e := sheetOf(h, a.Content)
		if len(e.Artifacts) != 0 || len(e.Gaps) != 2 || e.Gaps[0].Reason != e.Gaps[1].Reason {
			h.Errorf("artifacts %+v, gaps %+v", e.Artifacts, e.Gaps)
		}
		h.lacks(h.agent("coder"), secret)
		h.lacks(h.agent("spy"), secret)
	})
}

func TestArtifactsAreForThoseWhomTheirContentIsFor(t *testing.T) {
	story(t, func(h *harness) {
		h.join("writer", "coder", "tester", "reader")
		content := func(a ...envelopes.Artifact) envelopes.Content { return envelopes.Content{Artifacts: a} }
		for n, kind := range []event.Kind{event.Broadcast, event.Cold, event.Delegation, event.Supervised} {
			patch := h.keep(h.agent("writer"), fmt.Sprint("patch of ", kind))
			want := fmt.Sprint("patch of ", kind)
			r := h.create(h.agent("writer"), tasks.CreateInput{Intent: fmt.Sprint("task ", n), Start: true})
			in := handoffs.SendInput{To: []string{"coder"}, Kind: kind, Content: content(patch)}
			switch kind {
			case event.Broadcast:
				in.To = append(in.To, "tester")
			case event.Supervised:
				in.Approver = "tester"
			default:
			}
			r = h.send(h.agent("writer"), r, in)
			if kind == event.Supervised {
				h.has(h.agent("tester"), patch, want) // who approves must see what
				h.lacks(h.agent("coder"), patch)      // nothing is offered yet
				ok(h, h.agent("tester"), func(c caller.Caller) (taskstore.Receipt, error) {
					return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff})
				})
			}
			item := h.wait("coder")
			if kind == event.Broadcast {
				h.lacks(h.agent("coder"), patch) // a claim is only previewed
			}
			a := h.accept("coder", item)
			if kind == event.Cold {
				h.lacks(h.agent("coder"), patch)
			} else {
				h.has(h.agent("coder"), patch, want)
			}
			if kind == event.Broadcast {
				h.lacks(h.agent("tester"), patch)
			}
			h.lacks(h.agent("reader"), patch)
			if kind == event.Broadcast {
				ok(h, h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
					return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: a.Task, Epoch: a.Epoch, To: "reader"})
				})
				h.has(h.agent("reader"), patch, want)
			}
			h.complete("coder", a.Receipt, "done")
		}
	})
}

func TestTheReadersOfAnArtifactAreRecorded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("writer", "coder", "spy")
		patch := h.keep(h.agent("writer"), "patch")
		r := h.create(h.agent("writer"), tasks.CreateInput{
			Intent: "fix it", Content: envelopes.Content{Artifacts: []envelopes.Artifact{patch}}, Send: &handoffs.SendInput{To: []string{"coder"}},
		})
		h.wait("coder")
		h.has(h.agent("coder"), patch, "patch")
		for range 5 { // a refusal whose entry is lost is one all the same
			h.lacks(h.agent("spy"), patch)
		}
		time.Sleep(time.Second) // an export may be behind
		var record bytes.Buffer
		ok(h, h.operator(), func(c caller.Caller) (bool, error) {
			record.Reset()
			return true, h.app.History.Export(ctx(h), c, history.ExportInput{Format: "jsonl"}, &record)
		})
		for _, want := range []string{
			`"event":"artifact-stored","agent":"writer"`,
			fmt.Sprintf(`"event":"content-read","agent":"coder","details":{"task":%q,"what":"artifact","digest":%q}`, r.Task, patch.Digest),
			fmt.Sprintf(`"event":"attempt-refused","agent":"spy","details":{"verb":"artifact","subject":%q,"code":"not_found"`, patch.Digest),
		} {
			if !strings.Contains(record.String(), want) {
				h.Errorf("not recorded: %s\n%s", want, record.String())
			}
		}
	})
}
