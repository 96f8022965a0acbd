package fit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// short is the most bytes of a result, as text and as structured content, that is never too long.
const short = 600

// rest says which call has what is left out of the result of a tool.
var rest = map[string]string{
	"join":         "{send} with a capability finds an agent that is not listed.",
	"ask":          "{status} with the id of the ticket has all of it.",
	"route":        "{status} with the id of the task and history=true has the decision once it is made.",
	"remember":     "{recall} with the id of the item has its text.",
	"conversation": "The same call with a smaller bytes has less; without condensed it has the turns in pages.",
	"channel":      "{channel} with name shows one.",
	"dead":         "{status} with the id of a task shows why it is there.",
	"agent":        "{agent} with its name shows one; {status} shows tasks.",
	"alerts":       "{alerts} with action=show and alert shows one.",
	"do":           "{status} lists your tasks, and shows one by its id.",
}

// Bound keeps the result of a tool within half of the window that its reader is registered with, if there is one: of its text whole lines
// stay, of its structured content the beginnings of long strings and lists. The text says how much was left out, and which call has it. Results
// that come in pages of their own fit already. One that was packed for its reader may have all of the window.
func Bound(ctx context.Context, c *client.Client, set toolset.Set, name string, packed bool, result *mcp.CallToolResult) {
	if result == nil || len(result.Content) == 0 {
		return
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	data, err := json.Marshal(result.StructuredContent)
	if !ok || err != nil || len(text.Text) <= short && len(data) <= short {
		return
	}
	r, err := For(ctx, c)
	if err != nil || r.window == 0 { // the tool has done its work: better a long answer than none
		return
	}
	if packed {
		r.most = max(r.most, r.window)
	}
	how := set.Text(cmp.Or(rest[name], "{status} with the id of the task has the rest."))
	if result.IsError {
		how = "Fix what is named first and call again: what is wrong then is named."
	}
	if len(text.Text) > 4*bytesOfToken*r.most || !r.Reads(text.Text) {
		text.Text = r.lines(text.Text, func(kept, all int) string { return fmt.Sprintf("Left out: %d of %d bytes. %s", all-kept, all, how) })
	}
	if result.StructuredContent != nil && (len(data) > 4*bytesOfToken*r.most || !r.Reads(string(data))) {
		result.StructuredContent = r.data(data, how)
	}
}

// lines keeps the whole lines of a text with which it fits beside a note and its last line, if that says what to do next. Of a text with fenced
// blocks, or with a first line that is too long, it keeps the beginning in a fence of its own, so that no block is open at the end.
func (r Reader) lines(text string, note func(kept, all int) string) string {
	body, next := text, ""
	if i := strings.LastIndex(text, "\n") + 1; len(text)-i <= short && (strings.HasPrefix(text[i:], "Next: ") || strings.HasPrefix(text[i:], "What to do: ")) {
		body, next = text[:i], "\n"+text[i:]
	}
	if !strings.Contains(body, visible.Fence) {
		whole := func(begin string) string { return begin[:strings.LastIndex(begin, "\n")+1] }
		begin := whole(r.beginning(body, func(begin string) bool {
			begin = whole(begin)
			return r.Reads(begin + note(len(begin), len(body)) + next)
		}))
		if begin != "" {
			return begin + note(len(begin), len(body)) + next
		}
	}
	page := func(begin string) string {
		return visible.Fenced(begin, "") + "\n" + note(len(begin), len(body)) + next
	}
	return page(r.beginning(body, func(begin string) bool { return r.Reads(page(begin)) }))
}

// steps are the longest strings, in bytes, and the longest lists of structured content, the first of which fit is taken. Ids, and words of closed
// sets, are shorter than the shortest.
var steps = []struct{ text, list int }{
	{2000, 64}, {1000, 64}, {500, 64}, {250, 64}, {120, 64}, {250, 16}, {120, 16}, {250, 8}, {120, 8}, {250, 4}, {120, 4}, {120, 2}, {120, 1}, {80, 1}, {80, 0},
}

// data cuts the long strings and lists of a JSON value so that it fits. A string that is cut says so; a field next or hint, which says what to
// do, also says how to get what is left out.
func (r Reader) data(b []byte, how string) any {
	var all any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&all) != nil {
		return json.RawMessage(b)
	}
	var v any
	for _, most := range steps {
		v = cut(all, most.text, most.list)
		if top, ok := v.(map[string]any); ok {
			for _, name := range []string{"next", "hint"} {
				if next, ok := top[name].(string); ok {
					top[name] = next + ". Some is left out here. " + how
				}
			}
		}
		if b, err := json.Marshal(v); err == nil && len(b) <= 4*bytesOfToken*r.most && r.Reads(string(b)) {
			return v
		}
	}
	return v // only names and numbers are left
}

// mark ends a string that is cut.
const mark = "… (left out: the rest)"

// cut copies a JSON value with strings of at most so many bytes, and lists of at most so many elements.
func cut(v any, text, list int) any {
	switch v := v.(type) {
	case string:
		if len(v) > text {
			return v[:runeStart(v, text-len(mark))] + mark
		}
	case []any:
		out := make([]any, min(len(v), list))
		for i := range out {
			out[i] = cut(v[i], text, list)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v {
			out[name] = cut(x, text, list)
		}
		return out
	}
	return v
}
