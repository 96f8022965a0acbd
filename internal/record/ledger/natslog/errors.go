package natslog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Codes of JetStream's errors.
const (
	codeNotAvailable    = 10008 // no leader of the cluster
	codeNotLeader       = 10009
	codeNoResources     = 10023 // the servers' limits
	codeNoMessage       = 10037
	codeNoStorage       = 10047
	codeNoStream        = 10059
	codeStreamOffline   = 10118
	codeWrongSequence   = 10071
	codeSequenceInQueue = 10164 // another message of the subject is on its way
)

// IsConflict reports whether a code of a JetStream error says that a message was not the next one.
func IsConflict(code int) bool { return code == codeWrongSequence || code == codeSequenceInQueue }

// apiError is an error of JetStream's API.
type apiError struct {
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("JetStream: %s (%d)", e.Description, e.ErrCode)
}

// codeOf returns the code of an error of JetStream, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e.ErrCode
	}
	return 0
}

// Errors of opening a record while it is restored.
var (
	// ErrFilling passes: the record is there when the restore has ended.
	ErrFilling = errors.New("a record is being restored into the cluster")
	// ErrFilled refuses a second restore.
	ErrFilled = errors.New("natslog: another restore fills this record now, and this one has changed nothing: let that one end; its streams must stay")
)

var (
	errClosed   = fmt.Errorf("%w: the ledger is closed", ledger.ErrUnavailable)
	errNoAnswer = ledger.ErrNoMajority
	errLost     = errors.New("the stream has lost entries that were acknowledged: it may have been restored from a backup, or a majority of its servers has lost their disks. " +
		"Restore the newest copy that has them, and start again")
	errReplaced = errors.New("the NATS cluster has another record than when the server was started: start again, with the right URL")
	errMissing  = fmt.Errorf("%w: it is missing", ledger.ErrInvalid)
)

func unknown(cause error) error { return fmt.Errorf("%w: %w", ledger.ErrUnknown, cause) }

// unavailable is the error for an append or a read that had no effect.
func unavailable(cause error) error {
	if errors.Is(cause, ledger.ErrUnavailable) {
		return cause
	}
	switch codeOf(cause) {
	case codeNoResources, codeNoStorage:
		return fmt.Errorf("%w at the NATS servers: %w", ledger.ErrFull, cause)
	case codeNotAvailable, codeNotLeader, codeStreamOffline:
		return fmt.Errorf("%w: %w", ledger.ErrNoMajority, cause)
	}
	if errors.Is(cause, nats.ErrTimeout) || errors.Is(cause, nats.ErrNoResponders) || errors.Is(cause, jetstream.ErrNoStreamResponse) || errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, errElected) {
		return fmt.Errorf("%w: %w", ledger.ErrNoMajority, cause)
	}
	return fmt.Errorf("%w: %w", ledger.ErrUnavailable, cause)
}

// neverSent reports whether a request has reached no server, or was refused before anything was proposed.
func neverSent(err error) bool {
	switch codeOf(err) {
	case codeNotAvailable, codeNotLeader, codeNoResources, codeNoStorage, codeStreamOffline:
		return true
	}
	return errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionClosed) ||
		errors.Is(err, nats.ErrMaxPayload)
}
