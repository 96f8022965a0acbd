package scenario

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// What waits in an inbox is bounded for all front ends together: each lets a sixteenth of the bound through, at most, after the others have reached it.
func TestFrontEndsTogetherBoundWhatOneSenderHasInAnInbox(t *testing.T) {
	frontEnds(t, 3, func(h *harness, all []*harness) {
		h.join("ann", "junk")
		taken := 0
		for refused := 0; refused < len(all); {
			for _, at := range all {
				at.settle()
				switch _, err := at.app.Tasks.Create(ctx(h), at.agent("junk"), &tasks.CreateInput{Intent: "junk", Send: &handoffs.SendInput{To: []string{"ann"}}}); refusal.CodeOf(err) {
				case "":
					taken, refused = taken+1, 0
				case refusal.Overloaded:
					refused++
				default:
					h.Fatal(err)
				}
			}
		}
		if more := (len(all) - 1) * townOffers / 16; taken < townOffers || taken > townOffers+more {
			h.Errorf("%d offers of junk were taken, the bound is %d, and %d more", taken, townOffers, more)
		}
	})
}
