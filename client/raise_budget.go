package client

import "context"

// RaiseBudgetInput raises the budget of a task that has not ended.
type RaiseBudgetInput struct {
	Budget Spend  `json:"budget"` // the new amounts; zero: as it is
	Why    string `json:"why,omitempty"`
}

// RaiseBudget raises the budget of a task that has not ended: as its requester, as the owner of its parent, of whose budget the
// difference is reserved, or as an operator.
func (c *Client) RaiseBudget(ctx context.Context, task string, in RaiseBudgetInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "budget")
}
