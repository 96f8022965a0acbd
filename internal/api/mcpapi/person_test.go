package mcpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// withPerson connects an agent whose client has a user, who answers with says.
func (h *harness) withPerson(version, name, person string, says func(*mcp.ElicitParams) *mcp.ElicitResult) *agent {
	h.t.Helper()
	h.token(name)
	return h.connect(version, name, h.tokenAt(name, person), &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return says(r.Params), nil },
	})
}

func accepts(fields m) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "accept", Content: fields} }

func TestThePersonAtTheClientAnswersAQuestion(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		var shown string
		coder := h.withPerson(version, "coder", "ann", func(p *mcp.ElicitParams) *mcp.ElicitResult {
			shown = p.Message
			return accepts(m{"answer": "the second"})
		})
		_, task := coder.call("send", m{"intent": "Move the data"})
		_, got := coder.call("ask", m{"task": task["task"], "question": "Which copy?", "options": []string{"the first", "the second"}})
		if got["answer"] != "the second" || got["by"] != "operator/ann at the client of coder" || got["state"] != "executing" {
			t.Errorf("the answer is %v", got)
		}
		if !strings.Contains(shown, "Which copy?") || !strings.Contains(shown, "Move the data") {
			t.Errorf("the person saw %q", shown)
		}
	})
}

func TestAPersonWhoDoesNotAnswerLeavesTheQuestionWithOthers(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.withPerson(version, "coder", "ann", func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} })
		_, task := coder.call("send", m{"intent": "Move the data"})
		_, got := coder.call("ask", m{"task": task["task"], "question": "Which copy?"})
		ticket, _ := got["ticket"].(string)
		if got["state"] != "waiting" || ticket == "" {
			t.Fatalf("the question is gone: %v", got)
		}
		if _, err := h.admin.Answer(t.Context(), ticket, client.AnswerInput{Answer: "any"}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheFirstAnswerWins(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.withPerson(version, "coder", "ann", func(*mcp.ElicitParams) *mcp.ElicitResult {
			page, err := h.admin.Tickets(context.Background(), client.TicketFilter{})
			if err != nil || len(page.Tickets) != 1 {
				t.Errorf("%d tickets, %v", len(page.Tickets), err)
				return accepts(m{"answer": "late"})
			}
			if _, err := h.admin.Answer(context.Background(), page.Tickets[0].ID, client.AnswerInput{Answer: "early"}); err != nil {
				t.Error(err)
			}
			return accepts(m{"answer": "late"})
		})
		_, task := coder.call("send", m{"intent": "Move the data"})
		_, got := coder.call("ask", m{"task": task["task"], "question": "Which copy?"})
		if got["answer"] != "early" || got["by"] != "admin/local" {
			t.Errorf("the answer is %v", got)
		}
	})
}

func TestThePersonAtTheClientIsNotAskedToApproveWhatItsAgentSends(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.withPerson(version, "coder", "ann", func(*mcp.ElicitParams) *mcp.ElicitResult {
			t.Error("the requester's own client was asked")
			return accepts(m{"verdict": "approve"})
		})
		h.agent(version, "deployer").call("join", m{})
		_, task := coder.call("send", m{"intent": "Deploy"})
		_, got := coder.call("send", m{"task": task["task"], "to": "deployer", "kind": "supervised", "ask": "to production"})
		if got["stage"] != "awaiting_approval" {
			t.Errorf("the handoff is %v", got)
		}
	})
}

func TestWithoutAPersonNamedByTheTokenNobodyIsAskedAtTheClient(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.withPerson(version, "coder", "", func(*mcp.ElicitParams) *mcp.ElicitResult {
			t.Error("a person was asked who is not in the token")
			return accepts(m{"answer": "x"})
		})
		_, task := coder.call("send", m{"intent": "Move the data"})
		if _, got := coder.call("ask", m{"task": task["task"], "question": "Which copy?"}); got["state"] != "waiting" {
			t.Errorf("%v", got)
		}
	})
}

