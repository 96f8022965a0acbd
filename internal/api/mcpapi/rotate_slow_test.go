//go:build slow

package mcpapi_test

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// renewing brings the token that it has just now.
type renewing struct {
	token atomic.Value
	next  http.RoundTripper
}

func (w *renewing) RoundTrip(r *http.Request) (*http.Response, error) {
	return bearer{w.token.Load().(string), w.next}.RoundTrip(r)
}

func (x *told) take() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	uris := x.uris
	x.uris = nil
	return uris
}

func TestWhoIsSubscribedIsToldOnWithANewTokenAndNotWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		way := &renewing{next: inprocess.Transport(h.api)}
		way.token.Store(h.token("coder"))
		var heard told
		coder := h.connectOn(way, sessionVersion, "coder", &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
				heard.mu.Lock()
				defer heard.mu.Unlock()
				heard.uris = append(heard.uris, r.Params.URI)
			},
		})
		if err := coder.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "trapeze://inbox"}); err != nil {
			t.Fatal(err)
		}
		happens := func() []string {
			time.Sleep(time.Minute)
			if _, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{"coder"}}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			return heard.take()
		}
		inbox := []string{"trapeze://inbox"}
		if got := happens(); !slices.Equal(got, inbox) {
			t.Errorf("with the token that it began with it is told of %q", got)
		}
		h.revoke("coder")
		way.token.Store(h.tokenAt("coder", ""))
		if got := happens(); !slices.Equal(got, inbox) {
			t.Errorf("with a new token it is told of %q", got)
		}
		h.revoke("coder")
		if got := happens(); got != nil {
			t.Errorf("without a token it is told of %q", got)
		}
		_ = coder.Close()
		time.Sleep(13 * time.Hour) // without a token it cannot end its session, which is forgotten
	})
}
