package httpapi_test

import (
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// An order that the tickets of a list do not have is refused, and so is one that there is not.
func TestAnOrderThatTicketsDoNotHaveIsRefused(t *testing.T) {
	h := open(t, httpapi.Options{})
	c := h.as(h.admin)
	for _, f := range []client.TicketFilter{
		{Order: "due", All: true}, {Order: "due", State: "closed"}, {Order: "closed"}, {Order: "closed", State: "open"}, {Order: "closed", All: true}, {Order: "newest"},
	} {
		var refused *client.Error
		if _, err := c.Tickets(t.Context(), f); !errors.As(err, &refused) || refused.Code != client.Invalid || refused.Hint == "" {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for _, f := range []client.TicketFilter{{Order: "due"}, {Order: "due", State: "claimed"}, {Order: "closed", State: "closed"}, {Order: "opened", All: true}} {
		if _, err := c.Tickets(t.Context(), f); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
