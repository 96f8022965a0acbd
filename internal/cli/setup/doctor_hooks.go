package setup

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// hooks checks the hooks of all clients.
func (d *checker) hooks(ctx context.Context) {
	for _, c := range clients {
		for _, in := range []scope{ofProject, ofUser} {
			if c.hooks != nil {
				d.hook(ctx, c, in)
			}
		}
	}
}

// hook checks the hook of a client: its program, its server, and its agent there. A hook that fails shows nothing, and the turn ends as if no work waited.
func (d *checker) hook(ctx context.Context, c client, in scope) {
	path := c.hooks(in, d.p)
	text, _, err := readFile(path)
	if err != nil {
		return // no hooks
	}
	command, found := configfile.JSONCommand(text, hookPath, isHook)
	if !found {
		return
	}
	words := splitWords(command)
	u := setUp{entry: entry{Command: words[0], Args: words[1:]}, client: c, scope: in, path: path}
	as, _ := u.shell(d.s.Getenv)
	u.name = event.Bare(as.Flags.Agent)
	again := d.line("init", "--hook", "--client", c.name, "--scope", string(in), "--agent", u.name)
	if _, err := lookPath(u.Command); err != nil {
		d.add("hook", wrong, again, "%s runs %s, which does not exist", path, u.Command)
		return
	}
	if !u.filledIn() && !d.hookServer(ctx, u, as, again) {
		return
	}
	d.add("hook", fine, "", "%s shows the inbox of %s to %s", path, cmp.Or(u.name, "the agent of the token"), c.title)
}

// hookServer checks whether the server of a hook answers and the hook can act as its agent there. again is the command that writes the hook again.
func (d *checker) hookServer(ctx context.Context, u setUp, as *shell.Shell, again string) bool {
	dir, err := as.DataDir()
	if err != nil {
		d.add("hook", wrong, again, "no data directory for the hook in %s: %v", u.path, err)
		return false
	}
	if as.URLs() != d.s.URLs() {
		with, err := as.HTTP()
		if err == nil {
			err = trapezeAt(ctx, with, as.URL())
		}
		if err != nil {
			d.add("hook", wrong, "to use this server instead: "+again, "no server for the hook in %s answers at %s: %v", u.path, as.URL(), err)
			return false
		}
	}
	_, owner := os.Stat(filepath.Join(dir, "admin.token"))
	switch {
	case !keptToken(dir, u.name) && owner != nil && as.Flags.Token == "":
		d.add("hook", wrong, again, "the hook in %s has no token of %s: there is none in %s", u.path, u.name, dir)
		return false
	case d.here(u) && !slices.ContainsFunc(d.entries, func(e setUp) bool { return e.name == u.name }):
		d.agent(ctx, u)
	}
	return true
}

// splitWords is the words of a command as a shell splits it, of what [shellword.Quotes] writes.
func splitWords(command string) (words []string) {
	var word strings.Builder
	quoted, begun := false, false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\'':
			quoted, begun = !quoted, true
		case !quoted && c == '\\' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			begun = true
		case !quoted && c == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
