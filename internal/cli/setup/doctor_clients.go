package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/configfile"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// lookPath finds a program as a client does.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// clients checks the configuration files of all clients, of the project and of the user.
func (d *checker) clients(ctx context.Context) {
	d.used = map[string]bool{}
	by := map[string]string{} // client by agent
	for _, c := range clients {
		set := false
		for _, s := range []scope{ofProject, ofUser} {
			e, found := d.client(c, s)
			if !found {
				continue
			}
			set = true
			agent := e.agent()
			if agent == "" {
				continue
			}
			if other := by[agent]; other != "" && other != c.title {
				d.add("client", wrong, "use different agents: trapeze init --client "+shellword.Quote(c.name)+" --agent NAME",
					"%s and %s are both the agent %s, and would receive each other's tasks", other, c.title, agent)
			}
			by[agent] = c.title
			if !d.used[agent] {
				d.used[agent] = true
				d.agent(ctx, c, agent)
			}
		}
		if !set && c.found(d.p) {
			d.add("client", noted, "trapeze init --client "+shellword.Quote(c.name), "%s is installed, but not set up", c.title)
		}
	}
}

// client checks one file.
func (d *checker) client(c client, s scope) (e entry, found bool) {
	path := c.file(s, d.p)
	text, _, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false
	case err != nil:
		d.add("client", wrong, "make it readable, or remove it", "%s of %s: %v", path, c.title, err)
		return e, false
	}
	if err := c.editable(text); err != nil {
		d.add("client", wrong, "fix it by hand", "%s of %s: %v", path, c.title, err)
		return e, false
	}
	if e, found = c.entryIn(text); !found {
		return e, false
	}
	again := "trapeze init --client " + shellword.Quote(c.name) + " --scope " + shellword.Quote(string(s))
	if name := e.agent(); name != "" {
		again += " --agent " + name
	}
	switch _, err := lookPath(e.Command); {
	case slices.ContainsFunc(e.Args, hasToken):
		d.add("client", wrong, "revoke the token with trapeze token revoke, then: "+again, "%s of %s has a token, which every reader of the file can use", path, c.title)
	case err != nil:
		d.add("client", wrong, again, "%s of %s starts %s, which does not exist", path, c.title, e.Command)
	case e.agent() == "":
		d.add("client", wrong, again, "%s of %s starts %s, but not with mcp --agent NAME", path, c.title, e.Command)
	default:
		d.add("client", fine, "", "%s is the agent %s in %s", c.title, e.agent(), path)
	}
	return e, true
}

// hasToken reports whether an argument is a token, or contains one as in --token=TOKEN.
func hasToken(arg string) bool {
	_, value, _ := strings.Cut(arg, "=")
	return identity.IsToken(arg) || identity.IsToken(value)
}

// agent checks whether a client's agent is registered.
func (d *checker) agent(ctx context.Context, c client, name string) {
	if d.given == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	switch _, err := d.given.Agent(ctx, name); {
	case errors.Is(err, trapeze.NotFound):
		d.add("agent", noted, "it is registered when "+c.title+" connects for the first time, or now with: trapeze init --client "+shellword.Quote(c.name)+" --agent "+shellword.Quote(name),
			"%s is not registered yet", name)
	case err != nil:
		d.add("agent", noted, "", "%s could not be checked: %v", name, err)
	default:
		d.add("agent", fine, "", "%s is registered", name)
	}
}

// hooks checks the hooks of all clients.
func (d *checker) hooks() {
	for _, c := range clients {
		for _, in := range []scope{ofProject, ofUser} {
			if c.hooks != nil {
				d.hook(c, in)
			}
		}
	}
}

func (d *checker) hook(c client, in scope) {
	path := c.hooks(in, d.p)
	text, _, err := readFile(path)
	if err != nil {
		return // no hooks
	}
	command, found := configfile.JSONCommand(text, hookPath, isHook)
	if !found {
		return
	}
	name, _, _ := strings.Cut(command, " hook --agent ")
	name = strings.ReplaceAll(strings.Trim(name, "'"), `'\''`, "'")
	if _, err := lookPath(name); err != nil {
		d.add("hook", wrong, "trapeze init --hook --client "+shellword.Quote(c.name)+" --scope "+shellword.Quote(string(in)), "%s runs %s, which does not exist", path, name)
		return
	}
	d.add("hook", fine, "", "%s shows the inbox to %s", path, c.title)
}

// openToOthers reports whether users other than the owner have access to a file.
func openToOthers(info os.FileInfo) bool {
	return modesCount && info.Mode().Perm()&0o077 != 0
}
