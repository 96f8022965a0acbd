package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

// fetcher is the tool that prompts name: it fetches what was left out, and files.
const fetcher = "status"

// Prompt is a rendered context, whose headings name the tool that fetches artifacts and what was left out as the client sees it. A budget is
// counted with the longest form of those calls but for prefixes: with one that would not fit, the headings name the tool alone.
//
// An epoch that the reader's calls have to name (0: none) is in the first line, which has no more tokens than without it if there is a budget that the rest may take up.
func Prompt(ctx context.Context, c *tool.Call, s client.Sheet, epoch uint64) string {
	text := complete(ctx, c, s)
	first, rest, _ := strings.Cut(text, "\n")
	about, is := strings.CutPrefix(first, beginning)
	if epoch == 0 || !is {
		return text
	}
	if whole := fmt.Sprintf("%s. You had it before: give epoch=%d with calls about it\n%s", first, epoch, rest); fits(ctx, c, s, whole) {
		return whole
	}
	return fmt.Sprintf("# epoch=%d task%s\n%s", epoch, about, rest)
}

// beginning is that of a prompt of the owner of a task.
const beginning = "# You take over task"

// fits reports whether a prompt is within the budget of a context, if it has one.
func fits(ctx context.Context, c *tool.Call, s client.Sheet, prompt string) bool {
	var doc struct {
		Packing struct {
			Budget int `json:"budget"`
		} `json:"packing"`
	}
	if err := json.Unmarshal(s.Envelope, &doc); err != nil || doc.Packing.Budget == 0 {
		return err == nil
	}
	r, err := For(ctx, c.Client)
	return err == nil && r.reads(prompt, doc.Packing.Budget)
}

// complete is the prompt with the name of the tool that fetches.
func complete(ctx context.Context, c *tool.Call, s client.Sheet) string {
	name := c.Set.Name(fetcher)
	if name == fetcher {
		return s.Prompt
	}
	var doc struct {
		Artifacts []struct{} `json:"artifacts"`
		Omissions []struct{} `json:"omissions"`
	}
	if json.Unmarshal(s.Envelope, &doc) != nil {
		return s.Prompt // never an envelope of the server
	}
	whole, short := s.Prompt, s.Prompt
	for heading, there := range map[string]bool{"\n# Artifacts (": len(doc.Artifacts) > 0, "\n# Left out (": len(doc.Omissions) > 0} {
		if there {
			whole, short = named(whole, heading, name, false), named(short, heading, name, true)
		}
	}
	if !fits(ctx, c, s, whole) {
		return short
	}
	return whole
}

// Preview is the context of an offer as [Prompt] has it. Its first line says that it is a preview, in no more tokens than that of an owner by any
// tokenizer, since the rest may take the whole budget.
func Preview(ctx context.Context, c *tool.Call, s client.Sheet) string {
	text := Prompt(ctx, c, s, 0)
	if rest, is := strings.CutPrefix(text, beginning); is {
		return "# Preview of task" + rest
	}
	return text
}

// named puts the name that the client sees into a heading of a prompt that has it. Only the server begins the last such line: text of others is before it,
// or indented. Short leaves the arguments of the call out.
func named(prompt, heading, name string, short bool) string {
	i := strings.LastIndex(prompt, heading+fetcher+" ")
	if i < 0 {
		return prompt
	}
	i += len(heading)
	rest := prompt[i+len(fetcher):]
	if end := strings.Index(rest, ")\n"); short && end >= 0 {
		rest = rest[end:]
	}
	return prompt[:i] + name + rest
}
