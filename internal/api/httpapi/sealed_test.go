package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// packing is what a receiver was given, in figures.
func packing(t *testing.T, c client.Accepted) (tokens int, completeness float64) {
	t.Helper()
	var doc struct {
		Packing struct {
			Tokens       int     `json:"tokens"`
			Completeness float64 `json:"completeness"`
		} `json:"packing"`
	}
	if err := json.Unmarshal(c.Content.Envelope, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Packing.Tokens, doc.Packing.Completeness
}

func TestASenderIsToldWhatTheReceiverWillRead(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	ctx := t.Context()
	if _, err := h.as(h.admin).RegisterAgent(ctx, "writer", client.AgentSpec{ContextWindow: 4000}); err != nil {
		t.Fatal(err)
	}
	item, err := planner.Remember(ctx, client.RememberInput{Scope: client.ScopeWorkspace, Text: "the outline has three chapters"})
	if err != nil {
		t.Fatal(err)
	}
	in := client.CreateInput{
		Intent:  "write the report",
		Content: client.Content{State: strings.Repeat("The outline is ready. ", 20), Data: []byte(`{ "b":1.50, "a":[ 1 ] }`), Memory: []client.MemoryAsk{{ID: item.ID}, {ID: "mem_00000000000000000000000000"}}},
		Send:    &client.SendInput{To: []string{"writer"}, Pack: client.Pack{Tokens: 600}},
	}
	keyed := client.WithKey(ctx, "once")
	sent, err := planner.CreateTask(keyed, in)
	if err != nil || sent.Sealed == nil {
		t.Fatalf("%+v, %v", sent, err)
	}
	told := *sent.Sealed
	if told.Version == "" || told.Tokens == 0 || told.Budget != 600 || told.Completeness != 0.5 || len(told.References) != 1 || told.Uncounted != "" {
		t.Errorf("the sender is told %+v", told)
	}
	again, err := planner.CreateTask(keyed, in)
	if err != nil || !again.Repeat || again.Sealed == nil || again.Sealed.Tokens != told.Tokens {
		t.Errorf("and when it calls again %+v, %v", again.Sealed, err)
	}
	got, err := writer.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	if tokens, completeness := packing(t, got); tokens != told.Tokens || completeness != told.Completeness {
		t.Errorf("the receiver got %d tokens, %v complete; the sender was told %+v", tokens, completeness, told)
	}
}

func TestASenderIsToldWhyTokensAreNotCounted(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	h.agent("writer")
	ctx := t.Context()
	for name, c := range map[string]struct {
		in        client.CreateInput
		uncounted string
		estimate  bool
	}{
		"no receiver yet":  {in: client.CreateInput{Intent: "x"}, uncounted: "no receiver is known yet"},
		"people":           {in: client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"human:operators"}}}, uncounted: "people"},
		"no limit":         {in: client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"writer"}}}},
		"no limit, long":   {in: client.CreateInput{Intent: "x", Content: client.Content{Data: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}, Send: &client.SendInput{To: []string{"writer"}}}, uncounted: "long"},
		"long, with limit": {in: client.CreateInput{Intent: "x", Content: client.Content{Data: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}, Send: &client.SendInput{To: []string{"writer"}, Pack: client.Pack{Tokens: 1000}}}},
		"of parts":         {in: client.CreateInput{Intent: "x", Start: true, Send: &client.SendInput{To: []string{"writer"}, Kind: client.Delegation}}, estimate: true},
	} {
		r, err := planner.CreateTask(ctx, c.in)
		if err != nil || r.Sealed == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		e := r.Sealed
		if (e.Tokens > 0) == (c.uncounted != "") || !strings.Contains(e.Uncounted, c.uncounted) || (e.Uncounted != "") != (c.uncounted != "") || e.Estimate != c.estimate {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Every call that seals an envelope for an agent says how many tokens it reads, where that is counted.
func TestWhoGivesATaskAwayIsToldHowManyTokensTheNextOwnerReads(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	h.agent("lead")
	ctx := t.Context()
	if _, err := h.as(h.admin).RegisterAgent(ctx, "planner", client.AgentSpec{Escalation: []string{"lead"}}); err != nil {
		t.Fatal(err)
	}
	for name, give := range map[string]func(own client.Receipt) (client.Receipt, error){
		"a takeover that is granted": func(own client.Receipt) (client.Receipt, error) {
			sent, err := planner.Send(ctx, own.Task, client.SendInput{Epoch: own.Epoch, To: []string{"writer"}})
			if err != nil {
				return sent, err
			}
			if _, err := writer.Reject(ctx, sent.Handoff, client.RejectInput{Reason: client.Refused}); err != nil {
				return sent, err
			}
			asked, err := writer.Takeover(ctx, own.Task, client.TakeoverInput{})
			if err != nil {
				return asked, err
			}
			return planner.Approve(ctx, asked.Takeover, client.ApproveInput{Epoch: own.Epoch})
		},
		"an escalation": func(own client.Receipt) (client.Receipt, error) {
			return planner.Escalate(ctx, own.Task, client.EscalateInput{Epoch: own.Epoch})
		},
	} {
		own, err := planner.CreateTask(ctx, client.CreateInput{Intent: "write the report", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		r, err := give(own)
		if err != nil || r.Sealed == nil || r.Sealed.Tokens == 0 || r.Sealed.Uncounted != "" {
			t.Errorf("%s: %+v, %v", name, r.Sealed, err)
		}
	}
}
