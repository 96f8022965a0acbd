//go:build outside

package outside

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// move is what a model does in a turn: it calls a tool of the server trapeze, or says something, which ends the turn.
type move struct {
	tool string
	args any
	say  string
}

// shown is what a model is shown in a request.
type shown struct {
	tools   []tool
	users   []string // texts of the user, in order
	results []string // of tools, in order
	raw     string   // the whole request
	stream  bool     // the answer is wanted as events
}

// tool is a function that the model may call. Some clients group the tools of a server in a space of names.
type tool struct{ space, name string }

// last is the newest result of a tool.
func (s shown) last() string {
	if len(s.results) == 0 {
		return ""
	}
	return s.results[len(s.results)-1]
}

// tool finds a tool of the server trapeze by its own name: clients put the name of the server before it.
func (s shown) tool(name string) (tool, bool) {
	i := slices.IndexFunc(s.tools, func(t tool) bool {
		return strings.Contains(t.space+t.name, "trapeze") && (t.name == name || strings.HasSuffix(t.name, "_"+name) || strings.HasSuffix(t.name, "-"+name))
	})
	if i < 0 {
		return tool{}, false
	}
	return s.tools[i], true
}

// model answers requests of four APIs of three vendors by a script, which gets what the model is shown and how many answers it has given.
type model struct {
	url    string
	script func(n int, s shown) move

	mu      sync.Mutex
	n       int
	seen    []shown
	strange []string // requests that no API has
}

func newModel(t *testing.T, script func(n int, s shown) move) *model {
	t.Helper()
	m := &model{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", m.serve(readResponses, writeResponses))
	mux.HandleFunc("POST /v1/chat/completions", m.serve(readChat, writeChat))
	mux.HandleFunc("POST /v1/messages", m.serve(readMessages, writeMessages))
	mux.HandleFunc("POST /v1beta/models/{call}", m.serve(readGemini, writeGemini))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.strange = append(m.strange, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		http.NotFound(w, r)
	})
	s := httptest.NewServer(mux)
	m.url = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return m
}

// all is what the model was shown, request by request.
func (m *model) all() []shown {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// final is what the model was shown last.
func (m *model) final(t *testing.T) shown {
	t.Helper()
	all := m.all()
	if len(all) == 0 {
		t.Fatalf("the model was asked nothing; strange requests: %v", m.strange)
	}
	return all[len(all)-1]
}

type (
	reader func(body []byte) (shown, error)
	writer func(w http.ResponseWriter, r *http.Request, n int, do call)
)

// call is a move as the client's API names it.
type call struct {
	tool   tool
	args   string // JSON
	say    string
	stream bool
}

func (m *model) serve(read reader, write writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s, err := read(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.raw = string(body)
		n, do := m.next(s)
		do.stream = s.stream
		write(w, r, n, do)
	}
}

// next asks the script. Clients ask for titles and the like, too: those requests have no tools.
func (m *model) next(s shown) (n int, do call) {
	if len(s.tools) == 0 {
		return 0, call{say: "A task"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, s)
	m.n++
	next := m.script(m.n-1, s)
	if next.tool == "" {
		return m.n, call{say: next.say}
	}
	found, ok := s.tool(next.tool)
	if !ok {
		return m.n, call{say: "there is no tool " + next.tool}
	}
	args, err := json.Marshal(next.args)
	if err != nil {
		return m.n, call{say: err.Error()}
	}
	return m.n, call{tool: found, args: string(args)}
}

// stream writes events as text/event-stream.
func stream(w http.ResponseWriter, events ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if text, is := e.(string); is {
			fmt.Fprintf(w, "data: %s\n\n", text)
			continue
		}
		b, err := json.Marshal(e)
		if err != nil {
			panic(err) // maps of strings and numbers
		}
		if m, is := e.(obj); is && m["type"] != nil {
			fmt.Fprintf(w, "event: %s\n", m["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
}

// steps is a script that makes one move after another, and ends the turn then.
func steps(list ...func(s shown) move) func(n int, s shown) move {
	return func(n int, s shown) move {
		if n >= len(list) {
			return move{say: "done"}
		}
		return list[n](s)
	}
}

// whole writes an answer that is not streamed.
func whole(w http.ResponseWriter, answer obj) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		panic(err) // maps of strings and numbers
	}
}

type obj = map[string]any
