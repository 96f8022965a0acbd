package client

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/trapezehq/trapeze/client/wire"
)

// Me says whom the token speaks for.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return ask[Me](ctx, c, http.MethodGet, path("me"), nil, nil)
}

// Ready is nil while the server can do its work, and otherwise says why it cannot. It is not repeated.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.conn.Timeout)
	defer cancel()
	res, err := c.conn.Send(ctx, wire.Call{Method: http.MethodGet, Path: "/readyz"})
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// Agents lists the agents.
func (c *Client) Agents(ctx context.Context) (AgentList, error) {
	return ask[AgentList](ctx, c, http.MethodGet, path("agents"), nil, nil)
}

// Agent shows one agent.
func (c *Client) Agent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodGet, nil, name)
}

// RegisterAgent adds an agent, or replaces what is known about it.
func (c *Client) RegisterAgent(ctx context.Context, name string, spec AgentSpec) (Agent, error) {
	return c.agent(ctx, http.MethodPut, spec, name)
}

// RemoveAgent takes an agent out of the registry. What it holds is not touched.
func (c *Client) RemoveAgent(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodDelete, nil, name)
}

// SetReadiness says whether an agent takes new work. Whom an operator has made anything else than ready, only an operator
// makes ready again: the agent's own word is refused ([Conflict]).
func (c *Client) SetReadiness(ctx context.Context, name string, r Readiness) (Agent, error) {
	return c.agent(ctx, http.MethodPut, ReadinessInput{Readiness: r}, name, "readiness")
}

// ResetCircuit closes an agent's circuit.
func (c *Client) ResetCircuit(ctx context.Context, name string) (Agent, error) {
	return c.agent(ctx, http.MethodPost, nil, name, "circuit", "reset")
}

// StuckAgent says that an agent gets nowhere: others are asked to take over what it holds, as far as the caller may say so.
func (c *Client) StuckAgent(ctx context.Context, name string, in StuckAgentInput) (Relief, error) {
	return c.relief(ctx, in, name, "stuck")
}

// Shed moves offers that wait for an agent to others that have room.
func (c *Client) Shed(ctx context.Context, name string, in ShedInput) (Relief, error) {
	return c.relief(ctx, in, name, "shed")
}

func (c *Client) relief(ctx context.Context, in any, segments ...string) (Relief, error) {
	return ask[Relief](ctx, c, http.MethodPost, path(append([]string{"agents"}, segments...)...), nil, in)
}

func (c *Client) agent(ctx context.Context, method string, in any, segments ...string) (Agent, error) {
	return ask[Agent](ctx, c, method, path(append([]string{"agents"}, segments...)...), nil, in)
}

// Beat notes that the calling agent lives. Waiting for its inbox does so too.
func (c *Client) Beat(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, path("presence"), nil, nil, nil)
}

// CreateToken makes a token. Its text is in this answer and never again.
func (c *Client) CreateToken(ctx context.Context, in TokenInput) (Token, error) {
	return ask[Token](ctx, c, http.MethodPost, path("tokens"), nil, in)
}

// Tokens lists the tokens, revoked ones too.
func (c *Client) Tokens(ctx context.Context) (TokenList, error) {
	return ask[TokenList](ctx, c, http.MethodGet, path("tokens"), nil, nil)
}

// RevokeToken ends a token for good.
func (c *Client) RevokeToken(ctx context.Context, id string) (Token, error) {
	return ask[Token](ctx, c, http.MethodDelete, path("tokens", id), nil, nil)
}

// Trail gives a task's whole history. The read is on record.
func (c *Client) Trail(ctx context.Context, task string) (Trail, error) {
	return ask[Trail](ctx, c, http.MethodGet, path("tasks", task, "trail"), nil, nil)
}

// Export writes records to w. An error after the first byte means that the export is cut short. It is not repeated.
func (c *Client) Export(ctx context.Context, o ExportOptions, w io.Writer) error {
	q := wire.Query{}
	q.Text("format", o.Format)
	q.Text("task", o.Task)
	res, err := c.conn.Send(ctx, wire.Call{Method: http.MethodGet, Path: path("audit", "export"), Query: q, Accept: "*/*"})
	if err != nil {
		return err
	}
	defer res.Body.Close() // nothing was written
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("client: the export was cut short: %w", err)
	}
	return nil
}
