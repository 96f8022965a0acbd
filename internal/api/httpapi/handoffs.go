package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func (s *service) handoffs() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/handoffs/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagHandoffs}
	}
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/handoffs/{id}", ID: "show-handoff", Summary: "Show a handoff", About: "The read is recorded.", Tag: endpoint.TagHandoffs}, s.showHandoff)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/handoffs/{id}/document", ID: "handoff-document", Tag: endpoint.TagHandoffs, Summary: "Read all that is recorded of a handoff",
		About: "The handoff as it ended, or as it is now, with its envelope, the priority, permissions and dependencies of the task, and its trail. The read is recorded.",
	}, s.handoffDocument)
	accept := post("accept", "Accept an offer")
	accept.About = "With automatic confirmation the caller owns the task when this call returns, and the answer has its content."
	endpoint.Change(s.router, accept, endpoint.Under(func(in *tasks.AcceptInput) *string { return &in.Handoff }, s.app.Tasks.Accept))
	endpoint.Change(s.router, post("reject", "Reject an offer"), endpoint.Under(func(in *tasks.RejectInput) *string { return &in.Handoff }, s.app.Tasks.Reject))
	endpoint.Change(s.router, post("confirm", "Confirm an accepted handoff: the receiver becomes the owner"), endpoint.Under(func(in *tasks.ConfirmInput) *string { return &in.Handoff }, s.app.Tasks.Confirm))
	endpoint.Change(s.router, post("withdraw", "Withdraw a handoff that is not complete"), checked(wellFormed(event.ParseHandoffID), endpoint.Under(func(in *tasks.CancelInput) *string { return &in.ID }, s.app.Tasks.Cancel)))
	s.verdicts("handoffs", "handoff", event.ParseHandoffID)
	s.verdicts("asks", "ask", event.ParseTakeoverID)
}

// verdicts adds approve and deny, for supervised handoffs and for takeover requests (asks).
func (s *service) verdicts(of, name string, parse func(string) (string, int, error)) {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/" + of + "/{id}/" + verb, ID: verb + "-" + name, Summary: summary, Tag: endpoint.TagHandoffs}
	}
	summaries := map[string][2]string{
		"handoff": {"Approve a supervised handoff", "Deny a supervised handoff"},
		"ask":     {"Approve a takeover: hand the task to the agent that asked for it", "Deny a takeover: keep the task"},
	}[name]
	endpoint.Change(s.router, post("approve", summaries[0]), checked(wellFormed(parse), endpoint.Under(func(in *tasks.ApproveInput) *string { return &in.ID }, s.app.Tasks.Approve)))
	endpoint.Change(s.router, post("deny", summaries[1]), checked(wellFormed(parse), endpoint.Under(func(in *tasks.DenyInput) *string { return &in.ID }, s.app.Tasks.Deny)))
}

