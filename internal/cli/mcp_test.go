package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mcpSession is an MCP client of a trapeze mcp in its own process.
type mcpSession struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte       // its output; closed when that ends
	heard map[string][]byte // what came before it was asked for: answers by id, the last notification by method
}

var (
	sessionsMu sync.Mutex
	sessions   = map[string]*mcpSession{} // by story and agent
)

// mcpClient is the command mcp of the scripts.
func mcpClient(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: mcp NAME says|hears|leaves …")
	}
	s := mcpSessionOf(ts, args[0])
	switch {
	case args[1] == "says" && len(args) == 3:
		_, err := io.WriteString(s.in, args[2]+"\n")
		ts.Check(err)
	case args[1] == "hears" && len(args) == 3:
		file := ts.MkAbs(args[0] + ".heard")
		ts.Check(os.WriteFile(file, s.hears(ts, args[2]), 0o600))
		ts.Check(ts.Exec("cat", file))
	case args[1] == "leaves":
		ts.Check(s.in.Close())
		for line := range s.lines {
			ts.Logf("it says last: %s", line)
		}
		ts.Check(s.cmd.Wait())
		sessionsMu.Lock()
		defer sessionsMu.Unlock()
		delete(sessions, filepath.Join(ts.Getenv("WORK"), args[0]))
	default:
		ts.Fatalf("mcp does not know %q", args)
	}
}

// mcpSessionOf is the session of an agent in a script; it starts one if there is none.
func mcpSessionOf(ts *testscript.TestScript, agent string) *mcpSession {
	sessionsMu.Lock()
	defer sessionsMu.Unlock()
	key := filepath.Join(ts.Getenv("WORK"), agent)
	if s := sessions[key]; s != nil {
		return s
	}
	cmd := exec.Command("sh", "-c", `exec trapeze mcp --agent "$0" 2>"$0.log"`, agent) // it ends with its input
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "WORK", "HOME", "GORACE", "TRAPEZE_DATA", "TRAPEZE_URL"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s := &mcpSession{cmd: cmd, in: in, lines: make(chan []byte, 64), heard: map[string][]byte{}}
	go func() {
		defer close(s.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			s.lines <- line
		}
	}()
	sessions[key] = s
	ts.Defer(func() { _ = in.Close() }) // it may have left
	return s
}

// hears waits for the answer to a message with an ID, or for a notification of a method. Every line must be a message of the protocol.
func (s *mcpSession) hears(ts *testscript.TestScript, what string) []byte {
	late := time.After(patience)
	for s.heard[what] == nil {
		select {
		case line, more := <-s.lines:
			var m struct {
				JSONRPC string `json:"jsonrpc"`
				ID      any    `json:"id"`
				Method  string `json:"method"`
			}
			if !more {
				ts.Fatalf("it ended before it said %s", what)
			}
			if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
				ts.Fatalf("the output has a line that is no message: %s", line)
			}
			if m.Method == "" {
				m.Method = fmt.Sprint(m.ID)
			}
			s.heard[m.Method] = line
		case <-late:
			ts.Fatalf("%s was never said", what)
		}
	}
	defer delete(s.heard, what)
	return s.heard[what]
}
