package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAPolicyThatErasesIsRefusedWhereNothingCanBeErased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte("version: 1\nretention:\n  - at_most_days: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := admin.New(owner(t, s)).ReloadPolicy(t.Context())
	refusedWith(t, err, refusal.Invalid, "cannot be erased")
}
