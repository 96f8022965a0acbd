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
)

// lookPath finds a program the way that a client does.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// clients looks at each client's file, the project's and the user's own.
func (d *physician) clients(ctx context.Context) {
	d.used = map[string]bool{}
	by := map[string]string{} // agent to client
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
				d.says("client", wrong, "give one another name: trapeze init --client "+c.name+" --agent NAME",
					"%s and %s are both the agent %s, and would take each other's work", other, c.title, agent)
			}
			by[agent] = c.title
			if !d.used[agent] {
				d.used[agent] = true
				d.agent(ctx, c, agent)
			}
		}
		if !set && c.found(d.p) {
			d.says("client", noted, "trapeze init --client "+c.name, "%s is here, and not set up", c.title)
		}
	}
}

// client looks at one file.
func (d *physician) client(c client, s scope) (e entry, found bool) {
	path := c.file(s, d.p)
	text, _, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false
	case err != nil:
		d.says("client", wrong, "make it readable, or move it away", "%s of %s: %v", path, c.title, err)
		return e, false
	}
	if err := c.readable(text); err != nil {
		d.says("client", wrong, "mend it by hand", "%s of %s: %v", path, c.title, err)
		return e, false
	}
	if e, found = c.entryIn(text); !found {
		return e, false
	}
	again := "trapeze init --client " + c.name + " --scope " + string(s)
	if name := e.agent(); name != "" {
		again += " --agent " + name
	}
	switch _, err := lookPath(e.Command); {
	case slices.ContainsFunc(e.Args, hasToken):
		d.says("client", wrong, "revoke it with trapeze token revoke, then: "+again, "%s of %s holds a token that everybody who has the file can use", path, c.title)
	case err != nil:
		d.says("client", wrong, again, "%s of %s starts %s, which is not there", path, c.title, e.Command)
	case e.agent() == "":
		d.says("client", wrong, again, "%s of %s starts %s, but not as trapeze mcp --agent NAME", path, c.title, e.Command)
	default:
		d.says("client", fine, "", "%s is the agent %s by %s", c.title, e.agent(), path)
	}
	return e, true
}

// hasToken reports whether an argument is a token of a server, or has one as in --token=TOKEN.
func hasToken(arg string) bool {
	_, value, _ := strings.Cut(arg, "=")
	return identity.IsToken(arg) || identity.IsToken(value)
}

// agent looks whether the server knows a client's agent.
func (d *physician) agent(ctx context.Context, c client, name string) {
	if d.given == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	switch _, err := d.given.Agent(ctx, name); {
	case errors.Is(err, trapeze.NotFound):
		d.says("agent", noted, "it is when "+c.title+" comes for the first time; or do it now: trapeze init --client "+c.name+" --agent "+name,
			"%s is not registered yet", name)
	case err != nil:
		d.says("agent", noted, "", "%s was not looked at: %v", name, err)
	default:
		d.says("agent", fine, "", "%s is registered", name)
	}
}

// hooks looks whether what clients are to run at the end of a turn is there.
func (d *physician) hooks() {
	for _, c := range clients {
		for _, in := range []scope{ofProject, ofUser} {
			if c.hooks != nil {
				d.hook(c, in)
			}
		}
	}
}

func (d *physician) hook(c client, in scope) {
	path := c.hooks(in, d.p)
	text, _, err := readFile(path)
	if err != nil {
		return // there is none
	}
	command, found := configfile.JSONCommand(text, hookPath, isHook)
	if !found {
		return
	}
	name, _, _ := strings.Cut(command, " hook --agent ")
	name = strings.ReplaceAll(strings.Trim(name, "'"), `'\''`, "'")
	if _, err := lookPath(name); err != nil {
		d.says("hook", wrong, "trapeze init --hook --client "+c.name+" --scope "+string(in), "%s runs %s, which is not there", path, name)
		return
	}
	d.says("hook", fine, "", "%s shows %s its inbox", path, c.title)
}

// openToOthers reports whether others than the owner may do something with a file.
func openToOthers(info os.FileInfo) bool {
	return modesCount && info.Mode().Perm()&0o077 != 0
}
