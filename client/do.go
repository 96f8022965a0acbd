package client

import (
	"context"
	"net/http"
)

// DoInput is a sentence that says what is to be done.
type DoInput struct {
	Text    string `json:"text"`              // such as: hand this off to billing because it needs a refund
	Task    string `json:"task,omitempty"`    // that "this" means; left out: the only one that it can be
	Confirm string `json:"confirm,omitempty"` // of what was understood; what changes anything is done only with it
}

// Understood is what a sentence was understood to say.
type Understood struct {
	Sentence   string `json:"sentence"` // the same in one fixed form of words
	Intent     string `json:"intent"`   // handoff, escalate, takeover, history, share, specialist, stuck or active
	Agent      string `json:"agent,omitempty"`
	Task       string `json:"task,omitempty"`
	Capability string `json:"capability,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// Done is what was understood, and what came of it.
type Done struct {
	Understood Understood `json:"understood"`
	Confirm    string     `json:"confirm,omitempty"` // nothing was done yet: send the same with this
	Receipt    *Receipt   `json:"receipt,omitempty"`
	Relief     *Relief    `json:"relief,omitempty"`   // for who said that an agent is stuck
	Trail      *Trail     `json:"trail,omitempty"`    // for who asked for the history
	Handoffs   []TaskRow  `json:"handoffs,omitempty"` // for who asked for those under way
	More       bool       `json:"more,omitempty"`     // there are more than are listed
}

// Do does what a sentence says. What it does not understand is refused with what can be said instead. What only looks is
// done at once; for anything else the answer has a Confirm, and it is done when the same call comes with that.
func (c *Client) Do(ctx context.Context, in DoInput) (Done, error) {
	return ask[Done](ctx, c, http.MethodPost, path("do"), nil, in)
}
