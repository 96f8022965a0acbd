package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const (
	// handshakeWait is the timeout of a handshake: some clients wait 10 s.
	handshakeWait = 10 * time.Second
	// maxHandshake is the maximum size of an answer, in bytes.
	maxHandshake = 1 << 20
	// handshakeVersion is the newest version of the protocol that begins with a handshake.
	handshakeVersion = "2025-11-25"
)

// handshakes connects as clients do: over HTTP, and by the command of each client's file.
func (d *checker) handshakes(ctx context.Context) {
	switch {
	case !d.up:
		d.add("mcp", noted, "", "not checked: no server answers")
		return
	case d.given == nil:
		d.add("mcp", noted, "", "not checked: the server does not accept your token")
		return
	}
	token, err := d.agentToken(ctx)
	if err == nil {
		err = overHTTP(ctx, d.http, d.s.URL()+"/mcp", token)
	}
	switch {
	case errors.Is(err, errOwner):
		d.add("mcp", fine, "", "%s/mcp answers, and refuses the owner's token, as it should", d.s.URL())
	case err != nil:
		d.add("mcp", wrong, "see the server's log: "+daemon.LogFile(d.dir), "the handshake at %s/mcp failed: %v", d.s.URL(), err)
	default:
		d.add("mcp", fine, "", "the handshake at %s/mcp works", d.s.URL())
	}
	for _, u := range d.entries {
		d.handshake(ctx, u)
	}
}

// agentToken is the token of an agent that is set up, or else the caller's, or the owner's.
func (d *checker) agentToken(ctx context.Context) (string, error) {
	as := *d.s
	as.Flags.Agent = ""
	for _, u := range d.entries {
		if slices.Contains(d.agents, u.name) && d.here(u) {
			as.Flags.Agent = u.name
			break
		}
	}
	return as.Credential(ctx)
}

// here reports whether an entry uses the server and the data directory that are checked.
func (d *checker) here(u setUp) bool {
	as, _ := u.shell(d.s.Getenv)
	dir, err := as.DataDir()
	return err == nil && sameDir(dir, d.dir) && as.URLs() == d.s.URLs()
}

// sameDir reports whether two paths are one directory, which need not exist.
func sameDir(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y || sameFile(a, b)
}

// handshake connects by the command of a client's file. It runs no other program than this one, whatever the file says, and only as trapeze mcp with a token
// that there is already: no agent is registered, and no server started.
func (d *checker) handshake(ctx context.Context, u setUp) {
	as, _ := u.shell(d.s.Getenv)
	program, err := lookPath(u.Command)
	if self, _ := os.Executable(); err != nil || u.Command != "trapeze" && !sameFile(program, self) {
		d.add("mcp", noted, d.again(u), "%s starts another program than this one, %s: not checked", u.client.title, u.Command)
		return
	}
	if u.filledIn() {
		d.add("mcp", noted, "", "%s fills in what the command in %s leaves open: not checked", u.client.title, u.path)
		return
	}
	who := u.client.title
	if u.name != "" {
		who += " as " + u.name
	}
	if d.here(u) {
		if u.name != "" && !slices.Contains(d.agents, u.name) && as.Getenv("TRAPEZE_TOKEN") == "" {
			return // it is not registered yet, or its token was found to be wrong
		}
	} else if !d.there(ctx, u, as) {
		return
	}
	if err := overPipe(ctx, program, slices.Concat(u.Args, []string{"--no-start"}), u.Env); err != nil {
		d.add("mcp", wrong, d.rewrite(u), "%s: the handshake by the command in %s failed: %v", who, u.path, err)
		return
	}
	d.add("mcp", fine, "", "the handshake of %s by the command in %s works", who, u.path)
}

// rewrite is how to fix an entry that does not reach its server.
func (d *checker) rewrite(u setUp) string {
	var own []string
	for name := range u.Env {
		if strings.HasPrefix(name, ownVariables) {
			own = append(own, name)
		}
	}
	if len(own) > 0 { // init leaves them as they are
		slices.Sort(own)
		return "set " + strings.Join(own, ", ") + " in the file to what this server needs, or remove them and use: " + d.again(u)
	}
	return d.again(u)
}

