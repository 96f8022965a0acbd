//go:build slow

package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
)

// decideOverMCP approves over MCP with a token, and returns the answer.
func decideOverMCP(t *testing.T, s *Server, token, ticket string) string {
	t.Helper()
	const form = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"decide","arguments":{"id":%q,"verdict":"approve"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/mcp", strings.NewReader(fmt.Sprintf(form, ticket)))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "decide",
	} {
		req.Header.Set(name, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Ann asks as operator. She is the same person with the role that another group gives her, with a token of the server, and at an agent's client. The command
// line makes the calls that the client makes here.
func TestThePersonWhoAskedIsNeverTheApproverWhateverRoleTheyHold(t *testing.T) {
	i := oauthtest.New(t)
	c := withIssuer(t, i, "admins=admin", "ops=operator")
	c.OAuth.Person = "person"
	s, admin := forTests(t, c)
	for _, name := range []string{"coder", "helper"} {
		agentToken(t, admin, name)
	}
	const refusedText = "nobody approves a handoff that they asked for"
	sign := func(name string, groups ...string) string {
		return i.IDToken(personOf(name, groups...), time.Hour, nil)
	}
	access := func(groups ...string) string { return i.Token("x", c.OAuth.Resource, personOf("ann", groups...)) }
	own, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAdmin, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	asked := sign("ann", "ops")
	made, err := connect(t, s, asked).CreateTask(t.Context(), client.CreateInput{Intent: "Deploy", Send: &client.SendInput{To: []string{"coder"}, Kind: client.Supervised}})
	if err != nil {
		t.Fatal(err)
	}
	handoff, ticket := made.Task+".h1", made.Task+".k1"
	for what, token := range map[string]string{
		"the same role": asked, "another role": sign("ann", "admins"), "both": sign("Ann", "admins", "ops"), "an access token": access("ops"),
		"an access token of another role": access("admins"), "a token of the server": own.Text,
	} {
		for _, id := range []string{handoff, ticket} {
			if _, err := connect(t, s, token).Approve(t.Context(), id, client.ApproveInput{}); !errors.Is(err, client.NotPermitted) || !strings.Contains(err.Error(), refusedText) {
				t.Errorf("%s, over HTTP, %s: %v", what, id, err)
			}
		}
		r := newReader(t, s)
		r.get(r.link(token), http.StatusOK)
		r.get("/tasks", http.StatusOK)
		if got := r.do(http.MethodPost, "/tickets/"+ticket+"/approve", url.Values{"key": {what}, "digest": {"sha256:" + strings.Repeat("0", 64)}}.Encode()); got.status != http.StatusForbidden || !strings.Contains(got.body, refusedText) {
			t.Errorf("%s, at the page: %d %s", what, got.status, got.body)
		}
		got := decideOverMCP(t, s, token, ticket)
		isAdmin := strings.Contains(got, "administrator's token") // a model has no such token at all
		if !isAdmin && !strings.Contains(got, refusedText) {
			t.Errorf("%s, over MCP: %s", what, got)
		}
	}
	coder := connect(t, s, i.Token("helper", c.OAuth.Resource, oauthtest.Claims{"person": "ann"}))
	if _, err := coder.Approve(client.WithPerson(t.Context(), "ann"), ticket, client.ApproveInput{}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("at an agent's client: %v", err)
	}
	if _, err := connect(t, s, sign("bob", "ops")).Approve(t.Context(), ticket, client.ApproveInput{}); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}
