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
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

const (
	// handshakeWait is the timeout of a handshake: some clients wait 10 s.
	handshakeWait = 10 * time.Second
	// maxHandshake is the maximum size of an answer, in bytes.
	maxHandshake = 1 << 20
	// handshakeVersion is the newest version of the protocol that begins with a handshake.
	handshakeVersion = "2025-11-25"
)

// handshakes connects as clients do: over HTTP, and through trapeze mcp for each agent that a client's file names. It does not run the
// command in the file, which may come from somebody else.
func (d *checker) handshakes(ctx context.Context) {
	if !d.up || d.given == nil {
		d.add("mcp", noted, "", "not checked: no server answers")
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
		d.add("mcp", wrong, "restart the server: trapeze stop, then trapeze serve --background", "the handshake at %s/mcp failed: %v", d.s.URL(), err)
	default:
		d.add("mcp", fine, "", "the handshake at %s/mcp works", d.s.URL())
	}
	if !d.stdio {
		return
	}
	further, err := serverArgs(d.s)
	if err != nil {
		return
	}
	for _, name := range d.agents {
		if !d.used[name] {
			continue
		}
		if err := overPipe(ctx, append([]string{"mcp", "--agent", name}, further...)); err != nil {
			d.add("mcp", wrong, "run it by hand: trapeze mcp --agent "+shellword.Quote(name), "the handshake as %s with trapeze mcp failed: %v", name, err)
			continue
		}
		d.add("mcp", fine, "", "the handshake as %s with trapeze mcp works", name)
	}
}

// agentToken is the token of an agent that is set up, or else the caller's, or the owner's.
func (d *checker) agentToken(ctx context.Context) (string, error) {
	as := *d.s
	for _, name := range d.agents {
		if d.used[name] {
			as.Flags.Agent = name
			break
		}
	}
	return as.Credential(ctx)
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

// overPipe starts this program as a client does, makes a handshake, and ends it.
func overPipe(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // it is this program
	cmd.WaitDelay = time.Second
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TRAPEZE_AGENT=") })
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
