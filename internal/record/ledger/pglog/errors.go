package pglog

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Codes of PostgreSQL; https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	codePrivilege = "42501"
	codeDiskFull  = "53100"
)

// code returns the code of an error of the server, empty for other errors.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isRefusal reports whether the server has refused a statement and goes on: the transaction has ended without effect.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.SeverityUnlocalized == "ERROR"
}

var (
	errClosed    = fmt.Errorf("%w: the ledger is closed", ledger.ErrUnavailable)
	errAbandoned = errors.New("the caller stopped waiting")
)

func unknown(cause error) error { return fmt.Errorf("%w: %w", ledger.ErrUnknown, cause) }

// unavailable is the error for an append or a read that had no effect.
func unavailable(cause error) error {
	if code(cause) == codeDiskFull {
		return fmt.Errorf("%w at the PostgreSQL server: %w", ledger.ErrFull, cause)
	}
	return fmt.Errorf("%w: the PostgreSQL database: %w", ledger.ErrUnavailable, cause)
}
