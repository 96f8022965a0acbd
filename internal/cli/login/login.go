package login

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/session"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// signedIn says who signed in.
type signedIn struct {
	client.Me
	URL    string `json:"url"` // of the server
	Issuer string `json:"issuer"`
}

// Command is the command trapeze login.
func Command(s *shell.Shell) *cobra.Command {
	cmd := s.Command("login", "Sign in at the issuer of the server, as the person that you are there", shell.NoArgs, func(ctx context.Context, _ []string) error {
		ctx, stop := shell.Interruptible(ctx)
		defer stop()
		store, err := s.Sessions()
		if err != nil {
			return err
		}
		toServer, err := s.HTTP()
		if err != nil {
			return err
		}
		attempt, err := session.Begin(ctx, toServer, s.URL())
		if errors.Is(err, session.ErrNoSignIn) {
			return shell.Hinted(err, "use a token with --token or TRAPEZE_TOKEN, or have its operator configure an issuer (docs/oauth.md)")
		}
		if err != nil {
			return err
		}
		s.Notef("open %s and enter the code %s, by %s", attempt.URL, attempt.Code, attempt.Until.Local().Format("15:04"))
		if attempt.Whole != "" {
			s.Notef("or open %s and compare the code", attempt.Whole)
		}
		in, err := attempt.Wait(ctx)
		if err != nil {
			return err
		}
		c, err := s.DialWith(in.Token)
		if err != nil {
			return err
		}
		me, err := c.Me(ctx)
		if err != nil {
			return err
		}
		if err := store.Save(in); err != nil {
			return err
		}
		return s.Emit(signedIn{me, s.URL(), in.Issuer}, func(p *shell.Page) {
			p.Line("Signed in as %s/%s in the workspace %s.", me.Role, me.Name, me.Workspace)
			p.Line("Commands act as you until you sign out, or the issuer ends your session.")
		})
	})
	cmd.Long = `Sign in at the issuer of the server (OpenID Connect): open the address that is printed, on any device, and enter the code there. Which role you have
is decided by your groups at the issuer. From then on commands act as you, until trapeze logout.

The session is in a file of the data directory that only you can read. Commands renew it while the issuer's own session lasts; when that is over, so is this
one. --token and TRAPEZE_TOKEN come before it.`
	return shell.Example(cmd, "trapeze login --url https://trapeze.example.org")
}

// Logout is the command trapeze logout.
func Logout(s *shell.Shell) *cobra.Command {
	cmd := s.Command("logout", "End the session of trapeze login", shell.NoArgs, func(ctx context.Context, _ []string) error {
		store, err := s.Sessions()
		if err != nil {
			return err
		}
		in, err := store.Load(s.URL())
		if err == nil && in != nil {
			if err := in.End(ctx); err != nil {
				s.Notef("the issuer was not told: %v", err)
			}
		}
		if err := errors.Join(err, store.Remove(s.URL())); err != nil {
			return err
		}
		ended := in != nil
		return s.Emit(struct {
			URL   string `json:"url"`
			Ended bool   `json:"ended"`
		}{s.URL(), ended}, func(p *shell.Page) {
			if !ended {
				p.Line("You were not signed in at %s.", s.URL())
				return
			}
			p.Line("Signed out at %s. A token that was given before counts until %s.", s.URL(), in.Expires.Local().Format(time.TimeOnly))
		})
	})
	cmd.Long = `Remove the session of trapeze login at this server, and tell the issuer that it is over. What the issuer's own session allows elsewhere is not
touched.`
	return cmd
}
