package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// fullDisk is a ledger that behaves as on a full disk while the test says so.
type fullDisk struct {
	ledger.Ledger
	full *atomic.Bool
}

func (d fullDisk) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if d.full.Load() && expect != ledger.Any && !ledger.IsForRead(ctx) {
		return 0, fmt.Errorf("%w: the test wants it so", ledger.ErrFull)
	}
	return d.Ledger.Append(ctx, e, expect)
}

func TestOnAFullDiskAReceiverReadsWhatItHasNotReadBefore(t *testing.T) {
	var full atomic.Bool
	h := openOn(t, func(l ledger.Ledger) ledger.Ledger { return fullDisk{l, &full} }, httpapi.Options{}, usecase.Options{})
	ann, _ := h.agent("ann")
	bob, token := h.agent("bob")
	if _, err := h.as(h.admin).RegisterAgent(t.Context(), "bob", client.AgentSpec{ContextWindow: 4000}); err != nil {
		t.Fatal(err)
	}
	handoff, paths := "", map[string]string{}
	for _, how := range []string{"offer", "share"} {
		made, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "read it", Start: true, Content: client.Content{Notes: strings.Repeat("All of the words. ", 100)}})
		if err != nil {
			t.Fatal(err)
		}
		var done client.Receipt
		if how == "offer" {
			done, err = ann.Send(t.Context(), made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"bob"}})
			handoff, paths["offer"] = done.Handoff, "/v1/handoffs/"+done.Handoff+"/content"
		} else {
			done, err = ann.Share(t.Context(), made.Task, client.ShareInput{Epoch: made.Epoch, To: "bob", Content: client.Content{Notes: "Beside it."}})
			paths["share"] = "/v1/shares/" + done.Share + "/content"
		}
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
	}
	full.Store(true)
	box, err := bob.Inbox(t.Context(), client.InboxOptions{See: true})
	if err != nil || len(box.Items) != 2 {
		t.Fatalf("%+v, %v", box.Items, err)
	}
	for _, item := range box.Items {
		if item.Type == "offer" && item.Seen {
			t.Errorf("%+v: a clock runs for an answer that is refused", item)
		}
		for range 2 {
			if r := h.call(token, "GET "+paths[item.Type], ""); r.status != http.StatusOK {
				t.Errorf("%s %s: %d %s", item.Type, item.ID, r.status, r.body)
			}
		}
	}
	if r := h.call(token, "POST /v1/handoffs/"+handoff+"/accept", `{}`); r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, "disk is full") {
		t.Errorf("an answer: %d %s", r.status, r.body)
	}
	full.Store(false)
	box, err = bob.Inbox(t.Context(), client.InboxOptions{See: true})
	if err != nil || len(box.Items) != 1 || !box.Items[0].Seen {
		t.Errorf("with room again: %+v, %v", box.Items, err)
	}
}
