package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// agent registers an agent, and returns its token.
func (b *bubble) agent(name string) string {
	b.Helper()
	admin, err := client.New("http://127.0.0.1", b.token, client.Options{HTTP: b.http, Retries: -1})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := admin.RegisterAgent(b.Context(), name, client.AgentSpec{}); err != nil {
		b.Fatal(err)
	}
	t, err := admin.CreateToken(b.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		b.Fatal(err)
	}
	return t.Text
}

// took returns how long a call takes.
func (b *bubble) took(token, line, body string) time.Duration {
	b.Helper()
	as := *b
	as.token = token
	method, path, _ := strings.Cut(line, " ")
	start := time.Now()
	status, answer, err := as.request(method, path, strings.NewReader(body))
	if err != nil || status >= 300 && status != 400 {
		b.Errorf("%s: %d %.300s, %v", line, status, answer, err)
	}
	return time.Since(start)
}

// TestCallsOfAnAgentWaitForEachOtherWhileOthersCall has one call of an agent under way that never ends.
func TestCallsOfAnAgentWaitForEachOtherWhileOthersCall(t *testing.T) {
	const stalled = 100 * time.Millisecond // then another call begins, whatever holds up the first
	inBubble(t, func(b *bubble) {
		junk, honest := b.agent("junk"), b.agent("honest")
		c, err := b.app.Tokens.Authenticate(b.Context(), junk)
		if err != nil {
			b.Fatal(err)
		}
		calls := map[string]string{
			"POST /v1/tasks": `{"intent":"write it","start":true}`, "POST /v1/tasks?no=1": `{"intent":"refused"}`, "GET /v1/tasks?limit=200": "",
			"GET /v1/inbox": "", "GET /v1/me": "", "POST /v1/memory": `{"text":"` + strings.Repeat("long ", 1000) + `"}`,
			"POST /v1/tasks?no=2": `{"intent":"long","content":{"data":"` + strings.Repeat("long ", 5000) + `"}}`,
		}
		for line, body := range calls {
			time.Sleep(time.Second)
			leave, err := b.app.Work.EnterCall(b.app.Work.Call(b.Context(), c))
			if err != nil {
				b.Fatal(err)
			}
			if d := b.took(junk, line, body); d != 0 { // the server is not shared
				b.Errorf("%s of an agent that is alone took %s", line, d)
			}
			if d := b.took(honest, line, body); d != 0 {
				b.Errorf("%s of another took %s", line, d)
			}
			if d := b.took(junk, line, body); d != stalled {
				b.Errorf("%s beside a call of the same agent took %s, want %s", line, d, stalled)
			}
			leave()
			if d := b.took(junk, line, body); d != 0 {
				b.Errorf("%s after it took %s", line, d)
			}
		}
	})
}

// TestACallThatWaitsForAnEventHoldsUpNoOther has an agent wait for its inbox, a task and a ticket.
func TestACallThatWaitsForAnEventHoldsUpNoOther(t *testing.T) {
	inBubble(t, func(b *bubble) {
		junk, honest := b.agent("junk"), b.agent("honest")
		done := make(chan time.Duration)
		go func() { done <- b.took(junk, "GET /v1/inbox?wait=30s", "") }()
		time.Sleep(time.Millisecond)
		for range 3 {
			for _, token := range []string{honest, junk} {
				if d := b.took(token, "POST /v1/tasks", `{"intent":"write it","start":true}`); d != 0 {
					b.Errorf("a call beside one that waits took %s", d)
				}
			}
		}
		if d := <-done; d != 30*time.Second {
			b.Errorf("the call waited for %s", d)
		}
	})
}
