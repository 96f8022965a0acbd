package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

func TestWhatWouldBeTakenForAnotherMessageIsRefused(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		session := h.session(token)
		for body, says := range map[string]string{
			`{"jsonrpc":"2.0","id":1,"method":"ping"} and more`:                             "is not JSON",
			`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`:                                    "is not JSON",
			`[` + strings.Repeat(`{},`, transport.MaxBatch) + `{}]]`:                        "is not JSON",
			`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                    "a string or an integer",
			`{"jsonrpc":"2.0","id":1e3,"method":"ping"}`:                                    "a string or an integer",
			`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                       "a string or an integer",
			`{"id":7,"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}`:         "a string or an integer",
			`[{"jsonrpc":"2.0","id":1.5,"method":"ping"}]`:                                  "a string or an integer",
			`[{"id":1,"method":"ping"},{"id":2,"method":"a"},{"method":"b","id":1}]`:        "two calls with the id 1",
			`[{"id":"a","method":"ping"},{"id":"\u0061","method":"ping"}]`:                  "two calls with the id",
			`[{"id":1,"method":"ping"}` + strings.Repeat(`,{}`, transport.MaxBatch-1) + `]`: "malformed payload",
			`[{"id":1,"method":"ping"},{"id":1,"result":{}},{"id":"1","method":"x"}]`:       "malformed payload",
		} {
			if r := h.send(token, session, body); r.status != http.StatusBadRequest || !strings.Contains(r.body, says) {
				t.Errorf("%.80s: %d %.300s", body, r.status, r.body)
			}
		}
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}` + "\n",
			`{"jsonrpc":"2.0","id":"1.5","method":"ping"}`,
		} {
			if r := h.send(token, session, body); r.status != http.StatusOK {
				t.Errorf("%s: %d %s", body, r.status, r.body)
			}
		}
	})
}
