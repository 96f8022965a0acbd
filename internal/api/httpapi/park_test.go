package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/park"
)

// A call in the process that is to wait nowhere learns whether it would, and changes nothing.
func TestACallWithAPlaceToWaitReadsNothing(t *testing.T) {
	calls := 0 // that were counted
	h := open(t, httpapi.Options{Called: func(_, route string, _ int, _ time.Duration) {
		if route == "/v1/inbox" {
			calls++
		}
	}})
	planner, _ := h.agent("planner")
	writer, token := h.agent("writer")
	ask := func() *park.Place {
		t.Helper()
		ctx, place := park.With(t.Context())
		t.Cleanup(place.Leave)
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/v1/inbox?wait=50s", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		if h.Config.Handler.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return place
	}
	place := ask()
	if !place.Taken() {
		t.Error("nothing is in the inbox, and the call would not wait")
	}
	sent, err := planner.CreateTask(t.Context(), client.CreateInput{Intent: "write", Send: &client.SendInput{To: []string{"writer"}}})
	if err != nil {
		t.Fatal(err)
	}
	place.Wait(t.Context(), t.Context(), time.Now().Add(time.Hour))
	if ask().Taken() {
		t.Error("something is in the inbox, and the call would wait")
	}
	box, err := writer.Inbox(t.Context(), client.InboxOptions{Peek: true})
	if err != nil || len(box.Items) != 1 || box.Items[0].Task != sent.Task || box.Items[0].Seen {
		t.Errorf("the inbox has %+v, %v; want the offer, not seen", box.Items, err)
	}
	if calls != 1 {
		t.Errorf("%d calls are counted, want that of the client alone", calls)
	}
}
