package sharedrecord

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// Place says where a record is that several servers share. The zero value is nowhere.
type Place struct {
	Postgres string // URL of a PostgreSQL database
	NATS     NATS
}

// NATS says where a record in JetStream is: in a cluster of which a node runs in this process, or in one that is there.
type NATS struct {
	// Start starts the node in this process, with a directory for its replicas, which is reserved for this process; nil: there is none.
	Start func(ctx context.Context, dir string) (Node, error)
	// Dir is the directory of the node.
	Dir string
	// URL names servers of a cluster that is there, separated by commas.
	URL string
	// Credentials and CA are files: what the servers accept from this program, and who signs their certificates. Both may be empty.
	Credentials, CA string
	// Monitors are the addresses of the monitoring of all servers, such as http://HOST:8222: they tell whether writes are synced.
	Monitors []string
	// Waiting is told now and then, while a cluster takes its time to start, which nodes this one hears, and why that is not enough. May be nil.
	Waiting func(hears string, cause error)
	// Synced says that the servers are nodes of Trapeze, which sync each write, so that nobody has to be asked.
	Synced bool
}

// Node is a server of NATS in this process.
type Node interface {
	// URL is for programs of this machine that may read and write everything. It has a password.
	URL() string
	// Connect returns a new connection to it.
	Connect() (*nats.Conn, error)
	// Name is what other nodes know it by.
	Name() string
	// Nodes returns the group of all nodes. Yield has another lead it, and Remove removes a node for good.
	Nodes(ctx context.Context) (replica.Group, error)
	Yield(ctx context.Context) error
	Remove(ctx context.Context, name string) error
	// Stop stops it, after the others have taken over what it leads, or when ctx ends.
	Stop(ctx context.Context) error
}

// Kind is the technology of a place.
type Kind string

// The kinds. A data directory has a file of the name of the kind, with the suffix ".record", that names the record which it follows.
const (
	None       Kind = ""
	PostgreSQL Kind = "postgres"
	JetStream  Kind = "jetstream"
)

// Kinds are the kinds of places that have records.
var Kinds = []Kind{PostgreSQL, JetStream}

// String returns its name for people.
func (k Kind) String() string {
	switch k {
	case PostgreSQL:
		return "PostgreSQL"
	case JetStream:
		return "NATS JetStream"
	case None:
	}
	return "the data directory"
}

// Hint says how to name a place of this kind.
func (k Kind) Hint() string {
	if k == PostgreSQL {
		return "name its database with --postgres URL or TRAPEZE_POSTGRES"
	}
	return "name its cluster with --cluster-name and --join, or with --nats URL or TRAPEZE_NATS"
}

// Kind returns the kind of a place.
func (p Place) Kind() Kind {
	switch {
	case p.Postgres != "":
		return PostgreSQL
	case p.NATS.Start != nil || p.NATS.URL != "":
		return JetStream
	}
	return None
}

// Check refuses a place that is two.
func (p Place) Check() error {
	if p.Postgres != "" && (p.NATS.Start != nil || p.NATS.URL != "") {
		return refusal.New(refusal.Invalid, "name one of them", "a record is in PostgreSQL or in NATS JetStream, not in both")
	}
	if p.NATS.Start != nil && p.NATS.URL != "" {
		return refusal.New(refusal.Invalid, "name one of them", "a record is in the cluster of the server's own node or in another, not in both")
	}
	return nil
}

// Artifacts is the store of a shared record.
type Artifacts struct {
	artifact.Store
	// Each calls fn with every artifact, in order.
	Each func(ctx context.Context, fn func(artifact.Key)) error
}

// ArtifactOptions bound the artifacts. Zero fields mean the default.
type ArtifactOptions struct {
	MaxSize int64
	Quota   artifact.Quota
	Now     func() time.Time
}

// Record is a record that is open. Its technologies implement it.
type Record interface {
	// Ledger returns the ledger, which Close closes.
	Ledger() ledger.Ledger
	// ID returns the name of the record.
	ID() string
	// Acknowledged tells the ledger of a position up to which entries are known to have been appended.
	Acknowledged(ledger.Position)
	// FrontEnds opens what front ends share.
	FrontEnds(context.Context) (frontend.Store, error)
	// Artifacts opens the store of artifacts.
	Artifacts(context.Context, ArtifactOptions) (Artifacts, error)
	// Copy fills the record, which is empty, with entries as they are, at their positions. next returns the entries that follow, and none at the end.
	Copy(ctx context.Context, next func() ([]ledger.Entry, error)) error
	// Close closes the ledger, and stops what was started. What else was opened is closed before.
	Close(context.Context) error
}

// Options of a record. The zero value is useful.
type Options struct {
	// Committed is told of each commit: the number of entries, and the time that it took.
	Committed func(entries int, took time.Duration)
	// Prepare is told of each entry before those who follow the record are; nil: none is prepared.
	Prepare func(*ledger.Entry)
	// Filling says that the record is opened to be filled: programs that open it meanwhile wait for that.
	Filling bool
	// Log is told of what is wrong with the servers of the record; nil means slog.Default().
	Log *slog.Logger
}

// Open opens the record of a place, and creates it if there is none.
func Open(ctx context.Context, p Place, o Options) (Record, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if p.Kind() == JetStream {
		return openJetStream(ctx, p.NATS, o)
	}
	return openPostgres(ctx, p.Postgres, o)
}
