package natsfront

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

// bucketStream begins the name of the stream of a bucket.
const bucketStream = "KV_"

// Options of a store. The zero value is useful.
type Options struct {
	// Name is that of the stream of the record; empty means "TRAPEZE". The bucket is called after it.
	Name string
	// Replicas of the bucket, if it is created; 0 means 3.
	Replicas int
	// Log is told of each leader that is asked to step down; nil means slog.Default().
	Log *slog.Logger
}

// Store keeps what front ends share in a bucket of JetStream beside the record, and tells in plain messages what is not kept. It is safe for concurrent use.
type Store struct {
	conn  *nats.Conn
	log   *slog.Logger
	kv    jetstream.KeyValue
	id    string // of this front end, as the holder of the turn
	topic string // of messages

	occupied natslog.Occupied

	mu     sync.Mutex
	agents map[string]time.Time // when they were heard of
	fronts map[string]met       // front ends that were heard of, by name
	drain  map[string]bool      // those that are to take no new work
	me     string               // name of this one
	subs   []*nats.Subscription
}

var _ frontend.Store = (*Store)(nil)

// Open returns the store of a record in the JetStream cluster of a connection, and creates its bucket if there is none. The connection stays open when the
// store is closed.
func Open(ctx context.Context, conn *nats.Conn, o Options) (*Store, error) {
	if o.Name == "" {
		o.Name = natslog.DefaultName
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	s := &Store{conn: conn, log: o.Log, id: nuid.Next(), topic: strings.ToLower(o.Name) + ".news", agents: map[string]time.Time{}, fronts: map[string]met{}, drain: map[string]bool{}}
	if s.kv, err = natslog.Bucket(ctx, js, o.Name+"_SHARED", "what the front ends of Trapeze share", o.Replicas); err != nil {
		return nil, wrap(err)
	}
	for subject, fn := range map[string]nats.MsgHandler{s.topic: s.learn, s.topic + ".front": s.hear, s.topic + ".ask": s.answer} {
		sub, err := conn.Subscribe(subject, fn)
		if err != nil {
			s.Close()
			return nil, wrap(err)
		}
		s.subs = append(s.subs, sub)
	}
	return s, wrap(conn.Publish(s.topic+".ask", nil))
}

// Close implements [frontend.Store].
func (s *Store) Close() {
	for _, sub := range s.subs {
		_ = sub.Unsubscribe() // the connection may be closed
	}
}

// Secret implements [frontend.Store].
func (s *Store) Secret(ctx context.Context, name string, generate func() (string, error)) (value string, err error) {
	err = natslog.WhenReady(ctx, 0, func(ctx context.Context) error {
		value, err = s.secret(ctx, name, generate)
		return err
	})
	return value, err
}

func (s *Store) secret(ctx context.Context, name string, generate func() (string, error)) (string, error) {
	key := "secret." + natslog.Token(name)
	value, err := s.get(ctx, key)
	if value != nil || err != nil {
		return string(value.bytes()), err
	}
	made, err := generate()
	if err != nil {
		return "", err
	}
	if _, err := s.kv.Create(ctx, key, []byte(made)); err == nil {
		return made, nil
	} else if !errors.Is(err, jetstream.ErrKeyExists) {
		return "", wrap(err)
	}
	for ctx.Err() == nil { // that of another, which may not be committed yet
		if value, err := s.get(ctx, key); value != nil || err != nil {
			return string(value.bytes()), err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return "", ctx.Err()
}

// value is one of the bucket.
type value struct{ jetstream.KeyValueEntry }

func (v *value) bytes() []byte {
	if v == nil {
		return nil
	}
	return v.Value()
}

// get returns the value of a key, nil if there is none.
func (s *Store) get(ctx context.Context, key string) (*value, error) {
	e, err := s.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, wrap(err)
	}
	return &value{e}, nil
}

// Cursor implements [frontend.Store].
func (s *Store) Cursor(ctx context.Context, name string) (ledger.Position, error) {
	at, _, err := s.cursor(ctx, "cursor."+natslog.Token(name))
	return at, err
}

func (s *Store) cursor(ctx context.Context, key string) (at ledger.Position, revision uint64, err error) {
	v, err := s.get(ctx, key)
	if v == nil || err != nil {
		return 0, 0, err
	}
	n, err := strconv.ParseUint(string(v.Value()), 10, 63)
	return ledger.Position(n), v.Revision(), wrap(err)
}

// RaiseCursor implements [frontend.Store].
func (s *Store) RaiseCursor(ctx context.Context, name string, to ledger.Position) error {
	key := "cursor." + natslog.Token(name)
	for {
		at, revision, err := s.cursor(ctx, key)
		if err != nil || at >= to {
			return err
		}
		_, err = s.update(ctx, key, strconv.AppendUint(nil, uint64(to), 10), revision)
		if !isConflict(err) {
			return wrap(err)
		}
	}
}

// update changes a value, if it has a revision.
func (s *Store) update(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	err = s.occupied.Change(ctx, s.conn, s.log, bucketStream+s.kv.Bucket(), key, func() (err error) {
		next, err = s.kv.Update(ctx, key, value, revision)
		return err
	})
	return next, err
}

// isConflict reports whether another front end was first.
func isConflict(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return ok && natslog.IsConflict(int(e.ErrorCode))
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("natsfront: %w", err)
}
