//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestAMemoryItemIsGivenAsAPartByTheRulesOfMemoryItems(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		var content envelopes.Content
		for i := range 5 { // more than an envelope has room for: the last go along as references alone
			x := h.remember(h.agent("ann"), memories.RememberInput{Scope: memory.Private, Text: fmt.Sprintf("swordfish%d ", i) + strings.Repeat("x", 60<<10)})
			content.Memory = append(content.Memory, envelopes.MemoryAsk{ID: x.ID})
		}
		last := envelopes.PartsInput{Parts: []string{"memory:" + content.Memory[4].ID}}
		h.share(h.agent("ann"), r, tasks.ShareInput{To: "eve", Content: content})
		last.ID = h.wait("eve").ID
		if got := h.parts(h.agent("eve"), last); strings.Contains(got.Text, "swordfish") || !strings.Contains(got.Text, "not yours to read") {
			h.Errorf("the item is ann's, and eve reads\n%.300s", got.Text)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		last.ID = h.acceptPrompt("bob").Task
		if got := h.parts(h.agent("bob"), last); !strings.Contains(got.Text, "swordfish4") {
			h.Errorf("the envelope gives it to bob, who reads\n%.300s", got.Text)
		}
	})
}
