package trapezetest

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
)

// T is the part of [testing.TB] that this package uses.
type T interface {
	Helper()
	Cleanup(fn func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Epoch is the time at which the clock of every server starts.
var Epoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// Options of a server. The zero value is fine.
type Options struct {
	// Policy is the text of the policy file of the default workspace; empty: none.
	Policy string
}

// Server is a server for one test, with the scripted agents of the test. Its methods are for one goroutine; the server itself takes
// calls from any number of clients.
type Server struct {
	t       T
	server  *server.Server
	clock   *server.Clock
	admin   *client.Client
	token   string
	tokens  map[string]string
	clients map[string]*client.Client
	agents  []*Agent
}

// Start starts a server that ends with the test. Its data are in memory where the system has a file system in memory, and in a
// temporary directory otherwise. Its clock stands at [Epoch] until the test moves it.
func Start(t T) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith is [Start] with options.
func StartWith(t T, o Options) *Server {
	t.Helper()
	s := &Server{t: t, clock: server.NewClock(Epoch), tokens: map[string]string{}, clients: map[string]*client.Client{}}
	conf := server.Config{Temporary: true, Clock: s.clock, Version: "test"}
	if o.Policy != "" {
		conf.Policy = s.policyFile(o.Policy)
	}
	var err error
	if s.server, err = server.Open(context.Background(), conf); err != nil {
		t.Fatalf("the server does not start: %v", err)
	}
	t.Cleanup(s.close)
	token, err := os.ReadFile(s.server.AdminTokenFile())
	if err != nil {
		t.Fatalf("the server has no administrator: %v", err)
	}
	s.token = strings.TrimSpace(string(token))
	s.admin = s.connect(s.token)
	return s
}

func (s *Server) policyFile(text string) string {
	f, err := os.CreateTemp("", "trapeze-*.yaml")
	if err == nil {
		s.t.Cleanup(func() { _ = os.Remove(f.Name()) })
		if _, err = f.WriteString(text); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		s.t.Fatalf("the policy cannot be written: %v", err)
	}
	return f.Name()
}

func (s *Server) close() {
	s.admin.Close()
	for _, c := range s.clients {
		c.Close()
	}
	if err := s.server.Close(context.Background()); err != nil {
		s.t.Errorf("the server does not end well: %v", err)
	}
}

func (s *Server) connect(token string) *client.Client {
	c, err := client.New(s.URL(), token, client.Options{UserAgent: "trapezetest"})
	if err != nil {
		s.t.Fatalf("no client: %v", err)
	}
	return c
}

// URL is the address of the server: http://127.0.0.1:PORT. The MCP endpoint is /mcp below it.
func (s *Server) URL() string { return s.server.URL() }

// AdminToken is the token of the server's administrator.
func (s *Server) AdminToken() string { return s.token }

// Admin is a client with the administrator's token.
func (s *Server) Admin() *client.Client { return s.admin }

// Register registers an agent, or replaces its description.
func (s *Server) Register(name string, spec client.AgentSpec) {
	s.t.Helper()
	if _, err := s.admin.RegisterAgent(context.Background(), name, spec); err != nil {
		s.t.Fatalf("agent %s is not registered: %v", name, err)
	}
}

// Token is a token of an agent, for a program that the test starts. An agent that is not registered is registered first, with a
// context window of 200,000 tokens.
func (s *Server) Token(name string) string {
	s.t.Helper()
	if text, ok := s.tokens[name]; ok {
		return text
	}
	if _, err := s.admin.Agent(context.Background(), name); err != nil {
		s.Register(name, client.AgentSpec{ContextWindow: defaultWindow})
	}
	made, err := s.admin.CreateToken(context.Background(), client.TokenInput{Role: "agent", Name: name})
	if err != nil {
		s.t.Fatalf("agent %s gets no token: %v", name, err)
	}
	s.tokens[name] = made.Text
	return made.Text
}

// Client is a client of an agent, which is registered as by [Server.Token] if it is not yet.
func (s *Server) Client(name string) *client.Client {
	s.t.Helper()
	if c, ok := s.clients[name]; ok {
		return c
	}
	c := s.connect(s.Token(name))
	s.clients[name] = c
	return c
}

// Create creates a task as the administrator, and returns its id.
func (s *Server) Create(in client.CreateInput) string {
	s.t.Helper()
	r, err := s.admin.CreateTask(context.Background(), in)
	if err != nil {
		s.t.Fatalf("the task is not created: %v", err)
	}
	return r.Task
}

// Now is the time by the server's clock.
func (s *Server) Now() time.Time { return s.clock.Now() }

// Advance moves the clock. Every timer on the way runs at its own time, and when the call returns, what follows from them has
// happened. Scripted agents do nothing meanwhile: see [Server.Run].
func (s *Server) Advance(by time.Duration) {
	s.t.Helper()
	if _, err := s.server.Advance(context.Background(), by); err != nil {
		s.t.Fatalf("the clock is not moved: %v", err)
	}
}

// settle waits until what follows from the calls so far has happened, and returns when the next timer runs.
func (s *Server) settle() time.Time {
	s.t.Helper()
	next, err := s.server.Settle(context.Background())
	if err != nil {
		s.t.Fatalf("the server does not settle: %v", err)
	}
	return next
}

func (s *Server) find(name string) *Agent {
	if i := slices.IndexFunc(s.agents, func(a *Agent) bool { return a.name == name }); i >= 0 {
		return s.agents[i]
	}
	return nil
}
