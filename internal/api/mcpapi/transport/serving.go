package transport

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// serving is the MCP server of a principal, and the source of its tasks, while its messages need them. They are several times as large as what else is kept
// of the principal, so one that waits and has no session has none.
type serving struct {
	mu       sync.Mutex
	server   *mcp.Server // nil: there is none
	tasks    taskext.Source
	messages int // that it serves
}

// enter has the principal keep a server, which create creates if there is none, until leave is called.
func (s *serving) enter(create func() (*mcp.Server, taskext.Source, error)) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		if s.server, s.tasks, err = create(); err != nil {
			return nil, err
		}
	}
	s.messages++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.messages--
	}, nil
}

// now returns the server and the source; nil if there is none.
func (s *serving) now() (*mcp.Server, taskext.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server, s.tasks
}

// rest drops the server, unless it serves a message or has a session.
func (s *serving) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil || s.messages > 0 {
		return
	}
	for range s.server.Sessions() {
		return
	}
	s.server, s.tasks = nil, nil
}
