//go:build slow || outside

package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Whatever one sends counts: offers, shares, questions, approvals, requests to take over.
func TestNobodyFillsAnInboxWithOtherThanOffers(t *testing.T) {
	inTown(t, func(w *town) {
		ways := map[string]func(r townTask) (int, string){
			"share": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/share", fmt.Sprintf(`{"epoch":%d,"to":"worker"}`, r.Epoch), nil)
			},
			"question": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/ask", fmt.Sprintf(`{"epoch":%d,"to":"worker","question":"?"}`, r.Epoch), nil)
			},
			"approval": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/send", fmt.Sprintf(`{"epoch":%d,"to":["other"],"kind":"supervised","approver":"worker"}`, r.Epoch), nil)
			},
			"new approval": func(townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks", `{"intent":"x","send":{"to":["other"],"kind":"supervised","approver":"worker"}}`, nil)
			},
			"offer": func(townTask) (int, string) {
				_, status, text := w.offers("junk", "worker", "")
				return status, text
			},
		}
		taken := map[string]int{}
		for range townOffers {
			for name, send := range ways {
				var r townTask
				w.must("junk", "POST /v1/tasks", `{"intent":"x","start":true}`, &r)
				status, text := send(r)
				if status < 300 {
					taken[name]++
				} else if status != http.StatusTooManyRequests || !strings.Contains(text, `"overloaded"`) {
					t.Fatalf("%s: %d %s", name, status, text)
				}
			}
		}
		sum := 0
		for name := range ways {
			sum += taken[name]
		}
		if sum != townOffers {
			t.Errorf("%d items of junk were taken, the bound is %d: %v", sum, townOffers, taken)
		}
		if _, status, text := w.offers("honest", "worker", ""); status >= 300 {
			t.Errorf("another sender: %d %s", status, text)
		}
	}, "junk", "honest", "other", "worker")
}
