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

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/archive"
	"github.com/trapezehq/trapeze/internal/artifact"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// keep has an artifact kept.
func (h *house) keep(by app.Caller, content string) app.Artifact {
	h.Helper()
	info := ok(h, by, func(c app.Caller) (artifact.Info, error) {
		return h.app.PutArtifact(ctx(h), c, strings.NewReader(content), "")
	})
	return app.Artifact{Digest: string(info.Digest), Name: "a file"}
}

// gets fetches an artifact.
func (h *house) gets(by app.Caller, a app.Artifact) (string, error) {
	h.Helper()
	r, err := call(by, func(c app.Caller) (io.ReadCloser, error) {
		r, _, err := h.app.Artifact(ctx(h), c, artifact.Digest(a.Digest))
		return r, err
	})
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), errors.Join(err, r.Close())
}

func (h *house) has(by app.Caller, a app.Artifact, want string) {
	h.Helper()
	if got, err := h.gets(by, a); err != nil || got != want {
		h.Errorf("%s gets %q, %v; want %q", by.Principal, got, err, want)
	}
}

func (h *house) lacks(by app.Caller, a app.Artifact) {
	h.Helper()
	if got, err := h.gets(by, a); refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s gets %q, %v", by.Principal, got, err)
	}
}

// sheet is what an envelope says.
func sheetOf(h *house, s *app.Sheet) (e envelope.Envelope) {
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
	story(t, func(h *house) {
		h.join("writer", "coder", "tester", "spy")
		patch, loose := h.keep(h.agent("writer"), "patch"), h.keep(h.agent("writer"), "loose")
		h.lacks(h.agent("coder"), patch)
		r := h.create(h.agent("writer"), app.CreateInput{Intent: "mend it", Start: true})
		h.send(h.agent("writer"), r, app.SendInput{To: []string{"coder"}, Content: app.Content{Artifacts: []app.Artifact{patch}}})
		item := h.wait("coder")
		h.has(h.agent("coder"), patch, "patch") // the offer's content is for its receiver
		a := h.accept("coder", item)
		if list := sheetOf(h, a.Content).Artifacts; len(list) != 1 || list[0].Digest != patch.Digest || list[0].Bytes != 5 || list[0].Name != "a file" {
			h.Errorf("the envelope refers to %+v", list)
		}
		h.progress("coder", a.Receipt, "mended half")
		h.send(h.agent("coder"), a.Receipt, app.SendInput{To: []string{"tester"}})
		b := h.accept("tester", h.wait("tester"))
		h.has(h.agent("tester"), patch, "patch") // it stays with the task
		h.complete("tester", b.Receipt, "done")

		h.skew.Add(int64(1000 * time.Hour))
		swept, err := h.app.Sweep(ctx(h))
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
	story(t, func(h *house) {
		h.join("writer", "coder", "spy")
		secret := h.keep(h.agent("writer"), "secret")
		nowhere := app.Artifact{Digest: string(artifact.DigestOf([]byte("nowhere")))}
		r := h.create(h.agent("spy"), app.CreateInput{Intent: "get at it", Start: true})
		h.send(h.agent("spy"), r, app.SendInput{To: []string{"coder"}, Content: app.Content{Artifacts: []app.Artifact{secret, nowhere}}})
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
	story(t, func(h *house) {
		h.join("writer", "coder", "tester", "reader")
		content := func(a ...app.Artifact) app.Content { return app.Content{Artifacts: a} }
		for n, kind := range []fact.Kind{fact.Broadcast, fact.Cold, fact.Delegation, fact.Supervised} {
			patch := h.keep(h.agent("writer"), fmt.Sprint("patch of ", kind))
			want := fmt.Sprint("patch of ", kind)
			r := h.create(h.agent("writer"), app.CreateInput{Intent: fmt.Sprint("task ", n), Start: true})
			in := app.SendInput{To: []string{"coder"}, Kind: kind, Content: content(patch)}
			switch kind {
			case fact.Broadcast:
				in.To = append(in.To, "tester")
			case fact.Supervised:
				in.Approver = "tester"
			default:
			}
			r = h.send(h.agent("writer"), r, in)
			if kind == fact.Supervised {
				h.has(h.agent("tester"), patch, want) // who approves must see what
				h.lacks(h.agent("coder"), patch)      // nothing is offered yet
				ok(h, h.agent("tester"), func(c app.Caller) (docket.Receipt, error) {
					return h.app.Approve(ctx(h), c, app.ApproveInput{ID: r.Handoff})
				})
			}
			item := h.wait("coder")
			if kind == fact.Broadcast {
				h.lacks(h.agent("coder"), patch) // a claim is only previewed
			}
			a := h.accept("coder", item)
			if kind == fact.Cold {
				h.lacks(h.agent("coder"), patch)
			} else {
				h.has(h.agent("coder"), patch, want)
			}
			if kind == fact.Broadcast {
				h.lacks(h.agent("tester"), patch)
			}
			h.lacks(h.agent("reader"), patch)
			if kind == fact.Broadcast {
				ok(h, h.agent("coder"), func(c app.Caller) (docket.Receipt, error) {
					return h.app.Share(ctx(h), c, app.ShareInput{Task: a.Task, Epoch: a.Epoch, To: "reader"})
				})
				h.has(h.agent("reader"), patch, want)
			}
			h.complete("coder", a.Receipt, "done")
		}
	})
}

func TestWhoReadAnArtifactIsOnRecord(t *testing.T) {
	story(t, func(h *house) {
		h.join("writer", "coder", "spy")
		patch := h.keep(h.agent("writer"), "patch")
		r := h.create(h.agent("writer"), app.CreateInput{
			Intent: "mend it", Content: app.Content{Artifacts: []app.Artifact{patch}}, Send: &app.SendInput{To: []string{"coder"}},
		})
		h.wait("coder")
		h.has(h.agent("coder"), patch, "patch")
		for range 5 { // a refusal whose entry is lost is one all the same
			h.lacks(h.agent("spy"), patch)
		}
		time.Sleep(time.Second) // an export may be behind
		var record bytes.Buffer
		if err := h.app.Export(ctx(h), h.operator(), archive.ExportInput{Format: "jsonl"}, &record); err != nil {
			h.Fatal(err)
		}
		for _, want := range []string{
			`"event":"artifact-stored","agent":"writer"`,
			fmt.Sprintf(`"event":"content-read","agent":"coder","details":{"task":%q,"what":"artifact","digest":%q}`, r.Task, patch.Digest),
			fmt.Sprintf(`"event":"attempt-refused","agent":"spy","details":{"verb":"artifact","subject":%q,"code":"not_found"`, patch.Digest),
		} {
			if !strings.Contains(record.String(), want) {
				h.Errorf("not on record: %s\n%s", want, record.String())
			}
		}
	})
}
