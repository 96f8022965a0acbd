package web

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command trapeze web.
func Command(s *shell.Shell) *cobra.Command {
	var printOnly bool
	cmd := s.Call("web", "Open the page of the server in a browser, signed in", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		var link struct {
			Path    string    `json:"path"`
			Expires time.Time `json:"expires"`
		}
		if err := c.Call(ctx, http.MethodPost, "/sign-in/link", nil, nil, &link); err != nil {
			return err
		}
		url := c.URL() + link.Path
		opened := false
		if !printOnly {
			opened = browse(ctx, url) == nil
		}
		return s.Emit(struct {
			URL     string    `json:"url"`
			Expires time.Time `json:"expires"`
			Opened  bool      `json:"opened"`
		}{url, link.Expires, opened}, func(p *shell.Page) {
			p.Line("%s", url)
			if opened {
				p.Line("The page opens in your browser. The link counts once, for a minute.")
				return
			}
			p.Line("Open this link within a minute. It counts once.")
		})
	})
	cmd.Long = `Open the page where people look and act: what moves, a task's story, the tickets that wait for people, the dead letters. The link that is
printed signs in the browser that opens it, once, as the principal of your token; the session lasts 12 hours.`
	cmd.Flags().BoolVar(&printOnly, "print", false, "print the link and open no browser")
	return shell.Example(cmd, "trapeze web --print")
}

// browse has the browser of the desktop open an address.
func browse(ctx context.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return errors.New("there is no program that opens pages")
	}
	return exec.CommandContext(context.WithoutCancel(ctx), path, args...).Start() //nolint:gosec // our own link
}
