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
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const (
	// lookWait is how long one look at the server may take.
	lookWait = 5 * time.Second
	// mostSkew is how far two clocks may be apart before deadlines are not what they seem.
	mostSkew = 5 * time.Second
)

// server looks whether one answers, which, and by which clock.
func (d *physician) server(ctx context.Context) {
	alive, err := fetch(ctx, d.s.URL()+"/healthz")
	if err != nil {
		d.away(err)
		return
	}
	ready, err := fetch(ctx, d.s.URL()+"/readyz")
	d.badFile = ready.said["policy"]
	switch d.up = err == nil && ready.status == http.StatusOK && ready.said["status"] == "ready"; {
	case alive.said["status"] != "alive":
		d.says("server", wrong, "name the server's address with --url", "something else than Trapeze answers at %s", d.s.URL())
		return
	case !d.up:
		d.says("server", wrong, "its log says why: "+daemon.LogFile(d.dir), "the server at %s is not ready: %s", d.s.URL(), ready.said["detail"])
	case alive.said["version"] != shell.Version():
		d.says("server", noted, "start it anew to have the same: trapeze stop, then trapeze serve --background",
			"one of version %s answers at %s", alive.said["version"], d.s.URL())
	default:
		d.says("server", fine, "", "it answers at %s", d.s.URL())
	}
	if by := skew(alive); by.Abs() > mostSkew {
		d.says("clock", wrong, "set both clocks by the same source", "this machine's clock and the server's are %s apart", by.Abs().Round(time.Second))
	} else {
		d.says("clock", fine, "", "it agrees with the server's")
	}
}

// away says why no server answers.
func (d *physician) away(err error) {
	at, pid, serves := daemon.Serving(d.dir)
	u, bad := url.Parse(d.s.URL())
	switch {
	case serves && at != "":
		d.says("server", wrong, "name it: --url "+at+", or TRAPEZE_URL", "none answers at %s, but process %d serves %s at %s", d.s.URL(), pid, d.dir, at)
	case bad == nil && u.Scheme == "http" && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname()):
		d.says("server", noted, "trapeze mcp starts one when it needs it; or start it now: trapeze serve --background", "none runs at %s", d.s.URL())
	default:
		d.says("server", wrong, "start it there, or name another with --url", "none answers at %s: %v", d.s.URL(), err)
	}
}

// answer is what a server says at an address that needs no token.
type answer struct {
	status int
	said   map[string]string
	date   time.Time     // by its clock
	now    time.Time     // by ours, when it came
	took   time.Duration // on the way and back
}

func fetch(ctx context.Context, at string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return a, err
	}
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
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
	a.date, _ = http.ParseTime(res.Header.Get("Date")) // without one nothing is said of its clock
	var whole map[string]any
	_ = json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&whole) // what is no server of ours says nothing
	for k, v := range whole {
		a.said[k] = fmt.Sprint(v)
	}
	return a, nil
}

// skew is by how much our clock is ahead, less what rounding and the way may account for.
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

// tokens looks whether those that are at hand still count, at the policy, and who the agents are.
func (d *physician) tokens(ctx context.Context) {
	if !d.up {
		d.says("token", noted, "", "not looked at: no server answers")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 6*lookWait)
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
		d.says("token", wrong, "name the data directory of this server with --data-dir, or set TRAPEZE_TOKEN", "the server does not know whom you are: %v", err)
		return
	}
	d.given = c
	d.says("token", fine, "", "the server knows you as %s/%s", me.Role, me.Name)
	d.policy(ctx)
	if d.s.Flags.Token != "" || d.s.Getenv("TRAPEZE_TOKEN") != "" {
		return // the kept ones are not used then
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
			d.says("token", wrong, "remove "+file+": a new one is made when it is needed", "the kept token of the agent %s does not count: %v", name, err)
		case me.Agent != name:
			d.says("token", wrong, "remove "+file+": a new one is made when it is needed", "the kept token of the agent %s is that of %s/%s", name, me.Role, me.Name)
		default:
			d.agents = append(d.agents, name)
		}
	}
	if len(d.agents) > 0 {
		d.says("token", fine, "", "those of %s count", strings.Join(d.agents, ", "))
	}
}

func (d *physician) policy(ctx context.Context) {
	switch v, err := d.given.Policy(ctx); {
	case errors.Is(err, trapeze.NotFound) && d.badFile != "":
		d.says("policy", wrong, "mend the file (trapeze policy check FILE), then: trapeze policy reload", "none is in force, though there is a file: %s", d.badFile)
	case errors.Is(err, trapeze.NotFound):
		d.says("policy", fine, "", "none is in force: tasks go where they are sent")
	case err != nil:
		d.says("policy", noted, "", "not looked at: %v", err)
	case v.FileProblem != "":
		d.says("policy", wrong, "mend the file, then: trapeze policy reload", "version %d is in force, but the file is not: %s", v.Version, v.FileProblem)
	default:
		d.says("policy", fine, "", "version %d is in force", v.Version)
	}
}