func (s *service) showHandoff(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (Handoff, error) {
	task, n, err := event.ParseHandoffID(in.ID)
	if err != nil {
		return Handoff{}, err
	}
	t, err := s.app.Tasks.Show(ctx, c, task)
	if err != nil {
		return Handoff{}, err
	}
	if t.Handoff != nil && t.Handoff.N == n {
		h := handoffOf(t.ID, t.Handoff)
		h.Decision = t.Handoff.Decision
		return h, nil
	}
	r, err := s.app.History.Document(ctx, c, in.ID)
	return handoffIn(r), err
}

// handoffIn is the handoff that a record is of.
func handoffIn(r view.Record) Handoff {
	if r.Parts == nil {
		return Handoff{}
	}
	h := handoffOf(r.Task, &r.Parts.Handoff)
	h.Decision, h.To = r.Parts.Decision, r.Parts.To
	return h
}

// HandoffDocument is all that is recorded of a handoff.
type HandoffDocument struct {
	Handoff
	Priority     event.Priority    `json:"priority"`
	Timeout      int               `json:"timeout_seconds" doc:"How long a receiver that has seen the offer may take to answer it."`
	Dependencies []string          `json:"dependencies" doc:"Ids of the tasks that had to complete first."`
	Context      json.RawMessage   `json:"task_context,omitempty" doc:"Its envelope. Omitted if the caller may not read it."`
	Given        string            `json:"given,omitempty" doc:"Digest of what was packed of its envelope for the receiver of the newest offer."`
	Entries      []view.AuditEntry `json:"audit_entries" doc:"What happened, from the request to its end."`
}

func (s *service) handoffDocument(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (HandoffDocument, error) {
	r, err := s.app.History.Document(ctx, c, in.ID)
	if err != nil {
		return HandoffDocument{}, err
	}
	out := HandoffDocument{
		Handoff: handoffIn(r), Priority: r.Parts.Priority, Timeout: envelopes.Seconds(r.Parts.Handoff.Times.Ack),
		Dependencies: r.Parts.Dependencies, Context: r.Parts.Context, Given: r.Parts.Handoff.Rendition, Entries: r.Entries,
	}
	out.Permissions = r.Parts.Permissions
	if out.Dependencies == nil {
		out.Dependencies = []string{}
	}
	return out, nil
}

// Handoff is one attempt to hand a task off.
type Handoff struct {
	ID           string            `json:"id"`
	Task         string            `json:"task"`
	Stage        event.Stage       `json:"stage"`
	Kind         event.Kind        `json:"kind,omitempty"`
	Claim        bool              `json:"claim,omitempty" doc:"Offered to all candidates at once; the first to accept becomes the owner."`
	From         string            `json:"from"`
	By           string            `json:"by,omitempty" doc:"The principal that requested the handoff."`
	Recovery     bool              `json:"recovery,omitempty"`
	Reason       event.Reason      `json:"reason"`
	Detail       string            `json:"detail,omitempty"`
	Capability   string            `json:"capability,omitempty"`
	Channel      string            `json:"channel,omitempty" doc:"Channel that the task was published to."`
	Confirm      event.ConfirmMode `json:"confirm,omitempty"`
	Timeouts     event.Timeouts    `json:"timeouts,omitzero"`
	Retries      int               `json:"retries,omitempty"`
	ReturnHome   bool              `json:"return_home,omitempty"`
	Approver     string            `json:"approver,omitempty"`
	Envelope     string            `json:"envelope,omitempty" doc:"Digest of its envelope."`
	Permissions  []string          `json:"permissions,omitzero"`
	Requested    time.Time         `json:"requested"`
	Candidates   []event.Candidate `json:"candidates,omitempty"`
	Offer        int               `json:"offer,omitempty" doc:"Number of the newest offer."`
	To           []string          `json:"to,omitempty" doc:"Receivers of the open offer. In the document of a handoff: who accepted, or has or had the newest offer, or will get the first."`
	SeenBy       []string          `json:"seen_by,omitempty"`
	OfferEnds    time.Time         `json:"offer_ends,omitzero"`
	AckEnds      time.Time         `json:"ack_ends,omitzero"`
	RetryAt      time.Time         `json:"retry_at,omitzero"`
	ApprovalEnds time.Time         `json:"approval_ends,omitzero"`
	ConfirmEnds  time.Time         `json:"confirm_ends,omitzero"`
	Receiver     string            `json:"receiver,omitempty" doc:"Agent that accepted."`
	Why          string            `json:"why,omitempty" doc:"How it ended."`
	Ended        time.Time         `json:"ended,omitzero"`
	Decision     *event.Decision   `json:"decision,omitempty" doc:"Decision of the policy, for a handoff to auto. Only in the answer for a single handoff."`
}

func handoffOf(task string, h *task.Handoff) Handoff {
	return Handoff{
		ID: h.ID(task), Task: task, Stage: h.Stage, Kind: h.Kind, Claim: h.Claim, From: h.From, By: h.By, Recovery: h.Recovery,
		Reason: h.Reason, Detail: h.Detail, Capability: h.Capability, Channel: h.Channel, Confirm: h.Confirm, Timeouts: h.Times, Retries: h.Retries,
		ReturnHome: h.ReturnHome, Approver: h.Approver, Envelope: h.Envelope, Permissions: h.Permits, Requested: h.Requested,
		Candidates: h.Candidates, Offer: h.Offer, To: h.To, SeenBy: h.SeenBy, OfferEnds: h.OfferEnds, AckEnds: h.AckEnds,
		RetryAt: h.RetryAt, ApprovalEnds: h.ApprovalEnds, ConfirmEnds: h.ConfirmEnds, Receiver: h.Receiver, Why: h.Why, Ended: h.Ended,
	}
}
