package agents

import (
	"context"
	"fmt"

	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// warned returns an agent with what of its specification does not do now what its author may expect. Neither is an error: agents are registered in
// any order, and a tokenizer that is not built in is counted on the safe side.
func (a *Agents) warned(ctx context.Context, c caller.Caller, x Agent) (Agent, error) {
	if n, err := tokenizer.For(x.Spec.Tokenizer); err == nil && n.Estimate() {
		x.Warnings = append(x.Warnings, fmt.Sprintf("tokenizer %q is not one of %s and %s: its tokens are estimated, on the safe side, so that contexts may be much smaller than "+
			"the window allows", x.Spec.Tokenizer, tokenizer.O200kBase, tokenizer.Cl100kBase))
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"fallback", x.Spec.Fallbacks}, {"escalation target", x.Spec.Escalation}} {
		for _, name := range list.names {
			known, err := a.store.Find(ctx, c.Workspace, name, false)
			if err != nil {
				return x, err
			}
			if !known.Exists() {
				x.Warnings = append(x.Warnings, fmt.Sprintf("%s %q is not registered: until it is, it is passed over", list.what, name))
			}
		}
	}
	return x, nil
}
