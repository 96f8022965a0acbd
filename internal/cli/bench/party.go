package bench

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// A party is one agent, as it reaches the server.
type party interface {
	// send creates a task and hands it off in one call.
	send(ctx context.Context, in client.CreateInput) (sent, error)
	// inbox waits for items after a position.
	inbox(ctx context.Context, after string) ([]client.Item, string, error)
	accept(ctx context.Context, handoff string) (epoch uint64, err error)
	complete(ctx context.Context, task string, epoch uint64) error
	close()
}

// sent is the answer to a send.
type sent struct {
	task, handoff string
	epoch         uint64
}

// wait is how long a call waits for an inbox.
const wait = 30 * time.Second

// pool are the connections that all clients share. trust is for TLS.
func pool(clients int, trust *tls.Config) *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{}
	}
	t = t.Clone()
	t.TLSClientConfig = trust
	n := clients + maxAgents + 16
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.DisableCompression = n, n, true
	return t
}

// direct is an agent that calls the HTTP API. With render, it accepts the content as text for a model.
type direct struct {
	c      *client.Client
	render bool
}

func dial(url, token string, t http.RoundTripper) (*client.Client, error) {
	return client.New(url, token, client.Options{HTTP: &http.Client{Transport: t}, UserAgent: "trapeze-bench"})
}

func (d direct) send(ctx context.Context, in client.CreateInput) (sent, error) {
	r, err := d.c.CreateTask(ctx, in)
	return sent{r.Task, r.Handoff, r.Epoch}, err
}

func (d direct) inbox(ctx context.Context, after string) ([]client.Item, string, error) {
	in, err := d.c.Inbox(ctx, client.InboxOptions{After: after, Limit: 500, Wait: wait})
	return in.Items, in.Cursor, err
}

func (d direct) accept(ctx context.Context, handoff string) (uint64, error) {
	got, err := d.c.Accept(ctx, handoff, client.AcceptInput{Render: d.render})
	return got.Epoch, err
}

func (d direct) complete(ctx context.Context, task string, epoch uint64) error {
	_, err := d.c.Complete(ctx, task, client.CompleteInput{Epoch: epoch, Result: client.Result{Text: "done"}})
	return err
}

func (d direct) close() {}
