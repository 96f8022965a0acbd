package natsstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Sweep implements [artifact.Store].
func (s *Store) Sweep(ctx context.Context, before time.Time, keep func(artifact.Key) (bool, error)) (done artifact.Swept, err error) {
	all, err := s.list(ctx)
	if err != nil {
		return done, fmt.Errorf("artifacts: sweep: %w", err)
	}
	if err := s.sweepAbandoned(ctx, all); err != nil {
		return done, fmt.Errorf("artifacts: sweep: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := s.sweepOne(ctx, key, all[key], before, keep, &done); err != nil {
			return done, fmt.Errorf("artifacts: sweep: %w", err)
		}
	}
	return done, nil
}

// Each calls fn with every artifact, in order.
func (s *Store) Each(ctx context.Context, fn func(artifact.Key)) error {
	all, err := s.list(ctx)
	if err != nil {
		return failed(err)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fn(parse(key))
	}
	return nil
}

// list returns all artifacts by their keys, as the leader has them: the replica that is read may be behind.
func (s *Store) list(ctx context.Context) (map[string]object, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := s.bucket.WatchAll(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = watch.Stop() }()
	all := map[string]object{}
	for seen, complete := uint64(0), false; !complete || seen < newest; {
		select {
		case e, open := <-watch.Updates():
			switch {
			case !open:
				return nil, context.Cause(ctx)
			case e == nil:
				complete = true
				continue
			}
			seen = e.Revision()
			if e.Operation() != jetstream.KeyValuePut {
				delete(all, e.Key())
				continue
			}
			if all[e.Key()], err = decode(e); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return all, nil
}

// newest returns the revision of the newest change that the bucket has; 0 if it has none.
func (s *Store) newest(ctx context.Context) (uint64, error) {
	name := s.bucket.Bucket()
	stream, err := s.js.Stream(ctx, "KV_"+name)
	if err != nil {
		return 0, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, "$KV."+name+".>")
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return m.Sequence, nil
}

// parse returns the artifact of a key.
func parse(key string) artifact.Key {
	workspace, hex, _ := strings.Cut(key, "/")
	return artifact.Key{Workspace: workspace, Digest: artifact.Digest("sha256:" + hex)}
}

func (s *Store) sweepOne(ctx context.Context, key string, o object, before time.Time, keep func(artifact.Key) (bool, error), done *artifact.Swept) error {
	kept := !o.Touched.Before(before)
	if !kept {
		var err error
		if kept, err = keep(parse(key)); err != nil {
			return err
		}
	}
	if !kept {
		// It was put or touched while keep was called, or another sweep was first, if it is not as it was.
		switch err := s.bucket.Delete(ctx, key, jetstream.LastRevision(o.revision)); {
		case isConflict(err):
			kept = true
		case err != nil:
			return err
		}
	}
	if kept {
		done.Kept++
		return nil
	}
	s.usage.drop(key, o.revision)
	done.Deleted++
	done.Freed += o.Size
	return s.purge(ctx, o.Content)
}

// sweepAbandoned deletes content that was begun long ago and belongs to no artifact, and what is remembered of artifacts that were deleted long ago.
func (s *Store) sweepAbandoned(ctx context.Context, all map[string]object) error {
	needed := map[string]bool{}
	for _, o := range all {
		needed[o.Content] = true
	}
	info, err := s.pieces.Info(ctx, jetstream.WithSubjectFilter(s.prefix+"*.0"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		content := strings.TrimSuffix(strings.TrimPrefix(subject, s.prefix), ".0")
		if needed[content] {
			continue
		}
		m, err := s.pieces.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) { // another was first
			continue
		}
		if err == nil && time.Since(m.Time) > abandoned {
			err = s.purge(ctx, content)
		}
		if err != nil {
			return err
		}
	}
	return s.bucket.PurgeDeletes(ctx, jetstream.DeleteMarkersOlderThan(abandoned))
}
