package client

import "context"

// AnswerInput answers a question.
type AnswerInput struct {
	Answer string `json:"answer"`
	Detail string `json:"detail,omitempty"`
}

// Answer answers a question. The task's owner goes on with it.
func (c *Client) Answer(ctx context.Context, ticket string, in AnswerInput) (Receipt, error) {
	return c.receipt(ctx, in, "tickets", ticket, "answer")
}
