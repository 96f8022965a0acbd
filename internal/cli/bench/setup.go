package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

const (
	atOnce        = 16               // calls that set up or clean up at a time
	cleaning      = 2 * time.Minute  // the time limit for cleaning up
	settling      = 30 * time.Second // the time limit for setting up, for each agent
	window        = 200_000          // tokens of an agent's context, if the tokens of envelopes are counted
	workspace     = "bench-"         // what the names of the workspaces and agents begin with
	administrator = "bench"          // the name of the administrator's token
)

// stand is a workspace of its own with its agents.
type stand struct {
	o         Options
	url       string
	workspace string
	transport *http.Transport
	owner     *client.Client // of the whole server
	admin     admin.Client   // of the workspace
	token     string         // id of the administrator's token
	mark      *os.File       // that other runs know this one by; nil: there is none

	mu     sync.Mutex
	names  []string
	tokens []string // ids
	by     []party
}

// build makes a workspace with agents. What it returns must be cleared, also with an error.
func build(ctx context.Context, owner *client.Client, o Options) (*stand, error) {
	most := 0
	for _, n := range o.Clients {
		most = max(most, n)
	}
	s := &stand{o: o, url: owner.URL(), owner: owner, transport: pool(most, o.TLS), workspace: workspace + client.NewKey()[24:]}
	s.mark = makeMark(o.mark(s.workspace))
	made, err := admin.New(owner).CreateWorkspace(ctx, admin.WorkspaceInput{Name: s.workspace, Description: purpose, Role: client.RoleAdmin, Bearer: administrator})
	if err != nil {
		return s, fmt.Errorf("a workspace of its own: %w", err)
	}
	s.token = made.Token.ID
	c, err := dial(s.url, made.Token.Text, s.transport)
	if err != nil {
		return s, err
	}
	s.admin = admin.New(c)
	n := o.agents()
	s.names, s.by = make([]string, n), make([]party, n)
	return s, inParallel(ctx, n, s.addAgent)
}

// addAgent registers one agent and connects it.
func (s *stand) addAgent(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	name, spec := fmt.Sprintf("bench-%03d", i), client.AgentSpec{}
	if s.o.Envelope > 0 {
		spec.ContextWindow = window
	}
	if _, err := s.admin.RegisterAgent(ctx, name, spec); err != nil {
		return fmt.Errorf("agent %s: %w", name, err)
	}
	s.mu.Lock()
	s.names[i] = name
	s.mu.Unlock()
	t, err := s.admin.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		return fmt.Errorf("token of %s: %w", name, err)
	}
	s.mu.Lock()
	s.tokens = append(s.tokens, t.ID)
	s.mu.Unlock()
	if s.o.Over == overMCP {
		var agent tools
		if agent, err = connect(context.WithoutCancel(ctx), s.url, t.Text, s.transport); err == nil {
			s.by[i] = agent // none, rather than one without a session, is what there is to close
		}
	} else {
		var c *client.Client
		c, err = dial(s.url, t.Text, s.transport)
		s.by[i] = direct{c, !s.o.Direct}
	}
	return err
}

// clear cancels the tasks that are left, removes agents and tokens, and archives the workspace, also after an interruption. It goes on after errors.
func (s *stand) clear(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	defer s.transport.CloseIdleConnections()
	defer s.unmark()
	if s.token == "" {
		return nil
	}
	for _, p := range s.by {
		if p != nil {
			p.close()
		}
	}
	errs := []error{s.cancelTasks(ctx)}
	errs = append(errs, inParallel(ctx, len(s.names), func(ctx context.Context, i int) error {
		if s.names[i] == "" {
			return nil
		}
		_, err := s.admin.RemoveAgent(ctx, s.names[i])
		return err
	}), inParallel(ctx, len(s.tokens), func(ctx context.Context, i int) error {
		_, err := s.admin.RevokeToken(ctx, s.tokens[i])
		return err
	}))
	_, err := s.admin.RevokeToken(ctx, s.token) // its own, last
	_, archived := admin.New(s.owner).ArchiveWorkspace(ctx, s.workspace, admin.ArchiveInput{Why: "trapeze bench is over"})
	return errors.Join(append(errs, err, archived)...)
}

// unmark removes the mark of the run.
func (s *stand) unmark() {
	if s.mark != nil {
		_ = s.mark.Close()
	}
	_ = os.Remove(s.o.mark(s.workspace))
}

// cancelTasks cancels the tasks that have not ended.
func (s *stand) cancelTasks(ctx context.Context) error {
	for {
		page, err := s.admin.Tasks(ctx, client.TaskFilter{Live: true, Limit: 500})
		if err != nil || len(page.Tasks) == 0 {
			return err
		}
		done := 0
		var mu sync.Mutex
		err = inParallel(ctx, len(page.Tasks), func(ctx context.Context, i int) error {
			_, err := s.admin.Cancel(ctx, page.Tasks[i].ID, client.CancelInput{Detail: "trapeze bench is over"})
			if errors.Is(err, client.Conflict) || errors.Is(err, client.NotFound) {
				err = nil // it ended meanwhile, such as with its parent
			}
			if err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			}
			return err
		})
		if err != nil || done == 0 {
			return err
		}
	}
}

// inParallel calls fn for each number below n, a few at a time, and returns the first error of each.
func inParallel(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, n)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = fn(ctx, i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
