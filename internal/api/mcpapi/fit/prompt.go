package fit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// Prompt is a rendered context, whose list of what was left out names the tool that fetches it as the client sees it. A budget is counted with the
// longest form of that call but for prefixes: with one that would not fit, the list names the tool alone. Only the server begins the last such
// line: text of others is before it, or indented.
func Prompt(ctx context.Context, c *tool.Call, s client.Sheet) string {
	const heading, own = "\n# Left out (", "status"
	name := c.Set.Name(own)
	i := strings.LastIndex(s.Prompt, heading+own+" ")
	if i < 0 || name == own {
		return s.Prompt
	}
	i += len(heading)
	rest := s.Prompt[i+len(own):]
	prompt := s.Prompt[:i] + name + rest
	var doc struct {
		Packing struct {
			Budget int `json:"budget"`
		} `json:"packing"`
	}
	if json.Unmarshal(s.Envelope, &doc) != nil || doc.Packing.Budget == 0 {
		return prompt
	}
	if r, err := For(ctx, c.Client); err != nil || !r.reads(prompt, doc.Packing.Budget) {
		if end := strings.Index(rest, ")\n"); end >= 0 {
			return s.Prompt[:i] + name + rest[end:]
		}
	}
	return prompt
}
