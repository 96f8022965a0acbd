package server

import (
	"context"
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

type node struct{ sharedrecord.Node }

func TestANodeThatDoesNotStartIsAnError(t *testing.T) {
	busy := errors.New("the address is in use")
	_, err := sharedrecord.Open(t.Context(), sharedrecord.Place{NATS: sharedrecord.NATS{
		Dir: t.TempDir(), Start: func(context.Context, string) (sharedrecord.Node, error) { return (*node)(nil), busy },
	}}, sharedrecord.Options{})
	if !errors.Is(err, busy) {
		t.Errorf("%v, want %v", err, busy)
	}
}
