package fit

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// Recalled is memory items, or versions of one.
type Recalled struct {
	Items    []show.Memory          `json:"items"`
	Versions []client.MemoryVersion `json:"versions,omitempty"`
	Next     uint64                 `json:"next,omitempty"`
}

// Item answers with a memory item from a byte of its text on.
func Item(ctx context.Context, c *client.Client, m client.MemoryItem, after uint64) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil {
		return tool.Answer{}, err
	}
	if after > 0 && after >= uint64(len(m.Text)) {
		return tool.Answer{}, argument.Invalid("after is %d, which is beyond the end of %s", after, m.ID)
	}
	from := runeStart(m.Text, int(after))
	page := func(text string) tool.Answer {
		part := m
		part.Text = text
		a := tool.Answer{Text: show.MemoryText(part)}
		next := uint64(0)
		if end := from + len(text); end < len(m.Text) {
			next = uint64(end)
			a.Text += fmt.Sprintf("\nNot all: the same call with after=%d goes on; bytes left: %d.", end, len(m.Text)-end)
		}
		a.Data = Recalled{Items: []show.Memory{show.MemoryOf(part)}, Next: next}
		return a
	}
	return page(r.beginning(m.Text[from:], func(text string) bool { return r.fits(page(text)) })), nil
}

// Versions answers with versions of a memory item, oldest first, as many as fit. One that is too long alone is cut.
func Versions(ctx context.Context, c *client.Client, v client.MemoryVersions) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil {
		return tool.Answer{}, err
	}
	page := func(list []client.MemoryVersion, cut bool) tool.Answer {
		var b strings.Builder
		fmt.Fprintf(&b, "%s has %d versions.\n", v.ID, v.Count)
		for _, x := range list {
			fmt.Fprintf(&b, "%d, by %s at %s: %s\n%s\n", x.Version, x.By, x.At.UTC().Format(time.RFC3339), show.Line(x.Title), show.Quoted(x.Text))
		}
		out := Recalled{Items: []show.Memory{}, Versions: list}
		if cut {
			fmt.Fprintf(&b, "Not all of version %d: read it by id and version.\n", list[0].Version)
		}
		if len(list) < len(v.Versions) {
			out.Next = uint64(list[len(list)-1].Version)
			fmt.Fprintf(&b, "There are more: call again with after=%d.", out.Next)
		}
		return tool.Answer{Text: b.String(), Data: out}
	}
	most := len(v.Versions)
	if n := most - sort.Search(most, func(left int) bool { return left == most || r.fits(page(v.Versions[:most-left], false)) }); n > 0 || most == 0 {
		return page(v.Versions[:n], false), nil
	}
	cut := func(text string) tool.Answer {
		first := v.Versions[0]
		first.Text = text
		return page([]client.MemoryVersion{first}, true)
	}
	return cut(r.beginning(v.Versions[0].Text, func(text string) bool { return r.fits(cut(text)) })), nil
}
