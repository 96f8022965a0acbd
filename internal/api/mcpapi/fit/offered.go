package fit

import (
	"context"
	"sort"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// usualItems is how many items of an inbox fit a page of [Usual] tokens.
const usualItems = 10

// Inbox reads an inbox with what wait does, and returns as many items as fit. Since the timeout of an offer begins when it is read, it looks
// first, without consequence, and then reads no more than it returns.
func Inbox(ctx context.Context, c *client.Client, o client.InboxOptions, wait func(client.InboxOptions) (client.Inbox, error), write func(client.Inbox) tool.Answer) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil {
		return tool.Answer{}, err
	}
	if r.window == 0 || r.most == Usual && o.Limit <= usualItems {
		box, err := wait(o)
		return write(box), err
	}
	look := o
	look.Peek, look.See = true, false
	box, err := wait(look)
	if err != nil || len(box.Items) == 0 {
		return write(box), err
	}
	all := box.Items
	o.Wait, o.Limit = 0, max(1, sort.Search(len(all), func(n int) bool {
		box.Items = all[:n+1]
		return !r.fits(write(box))
	}))
	box, err = c.Inbox(ctx, o)
	for err == nil && len(box.Items) > 1 && !r.fits(write(box)) { // others came in between
		box.Items, box.Cursor = box.Items[:len(box.Items)-1], o.After // what is left out here comes again
	}
	return write(box), err
}
