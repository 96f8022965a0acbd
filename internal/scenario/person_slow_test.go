//go:build slow || outside

package scenario

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// A question that was put to others is theirs, wherever it goes when their time is over: the person at the client of an agent does not
// answer it, nor deny it.
func TestAPersonAtAClientDoesNotAnswerWhatOthersWereAsked(t *testing.T) {
	inTown(t, func(w *town) {
		w.must("", "PUT /v1/agents/zoe", `{"kind":"human","capabilities":["legal"]}`, nil)
		var token struct{ Token string }
		w.must("", "POST /v1/tokens", `{"role":"agent","name":"coder","person":"ann"}`, &token)
		w.tokens["coder"] = token.Token
		asks := func(more string) string {
			var r struct {
				Task, Ticket string
				Epoch        uint64
			}
			w.must("coder", "POST /v1/tasks", `{"intent":"Pay","start":true}`, &r)
			w.must("coder", "POST /v1/tasks/"+r.Task+"/ask", fmt.Sprintf(`{"epoch":%d,"question":"May I?"%s}`, r.Epoch, more), &r)
			return r.Ticket
		}
		for name, more := range map[string]string{
			"a desk": `,"desk":"legal"`, "a desk that had its time": `,"desk":"legal","within":"1m"`,
			"a person": `,"to":"zoe"`, "a person who had her time": `,"to":"zoe","within":"1m"`,
		} {
			ticket := asks(more)
			if len(more) > len(`,"desk":"legal"`)+1 {
				time.Sleep(61 * time.Second)
			}
			var k struct{ State, Desk, To string }
			if w.must("", "GET /v1/tickets/"+ticket, "", &k); k.State != "open" {
				t.Fatalf("%s: %+v", name, k)
			}
			for verb, body := range map[string]string{"answer": `{"answer":"yes"}`, "deny": `{"detail":"no"}`} {
				if status, text := w.callAs("coder", "ann", "POST /v1/tickets/"+ticket+"/"+verb, body, nil); status != http.StatusForbidden {
					t.Errorf("%s of a question to %s (%+v): %d %s", verb, name, k, status, text)
				}
			}
		}
		if status, text := w.callAs("coder", "ann", "POST /v1/tickets/"+asks("")+"/answer", `{"answer":"yes"}`, nil); status >= 300 {
			t.Errorf("what was asked at the client: %d %s", status, text)
		}
	}, "coder")
}
