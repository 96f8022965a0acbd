package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

func TestWhatIsSaidIsDoneOverHTTP(t *testing.T) {
	h := open(t, httpapi.Options{})
	alice, token := h.agent("alice")
	h.agent("bob")
	r, err := alice.CreateTask(t.Context(), client.CreateInput{Intent: "one", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	in := client.DoInput{Text: "hand this off to bob because it is late", Task: r.Task}
	d, err := alice.Do(t.Context(), in)
	if err != nil || d.Confirm == "" || d.Receipt != nil || d.Understood.Agent != "bob" {
		t.Fatalf("%+v, %v", d, err)
	}
	in.Confirm = d.Confirm
	d, err = alice.Do(t.Context(), in)
	if err != nil || d.Receipt == nil || d.Receipt.To[0] != "bob" {
		t.Fatalf("%+v, %v", d, err)
	}
	reply := h.call(token, "POST /v1/do", `{"text":"show active handoffs"}`)
	if reply.status != http.StatusOK || !strings.Contains(reply.body, r.Task) {
		t.Errorf("%d %s", reply.status, reply.body)
	}
}

func TestWhatIsSaidBadlyOverHTTPSaysWhatCanBeSaid(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("alice")
	for body, status := range map[string]int{
		`{"text":"do not escalate"}`:             http.StatusBadRequest,
		`{"text":""}`:                            http.StatusBadRequest,
		`{}`:                                     http.StatusBadRequest,
		`{"text":"escalate this","agent":"bob"}`: http.StatusBadRequest,
		`{"text":"` + strings.Repeat("x", 9000) + `"}`:              http.StatusBadRequest,
		`{"text":"hand task_01hzy0000000000000000000aa to nobodi"}`: http.StatusNotFound,
		`{"text":"escalate \u0000 this"}`:                           http.StatusBadRequest,
	} {
		reply := h.call(token, "POST /v1/do", body)
		if reply.status != status || reply.problem(t).Hint == "" {
			t.Errorf("%.60s: %d %s", body, reply.status, reply.body)
		}
	}
	p := h.call(token, "POST /v1/do", `{"text":"do not escalate"}`).problem(t)
	if p.Details["why"] != "negated" || p.Details["say"] == nil {
		t.Errorf("%+v", p)
	}
	if reply := h.call("", "POST /v1/do", `{"text":"escalate this"}`); reply.status != http.StatusUnauthorized {
		t.Errorf("%d", reply.status)
	}
}
