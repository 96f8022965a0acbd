package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Options of a store. The zero value is usable.
type Options struct {
	Name     string           // of the record, which names of streams begin with; empty means "TRAPEZE"
	Replicas int              // of the stream, if it is created
	MaxSize  int64            // bytes of one artifact; 0 means [artifact.DefaultMaxSize]
	Quota    artifact.Quota   // of each workspace; fields that are 0 mean the defaults
	Now      func() time.Time // nil means time.Now
}

// Store stores artifacts in JetStream.
type Store struct {
	js     jetstream.JetStream
	bucket jetstream.KeyValue
	pieces jetstream.Stream
	prefix string // of the subjects of pieces
	max    int64
	quota  artifact.Quota
	now    func() time.Time
	check  func(workspace string, would artifact.Quota) error // nil: none

	committing chan struct{} // one commit at a time, so that the quota is exact at this front end
	usage      usage
	end        context.CancelFunc
	running    sync.WaitGroup
}

var _ artifact.Store = (*Store)(nil)

const (
	// abandoned is the age at which sweeps delete unfinished content.
	abandoned = 24 * time.Hour
	// patience is the time for one message to be stored, while a leader may be elected.
	patience = 15 * time.Second
)

// object is an artifact as the bucket has it.
type object struct {
	Size    int64     `json:"size"`
	Touched time.Time `json:"touched"`
	Content string    `json:"content"` // of which its pieces are
	// revision of the bucket.
	revision uint64
}

