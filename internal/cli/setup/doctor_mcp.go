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
)

const (
	// handshakeWait is how long a client would wait for a server to say who it is; some wait 10 s.
	handshakeWait = 10 * time.Second
	// maxHandshake is how many bytes of an answer are read.
	maxHandshake = 1 << 20
	// oldEra is the newest version of the protocol that begins with a handshake.
	oldEra = "2025-11-25"
)

// handshakes comes in as a client would: at the server's own door, and through trapeze mcp as each agent that a client's
// file names. What a file says is not run as it stands: it may be somebody else's.
func (d *physician) handshakes(ctx context.Context) {
	if !d.up || d.given == nil {
		d.says("mcp", noted, "", "not looked at: no server answers")
		return
	}
	token, err := d.s.Credential(ctx)
	if err == nil {
		err = overHTTP(ctx, d.s.URL()+"/mcp", token)
	}
	if err != nil {
		d.says("mcp", wrong, "start the server anew: trapeze stop, then trapeze serve --background", "the handshake at %s/mcp fails: %v", d.s.URL(), err)
	} else {
		d.says("mcp", fine, "", "the handshake at %s/mcp works", d.s.URL())
	}
	if !d.stdio {
		return
	}
	further, err := furtherOf(d.s)
	if err != nil {
		return
	}
	for _, name := range d.agents {
		if !d.used[name] {
			continue
		}
		if err := overPipe(ctx, append([]string{"mcp", "--agent", name}, further...)); err != nil {
			d.says("mcp", wrong, "run it by hand and see: trapeze mcp --agent "+name, "the handshake of trapeze mcp as %s fails: %v", name, err)
			continue
		}
		d.says("mcp", fine, "", "the handshake of trapeze mcp as %s works", name)
	}
}

// hello is the first message of a client.
func hello() []byte {
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{
			"protocolVersion": oldEra, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "trapeze doctor", "version": shell.Version()},
		},
	})
	if err != nil {
		return nil // of maps and strings there is none
	}
	return append(b, '\n')
}

// welcomed is why an answer is not the one to a handshake.
func welcomed(message []byte) error {
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
		return fmt.Errorf("the answer is no JSON: %.100q", message)
	case m.Error != nil:
		return errors.New(m.Error.Message)
	case m.Result.Server.Name == "":
		return fmt.Errorf("the answer names no server: %.100q", message)
	}
	return nil
}

func overHTTP(ctx context.Context, at, token string) error {
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
			req.Header.Set("Mcp-Protocol-Version", oldEra)
		}
		return http.DefaultClient.Do(req)
	}
	res, err := call(http.MethodPost, bytes.NewReader(hello()), "")
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	message, err := message(res)
	if session := res.Header.Get("Mcp-Session-Id"); session != "" {
		if gone, err := call(http.MethodDelete, http.NoBody, session); err == nil { // it would be kept for hours
			_ = gone.Body.Close()
		}
	}
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %.200s", res.Status, message)
	}
	return welcomed(message)
}

// message is the first message of an answer, which may come as an event.
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

// overPipe starts this program as a client would, says hello and lets it end.
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
		line, err = lines.ReadBytes('\n') // what comes before is no answer
	}
	_ = in.Close() // its sign to end
	ended := cmd.Wait()
	if err != nil {
		return fmt.Errorf("it says nothing (%w): %s", errors.Join(err, ended), strings.TrimSpace(said.String()))
	}
	return welcomed(line)
}

// limited lets only so many bytes through, and takes the others all the same.
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
