package fit

import (
	"context"
	"fmt"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Page answers with an answer as it is if it fits, else with the page of its text that begins after so many bytes, without structured
// content. A reader whose window is not known gets all of it.
func Page(ctx context.Context, c *client.Client, a tool.Answer, skip int) (tool.Answer, error) {
	if skip == 0 && len(a.Text) <= short {
		return a, nil
	}
	r, err := For(ctx, c)
	if err != nil || skip == 0 && (r.window == 0 || r.fits(a)) {
		return a, err
	}
	text := visible.Document(a.Text)
	if skip >= len(text) {
		return tool.Answer{}, argument.Invalid("skip is %d, which is beyond the end: the answer has changed; call again without skip", skip)
	}
	skip = runeStart(text, skip)
	a.Data = nil
	note := func(kept, _ int) string {
		end := skip + kept
		return fmt.Sprintf("Not all: the same call with skip=%d goes on; bytes left: %d.", end, len(text)-end)
	}
	last := visible.Fenced(text[skip:], "") + "\nThat is the end."
	if skip > 0 && len(last) <= 4*bytesOfToken*r.most && r.Reads(last) {
		a.Text = last
		return a, nil
	}
	a.Text = r.lines(text[skip:], note)
	return a, nil
}

// Beginning answers with the longest beginning of a text with which the answer fits. A reader whose window is not known gets all of it.
func Beginning(ctx context.Context, c *client.Client, text string, answer func(beginning string) tool.Answer) (tool.Answer, error) {
	r, err := For(ctx, c)
	if err != nil || r.window == 0 || text == "" {
		return answer(text), err
	}
	return answer(r.beginning(text, func(beginning string) bool { return r.fits(answer(beginning)) })), nil
}
