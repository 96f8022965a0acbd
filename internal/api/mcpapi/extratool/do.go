package extratool

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type doInput struct {
	Text    string `json:"text" jsonschema:"a sentence such as: hand this off to billing because it needs a refund"`
	Task    string `json:"task,omitempty" jsonschema:"what this means in the sentence; default: the only task that it can be"`
	Confirm string `json:"confirm,omitempty" jsonschema:"from the previous answer: do what was understood"`
	Key     string `json:"key,omitempty"`
}

type done struct {
	Understood string        `json:"understood"`
	Confirm    string        `json:"confirm,omitempty"`
	Receipt    *tool.Receipt `json:"receipt,omitempty"`
}

var doTool = tool.Define[doInput, done]("do", "Do what a sentence says", tool.Destroys,
	"Do what a sentence in plain English says. A change is first answered with what was understood: repeat the call with confirm to do it.",
	func(ctx context.Context, c *tool.Call, in doInput) (tool.Answer, error) {
		d, err := c.Do(tool.Keyed(ctx, in.Key), client.DoInput{Text: in.Text, Task: in.Task, Confirm: in.Confirm})
		if err != nil {
			return tool.Answer{}, err
		}
		out, text := done{Understood: d.Understood.Sentence, Confirm: d.Confirm}, "Understood: "+show.Line(d.Understood.Sentence)+".\n"
		switch {
		case d.Confirm != "":
			text += c.Say("Nothing was changed yet.\nNext: if that is meant, call {do} with the same text and confirm=%s", d.Confirm)
		case d.Receipt != nil:
			a := tool.Told(*d.Receipt, "Done.", "")
			r := tool.ReceiptOf(*d.Receipt, "")
			text, out.Receipt = text+a.Text, &r
		case d.Relief != nil:
			text += fmt.Sprintf("Tasks of %s that are offered to others: %d; that stay with it: %d.", d.Relief.Agent, len(d.Relief.Moved), len(d.Relief.Kept))
		case d.Trail != nil:
			text += fmt.Sprintf("Recorded events: %d.", len(d.Trail.Entries)) + c.Say("\nNext: {status} with id=%s and history=true shows them", d.Trail.Task)
		default:
			text += underWay(d)
		}
		return tool.Answer{Text: text, Data: out}, nil
	})

// underWay lists the handoffs in progress.
func underWay(d client.Done) string {
	var b strings.Builder
	for _, t := range d.Handoffs {
		fmt.Fprintf(&b, "- %s %s, from %s to %s: %s\n", t.Handoff, t.Stage, cmp.Or(t.Owner, "nobody"), strings.Join(t.To, ", "), show.Line(t.Intent))
	}
	if len(d.Handoffs) == 0 {
		b.WriteString("No handoff is in progress.\n")
	}
	if d.More {
		b.WriteString("There are more.\n")
	}
	return b.String()
}
