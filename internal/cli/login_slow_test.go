//go:build slow

package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/oauth/oauthtest"
	"github.com/trapezehq/trapeze/internal/server"
)

func TestALoginThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	i := oauthtest.New(t)
	s := issued(t, i)
	d := newDesk(t, s.URL())
	if _, stderr := d.run(1, "login"); !strings.Contains(stderr, "did not sign you in") { // nobody is signed in at the issuer
		t.Error(stderr)
	}
	i.SignIn(oauthtest.Claims{"preferred_username": "eve", "groups": []string{"staff"}}, time.Minute)
	i.ApproveDevice()
	if _, stderr := d.run(5, "login"); !strings.Contains(stderr, "none of their groups has a role here") {
		t.Error(stderr)
	}
	plain, err := server.Open(t.Context(), server.Config{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Close(context.Background()) })
	if _, stderr := newDesk(t, plain.URL()).run(1, "login"); !strings.Contains(stderr, "do not sign in at this server") || !strings.Contains(stderr, "TRAPEZE_TOKEN") {
		t.Error(stderr)
	}
}
