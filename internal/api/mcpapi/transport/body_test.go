package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

func TestLargeMessagesAreDecodedInTurnUntilTheyCallTheAPI(t *testing.T) {
	start, begun, left := time.Time{}, 0, []time.Duration{}
	small := 0 // turns of small messages that have not ended
	turn := func(_ context.Context, workspace, role, name string, large bool) (func(), error) {
		if workspace != "default" || role != "agent" {
			t.Errorf("the turn of %s %s", workspace, role)
		}
		if !large {
			small++
			begun++
			return func() { small-- }, nil
		}
		if name == "junk" {
			return nil, errors.New("overloaded: 65 large requests are being decoded or wait")
		}
		begun++
		return func() { left = append(left, time.Since(start)) }, nil
	}
	run(t, transport.Options{Turn: turn}, func(t *testing.T, h *harness) {
		start = time.Now()
		junk, honest := h.token("j", agent("junk")), h.token("h", agent("honest"))
		blank := strings.Repeat(" ", 8<<10)
		for _, c := range []struct {
			token, body string
			status      int
		}{
			{junk, whoami(2, 1), http.StatusOK},
			{junk, whoami(2, 1) + blank, http.StatusTooManyRequests},
			{honest, whoami(2, 1), http.StatusOK},
			{honest, blank + whoami(2, 5), http.StatusOK}, // after 5 s it calls the API
			{honest, whoami(2, 0) + blank + "x", http.StatusBadRequest},
		} {
			r := h.send(c.token, h.session(c.token), c.body)
			if r.status != c.status || r.status == http.StatusTooManyRequests && (r.header.Get("Retry-After") != "1" || !strings.Contains(r.body, "overloaded")) {
				t.Errorf("%.90q with %d bytes: %d %v %s", c.body, len(c.body), r.status, r.header, r.body)
			}
		}
		if want := []time.Duration{7 * time.Second, 7 * time.Second}; begun < 9 || small != 0 || !slices.Equal(left, want) {
			t.Errorf("%d turns, of which the large ended after %v, and %d small ones did not", begun, left, small)
		}
	})
}

// A client that cannot keep up sends half a message, and the rest after the deadline of the connection.
func TestAMessageThatComesTooLateIsNotCalledMalformed(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		half := io.MultiReader(strings.NewReader(`{"jsonrpc": "2.0", "id": 7, "meth`), iotest.ErrReader(os.ErrDeadlineExceeded))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", half)
		r.Header.Set("Authorization", "Bearer "+h.token("t", coder))
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		got := reply{status: w.Code, body: w.Body.String()}
		if got.status != http.StatusRequestTimeout || got.code(t) != jsonrpc.CodeInternalError || !strings.Contains(got.body, "send it again") || !strings.Contains(got.body, `"id":7`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}
