package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

func TestEveryRefusalOfTheTransportIsAnErrorOfTheProtocol(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		session := h.session(token)
		large := strings.Repeat("x", transport.MaxBody)
		for name, c := range map[string]struct {
			method, session, body string
			status                int
			code                  int64
			id                    string
		}{
			"no such session":              {http.MethodPost, "x", whoami(7, 0), http.StatusNotFound, -32001, `null`},
			"no such session to listen to": {http.MethodGet, "x", "", http.StatusNotFound, -32001, `null`},
			"no session":                   {http.MethodGet, "", "", http.StatusBadRequest, jsonrpc.CodeInvalidRequest, `null`},
			"no JSON":                      {http.MethodPost, session, "{", http.StatusBadRequest, jsonrpc.CodeInvalidRequest, `null`},
			"nothing":                      {http.MethodPost, session, "", http.StatusBadRequest, jsonrpc.CodeInvalidRequest, `null`},
			"an unknown method":            {http.MethodPost, session, `{"jsonrpc":"2.0","id":"a","method":"fly"}`, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, `"a"`},
			"bytes that are no text":       {http.MethodPost, session, `{"params":"` + "\xff" + `","id":7}`, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, `7`},
			"too large":                    {http.MethodPost, session, `{"jsonrpc":"2.0","id":7,"params":"` + large, http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, `7`},
			"too large, its id at the end": {http.MethodPost, session, `{"params":"` + large + `","id":7}`, http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, `null`},
			"another way":                  {http.MethodPut, session, "", http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, `null`},
		} {
			r := h.ask(c.method, token, c.session, c.body)
			if r.status != c.status || r.code(t) != c.code || r.header.Get("Content-Type") != "application/json" ||
				!strings.Contains(r.body, `"id":`+c.id+`,`) || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0",`) {
				t.Errorf("%s: %d %v %s", name, r.status, r.header, r.body)
			}
		}
	})
}

// Clients in wide use look for these very bytes before they begin another session.
func TestASessionThatIsNotFoundIsSaidAsClientsLookForIt(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		r := h.send(h.token("t", coder), "never-was", whoami(2, 0))
		if want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`; r.status != http.StatusNotFound || r.body != want {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
}

func TestWhatTheAPIRefusesIsRefusedAsItDoes(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		r := h.send("nobody's", "", whoami(2, 0))
		if r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") != "Bearer" || r.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d %v %s", r.status, r.header, r.body)
		}
	})
}
