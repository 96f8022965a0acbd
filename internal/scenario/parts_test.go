package scenario

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func (h *harness) parts(by caller.Caller, in envelopes.PartsInput) envelopes.Parts {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (envelopes.Parts, error) { return h.app.Envelopes.Parts(ctx(h), c, in) })
}

// readings counts the recorded reads of something, by any principal.
func (h *harness) readings(of string) (n int) {
	h.Helper()
	for _, e := range h.entries() {
		for _, ev := range e.Events {
			if ev.Name == "content-read" && strings.Contains(string(ev.Data), `"artifact"`) && strings.Contains(string(ev.Data), of) {
				n++
			}
		}
	}
	return n
}

func TestAPageOpensTheFilesThatItServesAndNoOthers(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		var files []envelopes.Artifact
		for _, name := range []string{"one", "two", "three"} {
			files = append(files, h.keep(h.agent("ann"), name+strings.Repeat(" rotten beam", 900)))
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Content: envelopes.Content{Artifacts: files}})
		b := h.acceptPrompt("bob")
		in := envelopes.PartsInput{ID: b.Task, Parts: []string{"artifact"}, Tokens: 1000}
		page := h.parts(h.agent("bob"), in)
		for i, want := range []int{1, 0, 0} {
			if got := h.readings(files[i].Digest); got != want {
				h.Errorf("after the first page %d reads of file %d are recorded, want %d", got, i+1, want)
			}
		}
		var text strings.Builder
		for pages := 1; ; pages++ {
			for _, p := range page.Parts {
				text.WriteString(p.Text)
			}
			if in.After = page.After; in.After == 0 {
				break
			}
			if page = h.parts(h.agent("bob"), in); pages > 20 {
				h.Fatal("no end")
			}
		}
		for _, name := range []string{"one", "two", "three"} {
			if strings.Count(text.String(), name) != 1 {
				h.Errorf("%s is there %d times", name, strings.Count(text.String(), name))
			}
		}
		if n := strings.Count(text.String(), " rotten beam"); n != 2700 {
			h.Errorf("%d of 2700 words", n)
		}
	})
}
