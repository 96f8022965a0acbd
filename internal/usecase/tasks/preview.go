package tasks

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
)

// PreviewInput names the receiver that an envelope would be packed for, and says how.
type PreviewInput struct {
	Task    string            `json:"task,omitempty" doc:"Id of the task."`
	To      string            `json:"to,omitempty" doc:"An agent, whose context window and tokenizer count. Left out: nobody in particular."`
	Content envelopes.Content `json:"content,omitzero"`
	Pack    event.Pack        `json:"pack,omitzero"`
}

// Preview is what a receiver would get.
type Preview struct {
	Version  string          `json:"version"` // of the envelope's schema
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt" doc:"As its receiver reads it before it accepts: where the prompt of the owner names calls, it says: once you accept. What is previewed is not sealed, so nothing of it can be fetched."`

	Tokens       int     `json:"tokens" doc:"What the prompt of the owner has, with its calls, as the tokenizer counts."`
	Budget       int     `json:"budget,omitempty" doc:"The most tokens that the prompt may have; omitted: no limit."`
	Tokenizer    string  `json:"tokenizer"`
	Estimate     bool    `json:"estimate,omitempty" doc:"Tokens is an upper bound: the tokenizer is not built in, or the prompt has a line of blanks. Omitted if tokens is exact."`
	Utilisation  float64 `json:"utilisation,omitempty" doc:"Tokens divided by budget, 0 to 1."`
	Completeness float64 `json:"completeness" doc:"References resolved by references requested, 0 to 1; 1 if there are none."`

	Stop string `json:"stop,omitempty" doc:"What would stop a handoff now, as far as it is known: a limit that is reached, a circuit that is open, a right that you lack. Omitted: nothing that is known."`
}

// Preview assembles and packs the next envelope of a task as a handoff would, and seals nothing. It is for a caller who could
// hand the task off, and is recorded as a read.
func (ts *Tasks) Preview(ctx context.Context, c caller.Caller, in PreviewInput) (Preview, error) {
	p, err := ts.preview(ctx, c, in)
	if err != nil {
		return Preview{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "preview", in.Task, err)
	}
	return p, nil
}

func (ts *Tasks) preview(ctx context.Context, c caller.Caller, in PreviewInput) (Preview, error) {
	if err := envelopes.CheckPack(in.Pack); err != nil {
		return Preview{}, err
	}
	if err := in.Content.Check(); err != nil {
		return Preview{}, err
	}
	t, err := ts.store.For(ctx, c, in.Task)
	if err != nil {
		return Preview{}, err
	}
	if t.Source() != c.Agent() && t.Source() != c.String() && !identity.May(c.Role, identity.ActAny) {
		return Preview{}, refusal.New(refusal.NotOwner, "only who could hand the task off may preview its envelope", "task %s is not yours", t.ID)
	}
	if err := ts.access.Read(ctx, c.Workspace, c.Actor(), t.ID, "preview", t.Envelope); err != nil {
		return Preview{}, err
	}
	var to agent.Spec
	var receivers []string
	if in.To != "" {
		s, err := ts.agentStore.Find(ctx, c.Workspace, in.To, true)
		if err != nil {
			return Preview{}, err
		}
		if !s.Exists() {
			return Preview{}, ts.agentStore.Unknown(ctx, c.Workspace, in.To)
		}
		to, receivers = s.Spec, []string{s.Name}
	}
	leave, err := ts.work.Enter(ctx, c)
	if err != nil {
		return Preview{}, err
	}
	defer leave()
	return ts.previewFor(ctx, c, t.Task, to, receivers, in)
}

func (ts *Tasks) previewFor(ctx context.Context, c caller.Caller, t task.Task, to agent.Spec, receivers []string, in PreviewInput) (Preview, error) {
	h := envelope.Header{
		From: event.Bare(t.Source()), By: envelopes.AskedBy(c, "", t), To: receivers, Reason: event.ReasonUserRequest, Kind: event.Warm,
		HandoffID: t.NextHandoffID(), TimeoutSeconds: envelopes.Seconds(t.Times.Ack),
	}
	doc, err := ts.sealer.Draft(ctx, c, t, h, in.Content, ts.now().UTC())
	if err != nil {
		return Preview{}, err
	}
	if err := envelopes.CheckPins(doc, in.Pack); err != nil {
		return Preview{}, err
	}
	packed, err := envelopes.Pack(doc, in.Pack, to)
	if err != nil {
		return Preview{}, err
	}
	how := packed.Envelope.Packing
	p := Preview{
		Version: packed.Envelope.Version, Prompt: envelope.RenderVia(packed.Envelope, fetchcall.Offered), Tokens: how.Tokens, Budget: how.Budget, Tokenizer: how.Tokenizer,
		Estimate: how.Estimate, Utilisation: how.Utilisation, Completeness: how.Completeness,
	}
	if p.Stop, err = ts.handoffs.Foresee(ctx, c, t, in.To, in.Content, ts.now().UTC()); err != nil {
		return Preview{}, err
	}
	p.Envelope, err = envelope.RenderJSON(packed.Envelope)
	return p, err
}