// there checks an entry that is for another server, or another data directory, than those that are checked. It reports whether its command can be run.
func (d *checker) there(ctx context.Context, u setUp, as *shell.Shell) bool {
	at := as.URL()
	dir, err := as.DataDir()
	if err != nil {
		d.add("mcp", wrong, d.rewrite(u), "%s: no data directory for the command in %s: %v", u.client.title, u.path, err)
		return false
	}
	with, err := as.HTTP()
	if err == nil {
		err = trapezeAt(ctx, with, at)
	}
	_, _, serves := daemon.Serving(dir)
	has := u.name == "" || as.Getenv("TRAPEZE_TOKEN") != "" || keptToken(dir, u.name)
	switch {
	case err == nil && !has && serves:
		d.add("mcp", noted, "to use this server instead: "+d.rewrite(u), "%s uses another server, at %s with %s, at which %s is not registered yet: not checked", u.client.title, at, dir, u.name)
	case err == nil && !has:
		d.add("mcp", wrong, d.rewrite(u), "%s: the command in %s has no token for the server at %s", u.client.title, u.path, at)
	case err == nil:
		return true
	case !serves && onThisMachine(at):
		d.add("mcp", noted, "to use this server instead: "+d.rewrite(u), "%s starts a server of its own, at %s with %s", u.client.title, at, dir)
	default:
		d.add("mcp", wrong, d.rewrite(u), "%s: no server for the command in %s answers at %s: %v", u.client.title, u.path, at, err)
	}
	return false
}

// trapezeAt is nil if a server of Trapeze answers at an address.
func trapezeAt(ctx context.Context, with *http.Client, at string) error {
	said, err := fetch(ctx, with, at+"/healthz")
	if err == nil && said.said["status"] != "alive" {
		return errors.New("what answers there is not Trapeze")
	}
	return err
}

// keptToken reports whether a data directory has a token of an agent, for any server.
func keptToken(dir, agent string) bool {
	for _, pattern := range []string{"agents/", "agents/at-*/"} {
		if list, err := filepath.Glob(filepath.Join(escapeGlob(dir), filepath.FromSlash(pattern+agent+".token"))); err == nil && len(list) > 0 {
			return true
		}
	}
	return false
}

// errOwner is the error of a handshake with the owner's token: the server wants one of an agent.
var errOwner = errors.New("the owner's token is refused")

// hello is a client's first message.
func hello() []byte {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{
			"protocolVersion": handshakeVersion, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "trapeze doctor", "version": shell.Version()},
		},
	})
	if err != nil {
		return nil // maps and strings always marshal
	}
	return append(b, '\n')
}

// checkWelcome returns why a message is not the answer to a handshake.
func checkWelcome(message []byte) error {
	var m struct {
		Result struct {
			Server struct {
				Name string `json:"name"`
			} `json:"serverInfo"`
		} `json:"result"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(message, &m); {
	case err != nil:
		return fmt.Errorf("the answer is not JSON: %.100q", message)
	case m.Error != nil:
		return errors.New(m.Error.Message)
	case m.Result.Server.Name == "":
		return fmt.Errorf("the answer names no server: %.100q", message)
	}
	return nil
}

func overHTTP(ctx context.Context, with *http.Client, at, token string) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	call := func(method string, body io.Reader, session string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, at, body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", handshakeVersion)
		}
		return with.Do(req)
	}
	res, err := call(http.MethodPost, bytes.NewReader(hello()), "")
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	message, err := message(res)
	if session := res.Header.Get("Mcp-Session-Id"); session != "" {
		if gone, err := call(http.MethodDelete, http.NoBody, session); err == nil { // the server would keep it for hours
			_ = gone.Body.Close()
		}
	}
	switch {
	case err != nil:
		return err
	case res.StatusCode == http.StatusForbidden && strings.Contains(string(message), "administrator's token"):
		return errOwner
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %.200s", res.Status, message)
	}
	return checkWelcome(message)
}

// message reads the first message of an answer, which may be an event stream.
func message(res *http.Response) ([]byte, error) {
	in := io.LimitReader(res.Body, maxHandshake)
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(in)
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if data, is := bytes.CutPrefix(line, []byte("data:")); is && len(bytes.TrimSpace(data)) > 0 {
			return bytes.TrimSpace(data), nil
		}
		if err != nil {
			return nil, fmt.Errorf("the answer has no message: %w", err)
		}
	}
}

// overPipe starts a program as a client does, with these environment variables and none of trapeze beside them, makes a handshake, and ends it.
func overPipe(ctx context.Context, program string, args []string, env map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // it is this program, or the user's own of this name
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, ownVariables) })
	for name, v := range env {
		if strings.HasPrefix(name, ownVariables) { // others could make any program of it
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	var said bytes.Buffer
	cmd.Stderr = &limited{to: &said, left: 4096}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = in.Write(hello())
	var line []byte
	for lines := bufio.NewReader(io.LimitReader(out, maxHandshake)); err == nil && !bytes.Contains(line, []byte(`"id":1`)); {
		line, err = lines.ReadBytes('\n') // other messages may come first
	}
	_ = in.Close() // ends the session
	ended := cmd.Wait()
	if err != nil {
		return fmt.Errorf("no answer (%w): %s", errors.Join(err, ended), strings.TrimSpace(said.String()))
	}
	return checkWelcome(line)
}

// limited writes only the first bytes, and discards the rest.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, err := l.to.Write(p[:n])
	return len(p), err
}
