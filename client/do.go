package client

import (
	"context"
	"net/http"
)

// DoInput is a request in plain English.
type DoInput struct {
	Text    string `json:"text"`              // such as: hand this off to billing because it needs a refund
	Task    string `json:"task,omitempty"`    // that "this" means; left out: the only one that it can be
	Confirm string `json:"confirm,omitempty"` // from the answer to the same call without it; needed for anything but reads
}

// Understood is the meaning that a sentence was found to have.
type Understood struct {
	Sentence   string `json:"sentence"` // the same in one fixed form of words
	Intent     string `json:"intent"`   // handoff, escalate, takeover, history, share, specialist, stuck or active
	Agent      string `json:"agent,omitempty"`
	Task       string `json:"task,omitempty"`
	Capability string `json:"capability,omitempty"`
	Detail     string `json:"detail,omitempty"`
}

// Intents lists the values of [Understood].Intent.
func Intents() []string {
	return []string{"handoff", "escalate", "takeover", "history", "share", "specialist", "stuck", "active"}
}

// Done is the meaning of a sentence, and the result of doing it.
type Done struct {
	Understood Understood `json:"understood"`
	Confirm    string     `json:"confirm,omitempty"` // nothing was done yet: repeat the call with this
	Receipt    *Receipt   `json:"receipt,omitempty"`
	Relief     *Relief    `json:"relief,omitempty"`   // of a report that an agent is stuck
	Trail      *Trail     `json:"trail,omitempty"`    // of a request for the history
	Handoffs   []TaskRow  `json:"handoffs,omitempty"` // of a request for those under way
	More       bool       `json:"more,omitempty"`     // there are more than are listed
}

// Do does what a sentence says. A sentence that is not understood is refused, with examples. A request that only reads is done
// at once; for any other the answer has a Confirm, and it is done when the same call comes with that.
func (c *Client) Do(ctx context.Context, in DoInput) (Done, error) {
	return ask[Done](ctx, c, http.MethodPost, path("do"), nil, in)
}
