package shell

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// reachTimeout is how long [Shell.nobody] waits for an answer.
const reachTimeout = 3 * time.Second

// nobody is the refusal if no program answers at any of the server's addresses; nil if one does, or that cannot be found out. It sends no token.
func (s *Shell) nobody(ctx context.Context) error {
	with, err := s.HTTP()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var why error
	for one := range strings.SplitSeq(s.URLs(), ",") {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, one+"/healthz", http.NoBody)
		if err != nil {
			return nil // the client refuses the address
		}
		res, err := with.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		if !unreached(err) {
			return nil
		}
		why = err
	}
	hint := "start one with: trapeze serve"
	if own := s.serving(); own != "" {
		hint = "the server of this machine is at " + own + ": omit --url, and unset TRAPEZE_URL"
	}
	var wrapped *url.Error
	if errors.As(why, &wrapped) {
		why = wrapped.Err
	}
	return refusal.New(refusal.Unavailable, hint+". For a server on another machine, check the address", "no server answers at %s: %s", s.URLs(), why)
}

// unreached reports whether an HTTP request failed before there was a connection.
func unreached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" || errors.Is(err, context.DeadlineExceeded)
}
