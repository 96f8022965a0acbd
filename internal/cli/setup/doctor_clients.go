package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
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

// setUp is an entry of a client's file, which names an agent or has a token.
type setUp struct {
	entry

	client client
	scope  scope
	path   string
	name   string // of the agent; empty: that of its token
}

// again is the command that writes the entry again.
func (d *checker) again(u setUp) string {
	return d.line(slices.Concat([]string{"init", "--client", u.client.name, "--scope", string(u.scope)}, flagOf("--agent", u.name))...)
}

// flagOf is a flag with its value; nothing without a value.
func flagOf(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{flag, value}
}

// line is a command that uses the server and the data directory that are checked.
func (d *checker) line(words ...string) string {
	f := d.s.Flags
	return shellword.Quotes(slices.Concat([]string{"trapeze"}, words, flagOf("--url", f.URL), flagOf("--data-dir", f.DataDir),
		flagOf("--ca", f.CA), flagOf("--client-cert", f.ClientCert), flagOf("--client-key", f.ClientKey))...)
}

// clients checks the configuration files of all clients, of the project and of the user.
func (d *checker) clients(ctx context.Context) {
	by := map[string]string{} // client by agent
	for _, c := range clients {
		set := false
		for _, s := range []scope{ofProject, ofUser} {
			u, found := d.client(c, s)
			if set = set || found; u.name == "" {
				continue
			}
			if other := by[u.name]; other != "" && other != c.title {
				d.add("client", wrong, "use different agents: "+d.again(setUp{client: c, scope: s, name: free(by, c.name)}),
					"%s and %s are both the agent %s, and would receive each other's tasks", other, c.title, u.name)
			}
			if by[u.name] == "" {
				by[u.name] = c.title
				d.agent(ctx, u)
			}
		}
		if !set && c.found(d.p) {
			d.add("client", noted, d.line("init", "--client", c.name), "%s is installed, but not set up", c.title)
		}
	}
}

// free is a name that no client's agent has.
func free(by map[string]string, name string) string {
	for n := 2; by[name] != ""; n++ {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(n-1)) + "-" + strconv.Itoa(n)
	}
	return name
}

// client checks one file, and keeps its entry for the handshakes. It reports whether the file has anything of the client's servers that concerns trapeze, or
// cannot be read.
func (d *checker) client(c client, s scope) (u setUp, found bool) {
	u = setUp{client: c, scope: s, path: c.file(s, d.p)}
	text, _, err := readFile(u.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return u, false
	case err != nil:
		d.add("client", wrong, "make it readable, or remove it", "%s of %s: %v", u.path, c.title, err)
		return u, true
	}
	if err := c.editable(text); err != nil {
		d.add("client", wrong, "fix it by hand", "%s of %s: %v", u.path, c.title, err)
		return u, true
	}
	if u.entry, found = c.entryIn(text); !found {
		return u, false
	}
	as, mcp := u.shell(d.s.Getenv)
	u.name = cmp.Or(as.Flags.Agent, event.Bare(as.Getenv("TRAPEZE_AGENT")))
	given := cmp.Or(as.Flags.Token, as.Getenv("TRAPEZE_TOKEN")) != ""
	switch _, err := lookPath(u.Command); {
	case slices.ContainsFunc(u.Args, hasToken):
		d.add("client", wrong, "revoke its token (trapeze token list shows the id), then: "+d.again(u), "%s of %s has a token, which every reader of the file can use", u.path, c.title)
	case err != nil:
		d.add("client", wrong, d.again(u), "%s of %s starts %s, which does not exist", u.path, c.title, u.Command)
	case !mcp || u.name == "" && !given:
		d.add("client", wrong, d.again(u), "%s of %s starts %s, but not with mcp --agent NAME", u.path, c.title, u.Command)
	default:
		who := "the agent " + u.name
		if u.name == "" {
			who = "the agent of the token"
		}
		d.add("client", fine, "", "%s is %s in %s", c.title, who, u.path)
		d.entries = append(d.entries, u)
	}
	return u, true
}

// hasToken reports whether an argument is a token, or contains one as in --token=TOKEN.
func hasToken(arg string) bool {
	_, value, _ := strings.Cut(arg, "=")
	return identity.IsToken(arg) || identity.IsToken(value)
}

// agent checks whether a client's agent is registered.
func (d *checker) agent(ctx context.Context, u setUp) {
	name := u.name
	if d.given == nil || !d.here(u) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	switch _, err := d.given.Agent(ctx, name); {
	case errors.Is(err, trapeze.NotFound):
		d.add("agent", noted, "it is registered when "+u.client.title+" connects for the first time, or now with: "+d.line("agent", "add", name),
			"%s is not registered yet", name)
	case err != nil:
		d.add("agent", noted, "", "%s could not be checked: %v", name, err)
	default:
		d.add("agent", fine, "", "%s is registered", name)
	}
}

// openToOthers reports whether users other than the owner have access to a file.
func openToOthers(info os.FileInfo) bool {
	return modesCount && info.Mode().Perm()&0o077 != 0
}
