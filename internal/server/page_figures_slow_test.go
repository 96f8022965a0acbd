//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestFindLooksIntoAllTasks(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	for _, intent := range []string{"Paint the old bridge", "Wash the car"} {
		if _, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: intent}); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 {
		if _, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Sweep the old square"}); err != nil {
			t.Fatal(err)
		}
	}
	if body := r.get("/find?q=BRIDGE+paint", http.StatusOK); !strings.Contains(body, "Paint the old bridge") || strings.Contains(body, "Sweep") {
		t.Error(body)
	}
	must(t)(admin.RegisterAgent(t.Context(), "painter", client.AgentSpec{}))
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Varnish the boat", Send: &client.SendInput{To: []string{"painter"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"varn+boa", "paint+VARNISH", made.Task[:28], "admin/local+boat"} { // beginnings of words, of names and of an id
		if body := r.get("/find?q="+words, http.StatusOK); !strings.Contains(body, "Varnish the boat") || strings.Contains(body, "Sweep") {
			t.Errorf("%s: %s", words, body)
		}
	}
	if body := r.get("/find?q=old", http.StatusOK); !strings.Contains(body, `<a href="/tasks?text=old">All of them</a>`) || strings.Contains(body, "Paint the old bridge") {
		t.Error(body)
	}
	if body := r.get("/tasks?text=old", http.StatusOK); !strings.Contains(body, "Paint the old bridge") || strings.Contains(body, "Wash") {
		t.Error(body)
	}
}
