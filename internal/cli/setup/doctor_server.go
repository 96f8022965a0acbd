package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

const (
	// checkTimeout is how long one check of the server may take.
	checkTimeout = 5 * time.Second
	// maxSkew is the maximum difference of two clocks at which deadlines are still accurate.
	maxSkew = 5 * time.Second
)

// server checks the server, its version and its clock.
func (d *checker) server(ctx context.Context) {
	var err error
	if d.http, err = d.s.HTTP(); err != nil {
		d.add("server", wrong, "give files that can be read with --ca, --client-cert and --client-key", "%v", err)
		return
	}
	alive, err := fetch(ctx, d.http, d.s.URL()+"/healthz")
	if err != nil {
		d.away(err)
		return
	}
	ready, err := fetch(ctx, d.http, d.s.URL()+"/readyz")
	d.badFile = ready.said["policy"]
	switch d.up = err == nil && ready.status == http.StatusOK && ready.said["status"] == "ready"; {
	case alive.said["status"] != "alive":
		d.add("server", wrong, d.elsewhere(), "the server at %s is not Trapeze", d.s.URL())
		return
	case !d.up:
		fix := "see its log: " + daemon.LogFile(d.dir)
		if hint := ready.said["hint"]; hint != "" && !strings.HasPrefix(hint, "see the log") {
			fix = hint
		}
		d.add("server", wrong, fix, "the server at %s is not ready: %s", d.s.URL(), ready.said["detail"])
	case alive.said["version"] != shell.Version():
		d.otherVersion(alive.said["version"])
	default:
		d.add("server", fine, "", "a server answers at %s", d.s.URL())
	}
	if by := skew(alive); by.Abs() > maxSkew {
		d.add("clock", wrong, "synchronize both clocks", "the clocks of this machine and of the server differ by %s", trapeze.Duration(by.Abs().Round(time.Second)))
	} else {
		d.add("clock", fine, "", "it agrees with the server's clock")
	}
}

// otherVersion notes that the server has another version than this program. A server that is on another machine is not restarted from here.
func (d *checker) otherVersion(version string) {
	fix := "install the program of that version, or have the server's operator install " + shell.Version()
	if _, _, here := daemon.Serving(d.dir); here {
		fix = "restart it to use this version: " + d.restart()
	}
	d.add("server", noted, fix, "the server has version %s, and this program %s, at %s", version, shell.Version(), d.s.URL())
}

// restart is the command that restarts the server of the data directory, if it was started with no other settings than an address.
func (d *checker) restart() string {
	dir := flagOf("--data-dir", d.s.Flags.DataDir)
	return shellword.Quotes(append([]string{"trapeze", "stop"}, dir...)...) + " && " +
		shellword.Quotes(append([]string{"trapeze", "serve", "--background", "--url", d.s.URL()}, dir...)...)
}

// elsewhere is how to use the server of the data directory instead of the address that was given, or another address.
func (d *checker) elsewhere() string {
	at, _, serves := daemon.Serving(d.dir)
	switch {
	case d.s.Flags.URL != "" && serves:
		return "omit --url, or use --url " + shellword.Quote(at)
	case d.s.Flags.URL != "":
		return "give the server's address with --url"
	case d.s.Getenv("TRAPEZE_URL") != "":
		return "set the server's address in TRAPEZE_URL, or use the server of this machine: unset TRAPEZE_URL"
	}
	return "start a server at another address: " + shellword.Quotes(append([]string{"trapeze", "serve", "--background", "--addr", freeAddr}, flagOf("--data-dir", d.s.Flags.DataDir)...)...)
}

// freeAddr is the address of a server whose port another program has.
const freeAddr = "127.0.0.1:18727"

// away reports why no server answers.
func (d *checker) away(err error) {
	at, pid, serves := daemon.Serving(d.dir)
	switch {
	case serves && at != "" && at != d.s.URL():
		d.add("server", wrong, d.elsewhere(), "no server answers at %s, but process %d serves %s at %s", d.s.URL(), pid, d.dir, at)
	case daemon.WaitsForNodes(d.dir) != "":
		d.add("server", wrong, daemon.WaitsForNodes(d.dir), "no server answers at %s", d.s.URL())
	case onThisMachine(d.s.URL()):
		d.add("server", noted, "trapeze mcp starts one when needed; to start one now: "+d.line("serve", "--background"), "no server is running at %s", d.s.URL())
	default:
		d.add("server", wrong, shell.TLSHint(err, "start it there, or: "+d.elsewhere()), "no server answers at %s: %v", d.s.URL(), err)
	}
}

// onThisMachine reports whether a server at an address could be started on this machine.
func onThisMachine(at string) bool {
	u, err := url.Parse(at)
	return err == nil && u.Scheme == "http" && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname())
}

// answer is a server's answer to a request without a token.
type answer struct {
	status int
	said   map[string]string
	date   time.Time     // of its clock
	now    time.Time     // of our clock, on arrival
	took   time.Duration // round trip
}

