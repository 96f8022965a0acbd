package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

func TestThePageShowsFiguresByAgentKindAndReason(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true, Clock: NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))})
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	if body := r.get("/figures", http.StatusOK); !strings.Contains(body, "No handoff has ended in the last hour") {
		t.Error(body)
	}
	tokens := map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		if _, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = token.Text
	}
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Look", Send: &client.SendInput{To: []string{"ann"}, Reason: client.ReasonSpecialization, Kind: client.Cold}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, s, tokens["ann"]).Accept(t.Context(), made.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	last, err := s.log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.monitor.Wait(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	for _, span := range []string{"5m", "1h", "24h"} {
		body := r.get("/figures?span="+span, http.StatusOK)
		for _, want := range []string{
			`<h2 id="by-agent">`, `<a href="/agents/ann">ann</a>`, `<h2 id="by-kind">`, `<th scope="row">cold</th><td data-is="Ended">1</td><td data-is="Failed">0 (0 %)</td>`,
			`<h2 id="by-reason">`, `<th scope="row">specialization</th><td data-is="Ended">1</td>`, `<th scope="row">all</th><td data-is="Ended">1</td>`, `<span class="behind"><a href="/find?q=` + made.Handoff + `" title="Look, handoff 1">1</a>`, `class="spark"`,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s:\n%s", span, want, body)
			}
		}
		if inline.MatchString(body) {
			t.Errorf("%s has something inline", span)
		}
	}
	if got := r.do(http.MethodGet, "/find?q="+made.Handoff, ""); got.header.Get("Location") != "/tasks/"+made.Task+"/hops/1" {
		t.Errorf("a handoff behind a figure is at %q", got.header.Get("Location"))
	}
	r.get("/figures?span=1y", http.StatusBadRequest)
	bob := newReader(t, s)
	bob.get(bob.link(tokens["bob"]), http.StatusOK)
	if body := bob.get("/", http.StatusOK); strings.Contains(body, "/figures") {
		t.Error("an agent is led to figures that it may not read")
	}
	bob.get("/figures", http.StatusForbidden)
}

func TestAPageThatIsOneStreamTooManySaysSo(t *testing.T) {
	s, _ := forTests(t, Config{Temporary: true})
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	for range 8 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+adminToken(t, s))
		res, err := http.DefaultClient.Do(req) // it answers once the stream counts
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		if res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
	}
	if body := r.get("/live?task=*", http.StatusOK); !strings.Contains(body, "event: full\n") { // it ends
		t.Errorf("%q", body)
	}
}

func TestThePageShowsAMemoryItemToThoseThatMayReadIt(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	if _, err := admin.RegisterAgent(t.Context(), "bob", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	item, err := admin.Remember(t.Context(), client.RememberInput{Title: "Style <i>guide</i>", Text: "Long sentences.", Tags: []string{"style"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Revise(t.Context(), item.ID, client.ReviseInput{Text: "Short sentences."}); err != nil {
		t.Fatal(err)
	}
	r, bob := newReader(t, s), newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	bob.get(bob.link(token.Text), http.StatusOK)
	body := r.get("/memory/"+item.ID, http.StatusOK)
	for _, want := range []string{"Style &lt;i&gt;guide", "Short sentences.", "Long sentences.", `<span class="tag">style</span>`, "2 of 2"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s:\n%s", want, body)
		}
	}
	bob.get("/memory/"+item.ID, http.StatusNotFound) // it is private
}
