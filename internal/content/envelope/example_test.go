package envelope_test

import (
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// full is a document with every part filled in.
func full() envelope.Envelope {
	e := fullOf10()
	e.KeyFacts[0].Pinned, e.KeyFacts[1].Importance = true, 0.75
	e.Decisions[0].Reasoning = "The earlier one started the plan."
	e.History = append(e.History, envelope.Step{Agent: "support-tier1", Action: "Looked up the customer", Tool: "crm.search"})
	e.Memory = []envelope.MemoryRef{
		{
			ID: "m1", Version: 2, Digest: e.Parent, Title: "Refund policy", Author: "agent/legal", Text: "Within 14 days.", Tokens: 21,
			Weight: envelope.Weight{Pinned: true, Importance: 1},
		},
		{ID: "m2", Version: 1, Title: "Annual plans", Tokens: 350},
	}
	e.Artifacts = []envelope.Artifact{{Digest: e.Parent, Name: "refund form.pdf", MediaType: "application/pdf", Bytes: 48213}}
	e.Conversation = []envelope.Turn{{Time: e.CreatedAt, Agent: "c-5512", Role: "user", Text: "I was charged twice!"}, {Agent: "triage", Text: "I see."}}
	e.Omissions = []envelope.Omission{
		{Kind: envelope.PartMemory, ID: "m2", Tokens: 350, Reason: envelope.OnDemand},
		{Kind: envelope.PartFact, ID: "f9", Tokens: 12, Reason: envelope.OverBudget, Pinned: true},
		{Kind: envelope.PartStep, Count: 40, Tokens: 1200, Reason: envelope.ToolCall},
	}
	e.Gaps = []envelope.Gap{{Kind: envelope.PartMemory, ID: "m3", Reason: envelope.GapForgotten}}
	e.Packing = envelope.Packing{
		Strategy: event.StrategyPriority, Budget: 1000, Tokens: 900, Tokenizer: "o200k_base",
		Utilisation: 0.9, Completeness: 0.75, Listing: envelope.ListEach,
	}
	return e
}

// fullOf10 has every part that version 1.0 had.
func fullOf10() envelope.Envelope {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_000, time.UTC)
	confidence, limit := 0.55, 12000.0
	return envelope.Envelope{
		Parent:    "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		CreatedAt: at,
		ExpiresAt: at.Add(time.Hour),
		Priority:  "high",
		Hops:      2,
		Trace:     envelope.Trace{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "a=1"},
		Handoff: envelope.Header{
			TaskID: "case-88123", HandoffID: "h-20418", From: "support-tier1", To: []string{"billing", "billing-2"},
			Reason: "escalation", Detail: "The amount is above the tier-1 limit.", Kind: "warm", TimeoutSeconds: 30,
			Permissions: []string{"refunds:read", "refunds:write"}, Dependencies: []string{"case-88001"},
			Notes: "The customer calls back at 15:00.",
		},
		Task: envelope.Task{
			Intent: "I was charged twice for the annual plan and want the second charge back before Friday.",
			State:  "Identity verified. Refund form opened, not sent.",
			Ask:    "Approve and send the refund of charge 4411.",
			Data:   json.RawMessage(`{"customer":"c-5512", "charges":[4410,4411], "currency":"EUR", "total":238.00}`),
		},
		ConversationSummary: "Calm. Asked twice whether the plan stays active.",
		KeyFacts: []envelope.Item{
			{ID: "f1", Text: "Charges 4410 and 4411 are 38 seconds apart."},
			{ID: "f2", Text: "Both are 119.00 EUR — “<script>” & co.\u2028", Supersedes: "f0"},
		},
		Decisions:     []envelope.Item{{ID: "d1", Text: "Refund the later charge, 4411."}},
		OpenQuestions: []string{"Does the plan stay active?"},
		Confidence:    &confidence,
		History: []envelope.Step{
			{Time: at, Agent: "triage", Action: "Found both charges", Detail: "Searched by card, because the e-mail differs."},
			{Agent: "support-tier1", Action: "Verified the customer's identity"},
		},
		Constraints: []envelope.Constraint{
			{ID: "c1", Kind: event.ConstraintProhibition, Text: "Do not cancel the plan.", Hard: true, Origin: "agent/triage"},
			{ID: "c2", Kind: event.ConstraintBudget, Text: "Cents that may be refunded.", Hard: true, Origin: "admin/owner", Max: &limit},
			{ID: "c3", Kind: event.ConstraintSecurity, Text: "Systems to be used.", Allow: []string{"billing", "crm"}},
		},
		ExpectedOutput: envelope.Expected{
			Format: "json", MaxBytes: 2000, Criteria: []string{"Names the refund's number."},
			Schema: json.RawMessage(`{"type":"object","required":["refund"]}`),
		},
	}
}

func minimal() envelope.Envelope {
	return envelope.Envelope{
		Handoff: envelope.Header{TaskID: "t1", From: "alice"},
		Task:    envelope.Task{Intent: "Say hello."},
	}
}

var salt = []byte("0123456789abcdef")