func fetch(ctx context.Context, with *http.Client, at string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return a, err
	}
	began := time.Now()
	res, err := with.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return a, err
	}
	defer func() { _ = res.Body.Close() }()
	a = answer{status: res.StatusCode, said: map[string]string{}, now: time.Now()}
	a.took = a.now.Sub(began)
	a.date, _ = http.ParseTime(res.Header.Get("Date")) // without a date its clock is not checked
	var whole map[string]any
	_ = json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&whole) // other servers may answer anything
	for k, v := range whole {
		a.said[k] = fmt.Sprint(v)
	}
	return a, nil
}

// skew is how far our clock is ahead, less the error of rounding and of the round trip.
func skew(a answer) time.Duration {
	if a.date.IsZero() {
		return 0
	}
	by, slack := a.now.Sub(a.date), time.Second+a.took
	switch {
	case by > slack:
		return by - slack
	case by < -slack:
		return by + slack
	}
	return 0
}

// tokens checks the tokens of this machine, and the policy, and collects the agents with valid tokens.
func (d *checker) tokens(ctx context.Context) {
	if !d.up {
		d.add("token", noted, "", "not checked: no server answers")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 6*checkTimeout)
	defer cancel()
	chosen := d.s.Flags.Agent
	defer func() { d.s.Flags.Agent = chosen }()
	d.s.Flags.Agent = ""
	c, err := d.s.DialAsCaller(ctx)
	var me trapeze.Me
	if err == nil {
		me, err = c.Me(ctx)
	}
	if err != nil {
		d.add("token", wrong, d.otherToken(), "the server does not accept your token: %v", err)
		return
	}
	d.given = c
	d.add("token", fine, "", "you are %s/%s", me.Role, me.Name)
	d.policy(ctx)
	if d.s.Flags.Token != "" || d.s.Getenv("TRAPEZE_TOKEN") != "" {
		return // kept tokens are not used then
	}
	for _, file := range d.kept() {
		name := strings.TrimSuffix(filepath.Base(file), ".token")
		d.s.Flags.Agent = name
		c, err := d.s.Dial(ctx)
		if err == nil {
			me, err = c.Me(ctx)
		}
		switch {
		case err != nil:
			d.add("token", wrong, "a new token is created when needed; remove this one: "+shellword.Quotes("rm", file), "the kept token of the agent %s is not valid: %v", name, err)
		case !me.Is(name):
			d.add("token", wrong, "a new token is created when needed; remove this one: "+shellword.Quotes("rm", file), "the kept token of the agent %s is that of %s/%s", name, me.Role, me.Name)
		default:
			d.agents = append(d.agents, name)
		}
	}
	if len(d.agents) > 0 {
		d.add("token", fine, "", "the tokens of %s are valid", strings.Join(d.agents, ", "))
	}
}

// otherToken is how to use another token than the one that the server does not accept.
func (d *checker) otherToken() string {
	signedIn := false
	if store, err := d.s.Sessions(); err == nil {
		in, err := store.Load(d.s.URL())
		signedIn = err == nil && in != nil
	}
	switch {
	case d.s.Flags.Token != "":
		return "omit --token, or give another one"
	case d.s.Getenv("TRAPEZE_TOKEN") != "":
		return "set TRAPEZE_TOKEN to a token of this server, or use the one that is kept on this machine: unset TRAPEZE_TOKEN"
	case signedIn:
		return "sign in again: " + d.line("login")
	}
	return "name the data directory of this server with --data-dir, or set TRAPEZE_TOKEN to a token of it"
}

// acting checks whether the agent that commands of this terminal act as is registered.
func (d *checker) acting(ctx context.Context) {
	name := d.s.Chosen()
	if d.given == nil || name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if _, err := d.given.Agent(ctx, name); errors.Is(err, trapeze.NotFound) {
		fix := "omit --agent, or"
		if d.s.Flags.Agent == "" {
			fix = "unset TRAPEZE_AGENT, or"
		}
		d.add("agent", wrong, fix+" add it: "+d.line("agent", "add", name), "commands act as the agent %s, which is not registered", name)
	}
}

func (d *checker) policy(ctx context.Context) {
	switch v, err := admin.New(d.given).Policy(ctx); {
	case errors.Is(err, trapeze.NotFound) && d.badFile != "":
		d.add("policy", wrong, "fix the file (trapeze policy check FILE), then: trapeze policy reload", "the policy file is not in force: %s", d.badFile)
	case errors.Is(err, trapeze.NotFound):
		d.add("policy", fine, "", "no policy is in force: every handoff names its receiver")
	case err != nil:
		d.add("policy", noted, "", "not checked: %v", err)
	case v.FileProblem != "":
		d.add("policy", wrong, "fix the file, then: trapeze policy reload", "version %d is in force, but the current file is not: %s", v.Version, v.FileProblem)
	default:
		d.add("policy", fine, "", "version %d is in force", v.Version)
	}
}
