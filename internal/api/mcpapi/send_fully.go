package mcpapi

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// handedFully has the arguments of a handoff that only the clients of the set all have.
type handedFully struct {
	Retries    argument.Number `json:"retries,omitzero" set:"all" jsonschema:"how often to offer again to a receiver that does not answer; default 3"`
	ReturnHome bool            `json:"return_home,omitempty" set:"all" jsonschema:"if no receiver is left the task returns to you, not to the dead letters"`
	Strategy   string          `json:"strategy,omitempty" set:"all" values:"strategies" jsonschema:"what to include if the content does not fit; default priority"`
	Pins       argument.List   `json:"pins,omitempty" set:"all" jsonschema:"parts to keep before others: fact:ID, decision:ID, memory:ID, artifact:DIGEST, step:N, data, summary (of the conversation)"`
}

func (f handedFully) empty() bool {
	return f.Retries.Value == nil && !f.ReturnHome && f.Strategy == "" && len(f.Pins) == 0
}

// taskFully has the arguments of a new task, or of a handoff of one, that only the clients of the set all have.
type taskFully struct {
	Permissions  argument.Restriction `json:"permissions,omitzero" set:"all" jsonschema:"restrict later owners to these; none: no permissions; empty or omitted: not restricted further"`
	BudgetTokens int64                `json:"budget_tokens,omitempty" set:"all" jsonschema:"tokens that the new task may use; with delegation or fan_out of a task: each child"`
	BudgetCost   int64                `json:"budget_cost,omitempty" set:"all" jsonschema:"the same in millionths of the currency"`
	Format       string               `json:"format,omitempty" set:"all" jsonschema:"format of the result, such as markdown"`
	MaxBytes     int                  `json:"max_bytes,omitempty" set:"all" jsonschema:"maximum size of the result"`
	Offer        argument.Duration    `json:"offer_timeout,omitzero" set:"all" jsonschema:"how long an offer may stay unseen; default 10m"`
	Ack          argument.Duration    `json:"ack_timeout,omitzero" set:"all" jsonschema:"how long a receiver may take to answer an offer that it has seen; default 15s"`
	Approval     argument.Duration    `json:"approval_timeout,omitzero" set:"all" jsonschema:"default 24h"`
	Answer       argument.Duration    `json:"answer_timeout,omitzero" set:"all" jsonschema:"how long people may take to answer; default 24h"`
	Confirmation argument.Duration    `json:"confirm_timeout,omitzero" set:"all" jsonschema:"default 1m"`
	Lease        argument.Duration    `json:"lease,omitzero" set:"all" jsonschema:"how long an owner may go without a heartbeat; default 30m"`
	Progress     argument.Duration    `json:"progress_timeout,omitzero" set:"all" jsonschema:"how long an owner may go without progress; default: no limit"`
	Wait         argument.Duration    `json:"wait_timeout,omitzero" set:"all" jsonschema:"how long to wait for children; default: no limit"`
}

func (f taskFully) timeouts() client.Timeouts {
	return client.Timeouts{
		Offer: client.Duration(f.Offer), Ack: client.Duration(f.Ack), Approval: client.Duration(f.Approval), Answer: client.Duration(f.Answer),
		Confirm: client.Duration(f.Confirmation), Lease: client.Duration(f.Lease), Progress: client.Duration(f.Progress), Wait: client.Duration(f.Wait),
	}
}

func (f taskFully) budget() client.Spend {
	return client.Spend{Tokens: f.BudgetTokens, Cost: f.BudgetCost}
}

func (f taskFully) empty() bool {
	return f.Permissions == nil && f.budget() == (client.Spend{}) && f.Format == "" && f.MaxBytes == 0 && f.timeouts() == (client.Timeouts{})
}

// freshFully has the arguments of a new task that only the clients of the set all have.
type freshFully struct {
	Route        argument.List `json:"route,omitempty" set:"all" jsonschema:"agents that the new task visits in turn"`
	Subject      string        `json:"subject,omitempty" set:"all" jsonschema:"whom or what it is about, such as patient/4711, to erase it by"`
	Dependencies argument.List `json:"dependencies,omitempty" set:"all" jsonschema:"ids of tasks that must complete first; then it goes along route, or to the one agent in to"`
	Hops         int           `json:"limit_hops,omitempty" set:"all" jsonschema:"maximum number of changes of owner; default 10"`
	Handoffs     int           `json:"limit_handoffs,omitempty" set:"all" jsonschema:"default 30"`
	Visits       int           `json:"limit_visits,omitempty" set:"all" jsonschema:"how often one agent may own it; default 5"`
	Escalations  int           `json:"limit_escalations,omitempty" set:"all" jsonschema:"default 5"`
	Attempts     int           `json:"limit_attempts,omitempty" set:"all" jsonschema:"recoveries from a lost owner; default 3"`
	Tasks        int           `json:"limit_tasks,omitempty" set:"all" jsonschema:"descendants of all generations; default 1000"`
}

func (f freshFully) limits() client.Limits {
	return client.Limits{Hops: f.Hops, Handoffs: f.Handoffs, Visits: f.Visits, Escalations: f.Escalations, Attempts: f.Attempts, Tasks: f.Tasks}
}

func (f freshFully) empty() bool {
	return f.Subject == "" && len(f.Route) == 0 && len(f.Dependencies) == 0 && f.limits() == (client.Limits{})
}

// later creates a task that waits for others, and then goes along its route; one agent in to is a route of one.
func (c *call) later(ctx context.Context, in sendInput, send client.SendInput) (answer, error) {
	if len(in.To) > 1 || in.Capability != "" || in.Channel != "" || len(in.To) > 0 && len(in.Route) > 0 || in.handsOff() {
		return answer{}, argument.Invalid("a task with dependencies is handed off later, along route or to one agent in to: omit kind, capability, channel and the like")
	}
	task, err := in.create(send)
	if err != nil {
		return answer{}, err
	}
	if len(in.To) == 1 {
		task.Route = in.To
	}
	task.Content = send.Content
	r, err := c.CreateTask(ctx, task)
	return tool.Changed(r, err, "The task was created; it waits for others to complete.", "")
}
