package server

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// stream is the lines that /live sends, until it ends.
func (r *reader) stream() <-chan string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.base+"/live?task=*", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = res.Body.Close() })
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	if first := <-lines; res.StatusCode != http.StatusOK || first != "retry: 1000" {
		r.t.Fatalf("%s: %q", res.Status, first)
	}
	return lines
}

// endsSession waits for the end of a stream, which says that the session has ended, while things happen.
func endsSession(t *testing.T, name string, lines <-chan string, happens func()) {
	t.Helper()
	var all []string
	late := time.After(time.Minute)
	next := time.NewTicker(20 * time.Millisecond)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			happens()
			continue
		case line, ok := <-lines:
			if all = append(all, line); ok {
				continue
			}
		case <-late:
			t.Errorf("%s: the stream does not end", name)
		}
		if got := strings.Join(all, "\n"); !strings.Contains(got, "event: end\n") {
			t.Errorf("%s: %q", name, got)
		}
		return
	}
}

func TestAPageIsToldThatItsSessionHasEnded(t *testing.T) {
	clock := NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	s, admin := forTests(t, Config{Temporary: true, Clock: clock})
	if body := newReader(t, s).get("/live?task=*", http.StatusOK); body != "event: end\ndata:\n\n" {
		t.Errorf("nobody has signed in: %q", body)
	}
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	r.get("/record", http.StatusOK)
	lines := r.stream()
	if got := r.do(http.MethodPost, "/sign-out", ""); got.status != http.StatusSeeOther {
		t.Fatal(got.status)
	}
	endsSession(t, "signed out in another tab", lines, func() {})

	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleOperator, Name: "olga"})
	if err != nil {
		t.Fatal(err)
	}
	r.get(r.link(token.Text), http.StatusOK)
	lines = r.stream()
	if _, err := admin.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	happens := func() {
		if _, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Something happens"}); err != nil {
			t.Error(err)
		}
	}
	endsSession(t, "token revoked", lines, happens)

	r = newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	lines = r.stream()
	if _, err := s.Advance(t.Context(), 13*time.Hour); err != nil {
		t.Fatal(err)
	}
	endsSession(t, "after 12 hours", lines, happens)
}

func TestAFormOfASessionThatHasEndedCanBeSentAgain(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	task, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Paint the bridge"})
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, s)
	path := "/tasks/" + task.Task + "/cancel"
	got := r.do(http.MethodPost, path, url.Values{"as": {"default/admin/local"}, "detail": {"It is <b>new</b>"}, "key": {"k1"}}.Encode())
	if got.status != http.StatusUnauthorized {
		t.Error(got.status)
	}
	shown(t, "the refusal", got.body, "you are not signed in", `href="/sign-in"`, `action="`+path+`"`, `name="detail" value="It is &lt;b&gt;new&lt;/b&gt;"`, `name="key" value="k1"`)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	if again := r.do(http.MethodPost, path, fieldsOf(t, got.body, path).Encode()); again.status != http.StatusSeeOther {
		t.Errorf("%d: %s", again.status, again.body)
	}
	if now, err := admin.Task(t.Context(), task.Task); err != nil || now.State != client.Cancelled {
		t.Errorf("%v: %s", err, now.State)
	}
}

// Somebody else signs in in another tab: the page that is still open does nothing in the name of that one until the reader has seen it. What was typed is kept.
func TestAPageOfOneDoesNothingAsAnother(t *testing.T) {
	s, admin, _, agents := crew(t, "ann", "eve")
	ctx, zoe := t.Context(), atDesk(t, s, admin)
	made, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Desk: "billing"}))
	ticket := "/tickets/" + made.Task + ".k1"
	form := fieldsOf(t, zoe.get("/inbox", http.StatusOK), ticket+"/answer")
	form.Set("answer", "only half of it")
	signIn := func(token string) { // in another tab: the page that zoe sees is not that of the other
		zoe.as = form.Get("as")
		zoe.do(http.MethodPost, "/sign-in", url.Values{"token": {token}}.Encode())
	}
	operator, err := admin.CreateToken(ctx, client.TokenInput{Role: client.RoleOperator, Name: "olga"})
	if err != nil {
		t.Fatal(err)
	}
	signIn(operator.Text)
	got := zoe.do(http.MethodPost, ticket+"/answer", form.Encode())
	if got.status != http.StatusConflict {
		t.Errorf("%d", got.status)
	}
	shown(t, "the page of another who sees the ticket", got.body, "operator/olga</span>", "Not done:", "shown to agent/zoe, and operator/olga has signed in", `name="as" value="default/operator/olga"`, `value="only half of it"`)

	eve, err := admin.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	signIn(eve.Text)
	got = zoe.do(http.MethodPost, ticket+"/answer", form.Encode())
	if got.status != http.StatusConflict {
		t.Errorf("%d", got.status)
	}
	shown(t, "the refusal to another who does not see the ticket", got.body, "agent/eve</span>", "shown to agent/zoe, and agent/eve has signed in", "You wrote:", "only half of it", "Send it again")
	if k, err := admin.Ticket(ctx, made.Task+".k1", 0); err != nil || !k.Open() {
		t.Errorf("%v: %+v", err, k)
	}
	zoes, err := admin.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	signIn(zoes.Text)
	again := fieldsOf(t, got.body, ticket+"/answer")
	if got := zoe.do(http.MethodPost, ticket+"/answer", again.Encode()); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.body)
	}
	if k, err := admin.Ticket(ctx, made.Task+".k1", 0); err != nil || k.Answer != "only half of it" || k.ClosedBy != "zoe" {
		t.Errorf("%v: %+v", err, k)
	}
}

func TestABrowserAtAnUnknownAddressGetsAPage(t *testing.T) {
	s, _ := forTests(t, Config{Temporary: true})
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	browser := "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	for _, path := range []string{"/nowhere", "/tasks/a/b/c", "/Inbox", "/%3Cscript%3E", "/static2/page.js"} {
		got := r.do(http.MethodGet, path, "", "Accept", browser)
		if got.status != http.StatusNotFound || got.header.Get("Content-Type") != "text/html; charset=utf-8" || got.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, %v", path, got.status, got.header)
		}
		shown(t, path, got.body, `<nav aria-label="Pages">`, "there is no page at", `href="/"`)
	}
	for _, accept := range []string{"", "*/*", "application/json", "text/html;q=0.5, application/json"} {
		if got := r.do(http.MethodGet, "/nowhere", "", "Accept", accept); got.status != http.StatusNotFound || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%q: %d, %v: %s", accept, got.status, got.header, got.body)
		}
	}
}
