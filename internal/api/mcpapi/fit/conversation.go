package fit

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// Conversed is a turn that was added to a conversation, turns of it, or its condensed text.
type Conversed struct {
	ID    string `json:"id"`
	Turn  int    `json:"turn,omitempty"`
	Turns []Turn `json:"turns,omitempty"`
	Count int    `json:"count,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Turn is a turn of a conversation.
type Turn struct {
	N     int    `json:"n"`
	Agent string `json:"agent"`
	Role  string `json:"role"`
	Text  string `json:"text"`
}

// Turns answers with turns of a conversation, oldest first: the newest that fit. Of the newest, so many bytes are skipped; what is too long alone
// is cut.
func Turns(ctx context.Context, c *client.Client, v client.Conversation, skip int) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil {
		return tool.Answer{}, err
	}
	list := make([]Turn, len(v.Turns))
	for i, t := range v.Turns {
		list[i] = Turn{t.N, t.Agent, string(t.Role), t.Text}
	}
	page := func(list []Turn, cut int) tool.Answer {
		var b strings.Builder
		if n := len(list); n > 0 && n < len(v.Turns) && cut == 0 {
			fmt.Fprintf(&b, "Turns before %d are left out: the same call with before=%d shows them.\n", list[0].N, list[0].N)
		}
		for _, t := range list {
			fmt.Fprintf(&b, "%d %s (%s):\n%s\n", t.N, t.Agent, t.Role, show.Quoted(t.Text))
		}
		if cut > 0 {
			fmt.Fprintf(&b, "Not all of turn %d: the same call with before=%d and after=%d goes on.\n", list[0].N, list[0].N+1, cut)
		}
		return tool.Answer{Text: b.String(), Data: Conversed{ID: v.ID, Count: v.Count, Turns: list}}
	}
	if len(list) == 0 {
		return page(list, 0), nil
	}
	newest := &list[len(list)-1]
	if skip > 0 {
		if skip >= len(newest.Text) {
			return tool.Answer{}, argument.Invalid("after is %d, which is beyond the end of turn %d", skip, newest.N)
		}
		skip = runeStart(newest.Text, skip)
		newest.Text = newest.Text[skip:]
		list = list[len(list)-1:]
	}
	if from := sort.Search(len(list), func(from int) bool { return r.fits(page(list[from:], 0)) }); from < len(list) {
		return page(list[from:], 0), nil
	}
	cut := func(text string) tool.Answer {
		t := *newest
		t.Text = text
		return page([]Turn{t}, skip+len(text))
	}
	return cut(r.beginning(newest.Text, func(text string) bool { return r.fits(cut(text)) })), nil
}
