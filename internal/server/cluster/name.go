package cluster

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/replica"
)

// Name returns the name of a server, by which the others of its record know it: that of its node, or one that is made at the first start, and kept in
// a file of its data directory.
func Name(of replica.Cluster, file string, write func(path, text string) error) (string, error) {
	if of != nil && of.Node() != "" {
		return of.Node(), nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator's directory
	if kept := strings.TrimSpace(string(text)); err == nil && kept != "" {
		return kept, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	host, _ := os.Hostname() // it may have none
	host, _, _ = strings.Cut(host, ".")
	name := cmp.Or(host, "server") + "-" + strings.ToLower(rand.Text()[:6])
	return name, write(file, name+"\n")
}
