package fit

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// Found answers with the memory items of a search in excerpts, as many as fit. The others are named by their ids, as many as fit.
func Found(ctx context.Context, c *client.Client, list []client.MemoryItem, next uint64) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil {
		return tool.Answer{}, err
	}
	page := func(whole, named int) tool.Answer {
		out := Recalled{Items: []show.Memory{}, Next: next}
		var b strings.Builder
		for _, m := range list[:whole] {
			out.Items = append(out.Items, show.MemoryOf(m))
			b.WriteString(show.MemoryText(m) + "\n")
		}
		if len(list) == 0 {
			b.WriteString("Nothing found. Try fewer or other words.")
		}
		var ids []string
		for _, m := range list[whole : whole+named] {
			ids = append(ids, m.ID)
			out.Items = append(out.Items, show.Memory{ID: m.ID})
		}
		if len(ids) > 0 {
			fmt.Fprintf(&b, "Found, too: %s. The same tool with id reads one.\n", strings.Join(ids, ", "))
		}
		if n := len(list) - whole - named; n > 0 {
			fmt.Fprintf(&b, "Left out: %d more. Narrow the search to find them, or use a smaller limit.\n", n)
		}
		if next != 0 {
			fmt.Fprintf(&b, "There are more: call again with after=%d.", next)
		}
		return tool.Answer{Text: b.String(), Data: out}
	}
	if all := page(len(list), 0); r.fits(all) {
		return all, nil
	}
	// Ids first, in a quarter of the page at most; then as many excerpts as fit beside them.
	ids := sort.Search(len(list), func(n int) bool { return !r.reads(fmt.Sprint(page(0, n+1).Text), r.most/4) })
	whole := sort.Search(len(list), func(n int) bool { return !r.fits(page(n+1, min(ids, len(list)-n-1))) })
	return page(whole, min(ids, len(list)-whole)), nil
}
