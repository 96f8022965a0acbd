package recordfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// AdminToken is the file of the owner's token.
const AdminToken = "admin.token"

// checkTokens returns which of the tokens that are kept beside the record were changed: what is no token, and what is half one of the record and half none. One of which
// the record has neither half is of another record, or newer than this copy of it, and one that is not valid any more is whole.
func (f *File) checkTokens(ctx context.Context, views *sql.DB) (found []string, err error) {
	db := query.New(views)
	known, err := query.JSON[identity.State](ctx, db, "SELECT state FROM view_token ORDER BY n")
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	kept, err := fs.Glob(os.DirFS(f.dir), "agents/*.token")
	if err != nil {
		return nil, err
	}
	for _, name := range append(kept, AdminToken) {
		text, rerr := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
		if errors.Is(rerr, fs.ErrNotExist) {
			continue
		}
		if rerr != nil {
			err = errors.Join(err, rerr)
			continue
		}
		if why := changedToken(string(text), known); why != "" {
			found = append(found, fmt.Sprintf("%s is damaged: %s; remove it, and another token is made", name, why))
		}
	}
	return found, err
}

// changedToken returns how the text of a token was changed since it was made; empty if it was not, or if that cannot be told.
func changedToken(text string, known []identity.State) string {
	line, _ := strings.CutSuffix(text, "\n")
	line, _ = strings.CutSuffix(line, "\r")
	id, secret, err := identity.ParseToken(line)
	if err != nil {
		return "it is no token"
	}
	at := slices.IndexFunc(known, func(s identity.State) bool { return s.ID == id })
	of := slices.IndexFunc(known, func(s identity.State) bool { return s.HasSecret(secret) })
	switch {
	case at >= 0 && at != of:
		return fmt.Sprintf("its secret is not that of the token %s", id)
	case at < 0 && of >= 0:
		return fmt.Sprintf("its id is %s, and its secret is that of the token %s", id, known[of].ID)
	}
	return ""
}
