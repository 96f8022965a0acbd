package sharedrecord

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/files/artifact/natsstore"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/frontend/natsfront"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
)

const (
	// starting is how long the nodes of a cluster that are started by hand are waited for.
	starting = 10 * time.Minute
	// remind is the interval in which it is said what is waited for, and early when that is first said.
	remind = 10 * time.Second
	early  = 2 * time.Second
)

// natsRecord is a record in NATS JetStream.
type natsRecord struct {
	log  *natslog.Log
	warn *slog.Logger
	conn *nats.Conn
	js   jetstream.JetStream
	// node and the lock of its directory; nil: the servers are elsewhere.
	node     Node
	reserved io.Closer
	file     string
}

func openJetStream(ctx context.Context, c NATS, o Options) (_ Record, err error) {
	r := &natsRecord{warn: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	options := natslog.Options{Committed: o.Committed, Monitors: c.Monitors, Synced: c.Synced, Waiting: r.waiting(c.Waiting), Filling: o.Filling, Log: o.Log, Prepare: o.Prepare}
	if c.Start != nil {
		if err := r.start(ctx, c); err != nil {
			return nil, err
		}
		options.Synced, options.Starting = true, starting
		r.conn, err = r.node.Connect()
	} else {
		r.conn, err = connect(c)
	}
	if err != nil {
		return nil, err
	}
	if r.js, err = jetstream.New(r.conn); err != nil {
		return nil, err
	}
	if r.log, err = natslog.Open(ctx, r.conn, options); err != nil {
		return nil, err
	}
	return r, nil
}

// clientFile, in the directory of a node, has its URL for programs of this machine while it runs.
const clientFile = "client"

// start starts the node.
func (r *natsRecord) start(ctx context.Context, c NATS) (err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	if r.reserved, err = sqlitelog.Reserve(c.Dir); err != nil {
		return err
	}
	node, err := c.Start(ctx, c.Dir)
	if err != nil {
		return err // not with the node, which may be a nil pointer in an interface
	}
	r.node = node
	r.file = filepath.Join(c.Dir, clientFile)
	if err := os.Remove(r.file); err != nil && !errors.Is(err, fs.ErrNotExist) { // the mode of one that is there would stay
		return err
	}
	return os.WriteFile(r.file, []byte(r.node.URL()), 0o600)
}

// Running returns the place of the record of a node that runs in another process, by its directory; false if none runs.
func Running(dir string) (Place, bool) {
	url, err := os.ReadFile(filepath.Join(dir, clientFile)) //nolint:gosec // the operator's directory
	return Place{NATS: NATS{URL: string(url), Synced: true}}, err == nil && len(url) > 0
}

// waiting returns a function that tells what is waited for now and then: which nodes are there, and the error of the last try.
func (r *natsRecord) waiting(tell func(string, error)) func(error) {
	next := time.Now().Add(early)
	return func(cause error) {
		if tell == nil || time.Now().Before(next) {
			return
		}
		next = time.Now().Add(remind)
		hears := "the NATS cluster"
		if n, ok := r.node.(interface{ Hears() []string }); ok { // the names of the others to which it has a connection
			hears = cmp.Or(strings.Join(n.Hears(), ", "), "no other node")
		}
		tell(hears, cause)
	}
}

func connect(c NATS) (*nats.Conn, error) {
	var more []nats.Option
	if c.Credentials != "" {
		more = append(more, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		more = append(more, nats.RootCAs(c.CA))
	}
	return natslog.Connect(c.URL, more...)
}

// Ledger implements [Record].
func (r *natsRecord) Ledger() ledger.Ledger { return r.log }

// ID implements [Record].
func (r *natsRecord) ID() string { return r.log.ID() }

// Acknowledged implements [Record].
func (r *natsRecord) Acknowledged(at ledger.Position) { r.log.Acknowledged(at) }

// FrontEnds implements [Record].
func (r *natsRecord) FrontEnds(ctx context.Context) (frontend.Store, error) {
	s, err := natsfront.Open(ctx, r.conn, natsfront.Options{Name: r.log.Name(), Log: r.warn})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Artifacts implements [Record].
func (r *natsRecord) Artifacts(ctx context.Context, o ArtifactOptions) (Artifacts, error) {
	bucket, err := natslog.Bucket(ctx, r.js, r.log.Name()+"_ARTIFACTS", "the artifacts of Trapeze", 0)
	if err != nil {
		return Artifacts{}, err
	}
	var s *natsstore.Store
	err = natslog.WhenReady(ctx, 0, func(try context.Context) (err error) {
		s, err = natsstore.Open(try, r.js, bucket, natsstore.Options{Name: r.log.Name(), Replicas: natslog.ReplicasOf(0), MaxSize: o.MaxSize, Quota: o.Quota, Now: o.Now})
		return err
	})
	if err != nil {
		return Artifacts{}, err
	}
	return Artifacts{s, s.Each}, nil
}

// Copy implements [Record].
func (r *natsRecord) Copy(ctx context.Context, next func() ([]ledger.Entry, error)) error {
	return r.log.Copy(ctx, next)
}

// Close implements [Record].
func (r *natsRecord) Close(ctx context.Context) (err error) {
	if r.log != nil {
		err = r.log.Close()
	}
	if r.conn != nil {
		r.conn.Close()
	}
	if r.node != nil {
		err = errors.Join(err, r.node.Stop(ctx), os.Remove(r.file))
	}
	if r.reserved != nil {
		err = errors.Join(err, r.reserved.Close())
	}
	return err
}
