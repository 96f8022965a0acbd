package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// created is a new task.
func created(t *testing.T, by *client.Client, in client.CreateInput) string {
	t.Helper()
	in.Intent = "Pay it back"
	r, err := by.CreateTask(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r.Task
}

// What a form of a ticket has arrives: the digest of the envelope that was shown, without which another could be approved, and what the person writes.
func TestWhatTheFormsOfATicketHaveArrives(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob")
	supervised, question := sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised}), asks(client.AskInput{Desk: "operators", Options: []string{"pay it", "keep it"}})
	for verb, c := range map[string]struct {
		open func(*testing.T, *client.Client) string
		form url.Values
		want [3]string // outcome, answer and detail
	}{
		"approve": {supervised, url.Values{"detail": {"it is right"}}, [3]string{"approved", "", "it is right"}},
		"deny":    {supervised, url.Values{"detail": {"too much"}}, [3]string{"denied", "", "too much"}},
		"answer":  {question, url.Values{"detail": {"as agreed"}, "option": {"keep it"}}, [3]string{"answered", "keep it", "as agreed"}},
	} {
		id := c.open(t, agents["ann"]) + ".k1"
		path := "/tickets/" + id + "/" + verb
		form := formOf(page.get("/tickets/"+id, http.StatusOK), path)
		for name, value := range c.form {
			form[name] = value
		}
		if verb == "approve" {
			other := url.Values{"key": {"k1"}, "digest": {"sha256:" + strings.Repeat("0", 64)}}
			if got := page.do(http.MethodPost, path, other.Encode()); got.status == http.StatusSeeOther {
				t.Error("an envelope that was not shown is approved")
			}
			unread := formOf(page.get("/inbox", http.StatusOK), path)
			if got := page.do(http.MethodPost, path, unread.Encode()); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "does not say what was read") || !strings.Contains(got.body, form.Get("digest")) {
				t.Errorf("what was not read is approved: %q, %d %s", unread, got.status, got.body)
			}
			if k, err := admin.Ticket(t.Context(), id, 0); err != nil || !k.Open() || k.Envelope == "" || form.Get("digest") != k.Envelope {
				t.Errorf("the form has the digest %q, and the envelope is %q: %v", form.Get("digest"), k.Envelope, err)
			}
		}
		if got := page.do(http.MethodPost, path, form.Encode()); got.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", verb, got.status, got.body)
		}
		if k, err := admin.Ticket(t.Context(), id, 0); err != nil || [3]string{k.Outcome, k.Answer, k.Detail} != c.want {
			t.Errorf("%s: %+v, %v", verb, k, err)
		}
	}
}
