package advice

import (
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Renew returns the hint for an agent whose token, in a file of its name, the server does not accept any more.
func Renew(file string) string {
	return "the token in " + file + " is no longer valid; replace it with: " + shellword.Command("trapeze agent add", strings.TrimSuffix(filepath.Base(file), ".token"))
}