func TestAnAnswerFromTheClientBelongsToOneRequestOfOnePrincipal(t *testing.T) {
	h := open(t)
	h.token("coder")
	h.token("other")
	manual := &mcp.ClientOptions{
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, nil },
	}
	coder := h.connect(statelessVersion, "coder", h.tokenAt("coder", "ann"), manual)
	other := h.connect(statelessVersion, "other", h.tokenAt("other", "ann"), manual)
	_, task := coder.call("send", m{"intent": "Move the data"})
	args := m{"task": task["task"], "question": "Which copy?"}
	first, err := coder.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args})
	if err != nil || !first.NeedsInput() {
		t.Fatalf("no question: %v", err)
	}
	said := mcp.InputResponseMap{}
	for id := range first.InputRequests {
		said[id] = accepts(m{"answer": "the second"})
	}
	retry := func(a *agent, args m, state string, said mcp.InputResponseMap) error {
		_, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args, RequestState: state, InputResponses: said})
		return err
	}
	for name, err := range map[string]error{
		"another principal": retry(other, args, first.RequestState, said),
		"another request":   retry(coder, m{"task": task["task"], "question": "Delete all?"}, first.RequestState, said),
		"a changed state":   retry(coder, args, first.RequestState[:len(first.RequestState)-2]+"xx", said),
		"no state":          retry(coder, args, "", said),
		"no answer":         retry(coder, args, first.RequestState, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "does not belong to a question") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 { // a replay changes nothing, and gets what was said first
		r, err := coder.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args, RequestState: first.RequestState, InputResponses: said})
		if err != nil || r.IsError || r.StructuredContent.(m)["answer"] != "the second" {
			t.Errorf("%v, %+v", err, r)
		}
		for id := range said {
			said[id] = accepts(m{"answer": "the first"})
		}
	}
}

func TestAPersonDecidesInTheClientWhatWaits(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		asker := h.agent(version, "asker")
		boss := h.withPerson(version, "boss", "", func(*mcp.ElicitParams) *mcp.ElicitResult { return accepts(m{"answer": "yes"}) })
		_, task := asker.call("send", m{"intent": "Move the data"})
		_, got := asker.call("ask", m{"task": task["task"], "question": "Shall I?", "to": "boss"})
		text, _ := boss.call("inbox", m{"wait": 10})
		if line := fmt.Sprintf("- question %v from asker", got["ticket"]); !strings.Contains(text, line) || !strings.Contains(text, "[decide: answer]") {
			t.Errorf("the inbox of the receiver: %s", text)
		}
		boss.call("decide", m{"id": got["ticket"]})
		if _, now := asker.call("status", m{"id": got["ticket"]}); now["ticket"].(m)["answer"] != "yes" {
			t.Errorf("%v", now)
		}
		if text, _, refused := asker.try("decide", m{"id": got["ticket"]}); !refused || !strings.Contains(text, "verdict") {
			t.Errorf("a client that cannot ask was not told so: %s", text)
		}
	})
}

// An answer that ask has delivered is no news any more: the inbox does not have the task as resumed.
func TestTheInboxDoesNotRepeatWhatAskHasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		coder, boss := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "boss")
		_, task := coder.call("send", m{"intent": "Move the data"})
		go func() {
			time.Sleep(10 * time.Second)
			boss.call("decide", m{"id": task["task"], "verdict": "answer", "text": "the first"})
		}()
		if _, got := coder.call("ask", m{"task": task["task"], "question": "Which copy?", "to": "boss", "wait": 45}); got["answer"] != "the first" {
			t.Fatalf("ask answers %v", got)
		}
		if text, box := coder.call("inbox", m{}); len(box["items"].([]any)) != 0 {
			t.Errorf("after that the inbox has %s", text)
		}
		coder.call("ask", m{"task": task["task"], "question": "Sure?", "to": "boss"})
		boss.call("decide", m{"id": task["task"], "verdict": "answer", "text": "yes"})
		if text, box := coder.call("inbox", m{}); len(box["items"].([]any)) != 1 || !strings.Contains(text, "resumed") {
			t.Errorf("of an answer that was not delivered the inbox has %s", text)
		}
	})
}
