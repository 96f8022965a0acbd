//go:build slow || outside

package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAChildThatCannotBeOfferedIsInTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: strings.Repeat("i", 3000), Start: true})
		in := handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"coder"}, Kind: event.Delegation}
		in.Content.Ask = strings.Repeat("a", 3000)
		in.Content.Data = json.RawMessage(`"` + strings.Repeat("d", 768<<10-2) + `"`)
		// The largest envelope that there can be: the child's, which also says what it is a part of, is larger.
		const tooLarge = 62_000 // for the summary, by a little: each try seals a megabyte
		for size := tooLarge; ; size -= 1000 {
			in.Content.Summary = strings.Repeat("s", size)
			sent, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, in) })
			if err == nil {
				if size == tooLarge {
					h.Fatal("a larger envelope would have been taken too: begin with a larger one")
				}
				r = sent
				break
			}
			if refusal.CodeOf(err) != refusal.TooLarge {
				h.Fatal(err)
			}
		}
		h.inState(r.Task, event.Waiting)
		children := func(t taskstore.Task) bool { return t.Children[0].State == event.Parked }
		h.until(r.Task, "the parent of a parked child", children)
	})
}