// Open returns the store in a bucket and a stream of JetStream, which it creates if there is none. The connection stays open when the store is closed.
func Open(ctx context.Context, js jetstream.JetStream, bucket jetstream.KeyValue, o Options) (*Store, error) {
	if o.Name == "" {
		o.Name = "TRAPEZE"
	}
	if o.MaxSize == 0 {
		o.MaxSize = artifact.DefaultMaxSize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{
		js: js, bucket: bucket, prefix: strings.ToLower(o.Name) + ".f.", max: o.MaxSize, quota: o.Quota.WithDefaults(), now: o.Now,
		committing: make(chan struct{}, 1), usage: usage{objects: map[string]object{}, used: map[string]artifact.Quota{}},
	}
	config := jetstream.StreamConfig{
		Name: o.Name + "_FILES", Description: "the content of Trapeze's artifacts", Subjects: []string{s.prefix + ">"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: 1, MaxMsgSize: -1, MaxConsumers: -1, Replicas: o.Replicas, Duplicates: time.Second,
	}
	var err error
	if s.pieces, err = js.CreateStream(ctx, config); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		s.pieces, err = js.Stream(ctx, config.Name)
	}
	if err != nil {
		return nil, failed(err)
	}
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	watch, err := bucket.WatchAll(ctx)
	if err != nil {
		s.end()
		return nil, failed(err)
	}
	ready := make(chan struct{})
	s.running.Go(func() { s.usage.follow(watch, ready) })
	<-ready
	return s, nil
}

// keyOf is the key of an artifact in the bucket.
func keyOf(k artifact.Key) string { return k.Workspace + "/" + k.Digest.Hex() }

// Put implements [artifact.Store]. It also writes content that is already stored, which repairs what is damaged.
func (s *Store) Put(ctx context.Context, workspace string, r io.Reader) (artifact.Info, error) {
	if err := (artifact.Key{Workspace: workspace, Digest: artifact.DigestOf(nil)}).Check(); err != nil {
		return artifact.Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return artifact.Info{}, err
	}
	content := nuid.Next()
	info, err := s.write(ctx, content, r)
	useless := content
	if err == nil {
		useless, err = s.commit(ctx, content, workspace, info)
	}
	if useless != "" {
		s.drop(ctx, useless)
	}
	if err != nil {
		return artifact.Info{}, err
	}
	return info, nil
}

// write stores the content of r in pieces.
func (s *Store) write(ctx context.Context, content string, r io.Reader) (artifact.Info, error) {
	return artifact.WritePieces(r, s.max, func(number int, piece []byte) error {
		return failed(s.send(ctx, s.subject(content, number), piece))
	})
}

func (s *Store) subject(content string, number int) string {
	return fmt.Sprint(s.prefix, content, ".", number)
}

// send stores a piece. One that was stored although the answer was lost is stored again.
func (s *Store) send(ctx context.Context, subject string, b []byte) error {
	for end := time.Now().Add(patience); ; {
		try, cancel := context.WithTimeout(ctx, patience/5)
		_, err := s.js.Publish(try, subject, b)
		cancel()
		if err == nil || ctx.Err() != nil || isFull(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// commit makes content that was stored an artifact, if the quota allows it. It returns which content is needed no longer: the new, if what is there is the same
// or there is an error; what is there, if it was damaged.
func (s *Store) commit(ctx context.Context, content, workspace string, info artifact.Info) (useless string, err error) {
	select {
	case s.committing <- struct{}{}:
		defer func() { <-s.committing }()
	case <-ctx.Done():
		return content, ctx.Err()
	}
	k := artifact.Key{Workspace: workspace, Digest: info.Digest}
	for {
		old, err := s.find(ctx, k)
		if err != nil {
			return content, err
		}
		next := object{Size: info.Size, Touched: s.now(), Content: content, revision: old.revision}
		useless = old.Content
		switch {
		case old.Content == "":
			err = s.admit(workspace, info)
		case s.verify(ctx, k, old) == nil: // readers of what is there go on
			next.Content, useless = old.Content, content
			if old.Touched.After(next.Touched) {
				next.Touched = old.Touched
			}
		}
		if err != nil {
			return content, err
		}
		err = s.save(ctx, k, next)
		switch {
		case err == nil:
			return useless, nil
		case isConflict(err): // another was first
		case isUnsure(err): // it may have happened, and then the content belongs to the artifact: a sweep decides
			return "", failed(err)
		default:
			return content, failed(err)
		}
	}
}

// admit refuses one artifact more beyond the quota.
func (s *Store) admit(workspace string, info artifact.Info) error {
	used := s.usage.of(workspace)
	would := artifact.Quota{Bytes: used.Bytes + info.Size, Count: used.Count + 1}
	if s.check != nil {
		if err := s.check(workspace, would); err != nil {
			return err
		}
	}
	return s.quota.Check(would)
}

// find returns an artifact; one without content if there is none, with the revision after which it can be made.
func (s *Store) find(ctx context.Context, k artifact.Key) (object, error) {
	e, err := s.bucket.Get(ctx, keyOf(k))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return object{}, nil
	}
	if err != nil {
		return object{}, failed(err)
	}
	return decode(e)
}

func decode(e jetstream.KeyValueEntry) (o object, err error) {
	if err := json.Unmarshal(e.Value(), &o); err != nil {
		return object{}, fmt.Errorf("artifacts: %s: %w: %w", e.Key(), artifact.ErrCorrupt, err)
	}
	o.revision = e.Revision()
	return o, nil
}

// save writes an artifact, if it still is as it was found.
func (s *Store) save(ctx context.Context, k artifact.Key, o object) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if o.revision == 0 {
		o.revision, err = s.bucket.Create(ctx, keyOf(k), text)
	} else {
		o.revision, err = s.bucket.Update(ctx, keyOf(k), text, o.revision)
	}
	if err == nil {
		s.usage.set(keyOf(k), o)
	}
	return err
}

// drop deletes content that belongs to no artifact; what is left is for a sweep.
func (s *Store) drop(ctx context.Context, content string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = s.purge(ctx, content)
}

func (s *Store) purge(ctx context.Context, content string) error {
	return s.pieces.Purge(ctx, jetstream.WithPurgeSubject(s.prefix+content+".*"))
}

// Touch implements [artifact.Store].
func (s *Store) Touch(ctx context.Context, k artifact.Key) (artifact.Info, error) {
	if err := k.Check(); err != nil {
		return artifact.Info{}, err
	}
	for {
		o, err := s.find(ctx, k)
		if err == nil && o.Content == "" {
			err = artifact.NotFound(k)
		}
		if err != nil {
			return artifact.Info{}, err
		}
		if now := s.now(); now.After(o.Touched) {
			o.Touched = now
			if err := s.save(ctx, k, o); isConflict(err) {
				continue
			} else if err != nil {
				return artifact.Info{}, failed(err)
			}
		}
		return artifact.Info{Digest: k.Digest, Size: o.Size}, nil
	}
}

// Used implements [artifact.Store].
func (s *Store) Used(workspace string) artifact.Quota { return s.usage.of(workspace) }

// Restrict implements [artifact.Store].
func (s *Store) Restrict(check func(workspace string, would artifact.Quota) error) { s.check = check }

// Close implements [artifact.Store].
func (s *Store) Close() error {
	s.end()
	s.running.Wait()
	return nil
}

// Codes of JetStream's errors.
const (
	codeNoResources     = 10023
	codeNoStorage       = 10047
	codeWrongSequence   = 10071
	codeSequenceInQueue = 10164
)

func codeOf(err error) jetstream.ErrorCode {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		return e.ErrorCode
	}
	return 0
}

func isConflict(err error) bool {
	code := codeOf(err)
	return code == codeWrongSequence || code == codeSequenceInQueue || errors.Is(err, jetstream.ErrKeyExists)
}

func isFull(err error) bool {
	code := codeOf(err)
	return code == codeNoResources || code == codeNoStorage
}

// isUnsure reports whether a change may have happened.
func isUnsure(err error) bool { return codeOf(err) == 0 }

// failed is the error of a call that did nothing.
func failed(err error) error {
	switch {
	case isFull(err):
		return artifact.Full("that of the NATS servers")
	case codeOf(err) != 0:
		return fmt.Errorf("artifacts: %w", err)
	}
	return err
}
