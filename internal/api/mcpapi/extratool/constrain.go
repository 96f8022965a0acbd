package extratool

import (
	"context"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type constrainInput struct {
	Task       string               `json:"task"`
	Constraint string               `json:"constraint,omitempty" jsonschema:"KIND:TEXT, or KIND!:TEXT for a hard one; KIND: {constraint kinds}"`
	ID         string               `json:"id,omitempty" jsonschema:"of the constraint; the same id tightens it"`
	Max        argument.Number      `json:"max,omitzero" jsonschema:"largest value allowed, such as 5"`
	Allow      argument.Restriction `json:"allow,omitempty" jsonschema:"values allowed; none: nothing; empty: anything"`
	Lift       string               `json:"lift,omitempty" jsonschema:"instead: id of a constraint to remove, which you set"`
	Tightened  string               `json:"tightened_by,omitempty" jsonschema:"with lift: remove only what this agent tightened of it"`
	Tokens     int64                `json:"tokens,omitempty" jsonschema:"instead: a larger token budget of the task"`
	Cost       int64                `json:"cost,omitempty" jsonschema:"the same in millionths of the currency"`
	Why        string               `json:"why,omitempty" jsonschema:"with lift, tokens or cost"`
	Epoch      uint64               `json:"epoch,omitempty"`
	Key        string               `json:"key,omitempty"`
}

var constrainTool = tool.Define[constrainInput, tool.Receipt]("constrain", "Constrain a task", tool.Destroys,
	"Add a constraint to a task, or tighten one; every later owner is bound by it. Or lift one that you set, or raise its budget.",
	func(ctx context.Context, c *tool.Call, in constrainInput) (tool.Answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		switch {
		case in.Tokens+in.Cost != 0 && (in.Constraint+in.Lift+in.ID != "" || in.Max.Value != nil || len(in.Allow) > 0):
			return tool.Answer{}, argument.Invalid("tokens and cost take no other argument than why")
		case in.Tokens+in.Cost != 0:
			r, err := c.RaiseBudget(ctx, in.Task, client.RaiseBudgetInput{Budget: client.Spend{Tokens: in.Tokens, Cost: in.Cost}, Why: in.Why})
			return tool.Changed(r, err, "The budget was raised.", "")
		case in.Tightened != "" && in.Lift == "":
			return tool.Answer{}, argument.Invalid("tightened_by needs lift, the id of the constraint")
		case (in.Constraint == "") == (in.Lift == ""):
			return tool.Answer{}, c.Invalid("{constrain} needs constraint, lift (the id of one) or tokens")
		case in.Lift != "" && (in.ID != "" || in.Max.Value != nil || len(in.Allow) > 0):
			return tool.Answer{}, argument.Invalid("lift takes no other argument than why: omit id, max and allow")
		case in.Tightened != "":
			r, err := c.LiftTightening(ctx, in.Task, in.Lift, in.Tightened, in.Why)
			return tool.Changed(r, err, "What "+in.Tightened+" tightened of the constraint was lifted.", "")
		case in.Lift != "":
			r, err := c.Lift(ctx, in.Task, in.Lift, in.Why)
			return tool.Changed(r, err, "The constraint was lifted.", "")
		}
		list, err := argument.Constraints([]string{in.Constraint})
		if err != nil {
			return tool.Answer{}, argument.Invalid("constraint: %s", err)
		}
		k := list[0]
		if in.ID != "" {
			k.ID = in.ID
		}
		k.Max, k.Allow = in.Max.Value, in.Allow.Values()
		epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
		if err != nil {
			return tool.Answer{}, err
		}
		r, err := c.Constrain(ctx, in.Task, client.ConstrainInput{Epoch: epoch, Constraint: k})
		return tool.Changed(r, err, "The task has the constraint "+k.ID+".", "")
	})
