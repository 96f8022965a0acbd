//go:build slow

package server

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A dead letter is found among many: its story leads to it, a list is narrowed, and goes on as it was after several are given up.
func TestADeadLetterIsFoundAmongMany(t *testing.T) {
	_, admin, page, agents := crew(t, "mute")
	ctx := t.Context()
	dead := func(intent string) string {
		t.Helper()
		made, err := admin.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents["mute"].Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
		return made.Task
	}
	must(t)(admin.CreateTask(ctx, client.CreateInput{Intent: "an order that lives"}))
	first := dead("the oldest order")
	for n := range 100 { // as many as a page lists
		dead(fmt.Sprint("invoice ", n))
	}
	chosen := func(path string) int { return strings.Count(page.get(path, http.StatusOK), `name="task" value="`) }
	if body := page.get("/dead", http.StatusOK); strings.Contains(body, first) || !strings.Contains(body, "101 dead letters") {
		t.Errorf("the first page has all of them, or does not say how many there are: %s", body)
	}
	link := regexp.MustCompile(`href="(/dead[^"]*)">Replay or discard it`).FindStringSubmatch(page.get("/tasks/"+first, http.StatusOK))
	if len(link) != 2 || chosen(link[1]) != 1 || !strings.Contains(page.get(link[1], http.StatusOK), `name="task" value="`+first) {
		t.Errorf("its story leads to %q, where it is not", link)
	}
	for path, want := range map[string]int{"/dead?text=order": 1, "/dead?text=order&state=pending&live=1": 1, "/dead?text=invoice": 100, "/dead?words=oldest": 1, "/dead?owner=mute": 0, "/dead?since=1h": 100, "/dead?until=1h": 0} {
		if got := chosen(path); got != want {
			t.Errorf("%s lists %d, and not %d", path, got, want)
		}
	}
	shown(t, "a list of none", page.get("/dead?text=nothing", http.StatusOK), "No dead letter fits", `href="/dead"`)
	for path, says := range map[string]string{"/dead": "No dead letter fits", "/tasks": "No task fits"} { // as after all of the last page were given up
		shown(t, "the end of a list", page.get(path+"?after=task_00000000000000000000000000", http.StatusOK), says, `<a href="`+path+`">Show all</a>`)
	}
	page.post("/dead?text=order", "verb=discard&key=k1&why=old&task="+first, "Discarded.")
	if got := page.do(http.MethodPost, "/dead?text=order", "verb=discard&key=k2&why=old&task="+dead("another order")); got.header.Get("Location") != "/dead?did=discard&text=order" {
		t.Errorf("the list goes on at %q", got.header.Get("Location"))
	}
}
