package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/client"
)

// largeMessage is the size of a message, in bytes, from which those of one principal are decoded in turn.
const largeMessage = 8 << 10

// read reads a message before the read deadline of the connection, and waits for the turn of its principal to have it decoded; or it
// refuses the message. The turn ends with [caller.decoded].
func (h *Handler) read(a *answer, r *http.Request, me client.Me, v *caller) (body []byte, ok bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if h.options.Turn != nil && len(body) > 0 {
		leave, err := h.options.Turn(r.Context(), me.Workspace, string(me.Role), me.Name, len(body) >= largeMessage)
		if err != nil {
			a.Header().Set("Retry-After", "1")
			http.Error(a, err.Error(), http.StatusTooManyRequests)
			return nil, false
		}
		v.leave = sync.OnceFunc(leave)
	}
	a.id = idOf(body)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		http.Error(a, "the message did not arrive in time: send it again, whole", http.StatusRequestTimeout)
	case err != nil:
		http.Error(a, "the request's body could not be read", http.StatusBadRequest)
	case len(body) > MaxBody:
		a.Header().Set("Connection", "close")
		http.Error(a, fmt.Sprintf("the message is too large: the limit is %d bytes. Put large content into an artifact (PUT /v1/artifacts) and refer to it.", MaxBody), http.StatusRequestEntityTooLarge)
	case !utf8.Valid(body): // the decoder would replace invalid bytes
		http.Error(a, "the message is not UTF-8", http.StatusBadRequest)
	default:
		fault := faultOf(body)
		if fault == "" {
			return body, true
		}
		http.Error(a, fault, http.StatusBadRequest)
	}
	return nil, false
}

// decoded ends the turn of the message of the caller, if it has one: its call of the API takes turns of its own.
func (v *caller) decoded() {
	if v.leave != nil {
		v.leave()
	}
}
