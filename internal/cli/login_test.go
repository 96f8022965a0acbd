package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth"
	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

// desk is a person's machine: a directory of their own, and the address of a server on another machine.
type desk struct {
	t    *testing.T
	env  map[string]string
	said strings.Builder // all that commands printed
}

func newDesk(t *testing.T, url string) *desk {
	return &desk{t: t, env: map[string]string{"HOME": t.TempDir(), "TRAPEZE_URL": url}}
}

func (d *desk) run(code int, args ...string) (stdout, stderr string) {
	d.t.Helper()
	var out, errs bytes.Buffer
	got := cli.Main(d.t.Context(), args, cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return d.env[name] }})
	if got != code {
		d.t.Errorf("%v: exit code %d, not %d: %s", args, got, code, errs.String())
	}
	d.said.WriteString(out.String() + errs.String())
	return out.String(), errs.String()
}

// issued is a server at which the people of an issuer sign in.
func issued(t *testing.T, i *oauthtest.Issuer) *server.Server {
	t.Helper()
	rule, err := oauth.ParseRule("ops=operator")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(t.Context(), server.Config{Temporary: true, OAuth: oauth.Config{
		Issuer: i.URL, Resource: "http://127.0.0.1:8727/mcp", People: oauth.People{Client: oauthtest.Client, Roles: []oauth.Rule{rule}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func TestAPersonSignsInWithTheDeviceFlowAndTheSessionEndsWithTheIssuers(t *testing.T) {
	t.Parallel()
	i := oauthtest.New(t)
	s := issued(t, i)
	d := newDesk(t, s.URL())
	d.run(5, "task", "list") // there is no token

	// The token is over when it comes, and the server accepts it for half a minute: each command renews it.
	i.SignIn(oauthtest.Claims{"preferred_username": "ann", "groups": []string{"ops"}}, -5*time.Second)
	i.ApproveDevice()
	stdout, stderr := d.run(0, "login", "--json")
	var me struct{ Role, Name, Issuer string }
	if err := json.Unmarshal([]byte(stdout), &me); err != nil || me.Role != "operator" || me.Name != "ann" || me.Issuer != i.URL {
		t.Errorf("%s, %v", stdout, err)
	}
	if !strings.Contains(stderr, i.URL+"/activate and enter the code WDJB-MJHT") {
		t.Errorf("it says %s", stderr)
	}
	sessions := filepath.Join(d.env["HOME"], ".local", "share", "trapeze", "sessions")
	files, err := os.ReadDir(sessions)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	file := filepath.Join(sessions, files[0].Name())
	for path, mode := range map[string]os.FileMode{sessions: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	before := i.Asked(oauthtest.TokenPath)
	stdout, _ = d.run(0, "task", "create", "Look", "--json")
	if i.Asked(oauthtest.TokenPath) != before+1 {
		t.Error("the token was not renewed")
	}
	var made struct{ Task string }
	if err := json.Unmarshal([]byte(stdout), &made); err != nil {
		t.Fatal(err)
	}
	if stdout, _ = d.run(0, "task", "show", made.Task, "--json"); !strings.Contains(stdout, `"operator/ann"`) {
		t.Errorf("the task is not of ann: %s", stdout)
	}

	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr = d.run(1, "task", "list"); !strings.Contains(stderr, "can be read by others") {
		t.Error(stderr)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	i.EndSession()
	if _, stderr = d.run(5, "task", "list"); !strings.Contains(stderr, "trapeze login") {
		t.Error(stderr)
	}
	d.run(0, "logout")
	if files, err := os.ReadDir(sessions); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
	if stdout, _ = d.run(0, "logout"); !strings.Contains(stdout, "were not signed in") {
		t.Error(stdout)
	}
	if strings.Contains(d.said.String(), "eyJ") {
		t.Error("a command printed a token")
	}
}
