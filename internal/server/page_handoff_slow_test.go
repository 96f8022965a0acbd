//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// However many tasks, tickets and dead letters there are, the first answer of each page stays as large as that of a few hundred: lists go on in parts.
func TestAPageStaysSmallHoweverMuchThereIs(t *testing.T) {
	_, _, page, agents := crew(t, "ann")
	sizes := func() map[string]int {
		all := map[string]int{}
		for _, path := range []string{"/", "/tasks", "/tasks?text=sweep", "/find?q=sweep", "/inbox"} {
			all[path] = strings.Count(page.get(path, http.StatusOK), "<")
		}
		return all
	}
	fill := func() {
		for range 120 {
			r, err := agents["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "Sweep the square", Start: true})
			if err != nil {
				t.Fatal(err)
			}
			must(t)(agents["ann"].Ask(t.Context(), r.Task, client.AskInput{Epoch: 1, Question: "Now?"}))
		}
	}
	fill()
	before := sizes()
	fill()
	for path, now := range sizes() {
		if now > before[path]+100 || now > 8000 {
			t.Errorf("%s has %d tags of twice as many tasks, before %d", path, now, before[path])
		}
	}
}
