//go:build outside

package outside

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// recipeOf is the command line under a heading of docs/recipes.md.
func recipeOf(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+heading+"\n")
	_, text, ok := strings.Cut(text, "\n$ ")
	if !found || !ok {
		t.Fatalf("docs/recipes.md has no command under %q", heading)
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// The worker's program gets its context as a prompt, and what the model says at the end is the result.
func TestAWorkerByItsRecipe(t *testing.T) {
	each(t, func(t *testing.T, c coder) {
		p, m := c.setUp(t, steps(func(shown) move { return move{say: "the <quotes> & \"commas\""} }))
		p.run(t, "trapeze", "agent", "add", "coder")
		g := give(t, p, "coder")
		cmd := p.command(context.Background(), "sh", "-c", "exec "+recipeOf(t, c.recipe))
		cmd.WaitDelay = time.Second
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &errs, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGINT)
			if err := cmd.Wait(); err != nil || t.Failed() {
				t.Logf("work: %v\n%s", err, tail(errs.String()))
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		ends, err := g.lead.WaitInbox(ctx, client.InboxOptions{})
		if err != nil || len(ends) != 1 || ends[0].Type != "completed" {
			t.Fatalf("the lead is told %+v, %v", ends, err)
		}
		g.done(t, p, "the <quotes> & \"commas\""+cmp.Or(c.ends, "\n"))
		s := m.final(t)
		prompt := strings.TrimSuffix(s.users[len(s.users)-1], "\n") + "\n" // not every program keeps the last line break
		i := strings.Index(prompt, "# ")
		j := strings.LastIndex(prompt, "```\n")
		if i < 0 || j < i {
			t.Fatalf("the model was shown no context: %q", prompt)
		}
		wantPrompt(t, p, "coder", g.Handoff, client.ViaCLI, prompt[i:j+4])
		if n := strings.Count(s.raw, "marker7f3a"); n != 1 {
			t.Errorf("the model was shown the context %d times", n)
		}
	})
}
