package client

import (
	"context"
	"net/http"
)

// AcceptInput accepts an offer. Its zero value accepts the newest.
type AcceptInput struct {
	Offer  int  `json:"offer,omitempty"`
	Render bool `json:"render,omitempty"` // also give the envelope as a prompt
	Via    Via  `json:"via,omitempty"`    // with Render: how the reader came; empty: the HTTP API
}

// Accepted is a receipt and the content that comes with ownership. With an explicit confirm the content comes when the
// source has let go: Content is nil until then, and [Client.Content] gives it.
type Accepted struct {
	Receipt
	Content *Sheet `json:"content,omitempty"`
}

// Accept accepts an offer. With automatic confirm the caller owns the task when this returns, and has its content.
func (c *Client) Accept(ctx context.Context, handoff string, in AcceptInput) (Accepted, error) {
	return ask[Accepted](ctx, c, http.MethodPost, path("handoffs", handoff, "accept"), nil, in)
}
