package natslog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// idKey and formatKey are the metadata of the stream: the name of the record, and the number of the format of its messages.
const (
	idKey     = "trapeze-record"
	formatKey = "trapeze-format"
	format    = "1"
)

// wanted is the configuration of the stream of a new record.
func wanted(o Options) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: o.Name, Description: "the record of Trapeze", Subjects: []string{o.subjects() + ".>"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: MaxPayload, Replicas: o.Replicas,
		Duplicates: 100 * time.Millisecond, // identifiers of messages are not used
		DenyDelete: true, DenyPurge: true, AllowDirect: true,
		Metadata: map[string]string{idKey: nuid.Next(), formatKey: format},
	}
	if o.Filling {
		c.Metadata[fillingKey] = "yes"
	}
	return c
}

// subjects is what the subjects of entries begin with.
func (o Options) subjects() string { return strings.ToLower(o.Name) + ".e" }

// filling is the subject on which a program answers while it fills the record.
func (o Options) filling() string { return strings.ToLower(o.Name) + ".filling" }

// create returns the stream of the record, and whether it has created it, since there was none.
func create(ctx context.Context, js jetstream.JetStream, o Options) (info *jetstream.StreamInfo, created bool, err error) {
	config := wanted(o)
	err = WhenReady(ctx, o.Starting, func(ctx context.Context) error {
		if info, err = createOnce(ctx, js, o, config); err != nil && o.Waiting != nil {
			o.Waiting(err)
		}
		return err
	})
	if created = err == nil && info.Config.Metadata[idKey] == config.Metadata[idKey]; created {
		info.Config.Metadata = maps.Clone(info.Config.Metadata)
		delete(info.Config.Metadata, fillingKey) // by this log
	}
	return info, created, err
}

// WhenReady calls fn, and again while its error may pass since the cluster starts: for so long, or 30 seconds if that is 0. While a record is restored,
// that time does not run, and begins again when the restore has ended.
func WhenReady(ctx context.Context, patience time.Duration, fn func(context.Context) error) error {
	patience = cmp.Or(patience, openTimeout)
	for end := time.Now().Add(patience); ; {
		try, cancel := context.WithDeadline(ctx, earlier(end, time.Now().Add(2*requestTimeout)))
		err := fn(try)
		cancel()
		filling := errors.Is(err, ErrFilling)
		switch {
		case err == nil || !passes(err):
			return err
		case filling:
			end = time.Now().Add(patience)
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(retryAfter, time.Until(end))):
		}
		switch {
		case ctx.Err() != nil && filling:
			return fmt.Errorf("natslog: %w", err)
		case ctx.Err() != nil || !time.Now().Before(end):
			return fmt.Errorf("natslog: %w: %w", errNoAnswer, err)
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func createOnce(ctx context.Context, js jetstream.JetStream, o Options, config jetstream.StreamConfig) (*jetstream.StreamInfo, error) {
	s, err := js.Stream(ctx, o.Name)
	missing := errors.Is(err, jetstream.ErrStreamNotFound)
	if (missing || err == nil && s.CachedInfo().Config.Metadata[fillingKey] != "") && !o.Filling {
		if err := beingFilled(ctx, js.Conn(), o); err != nil {
			return nil, err
		}
	}
	if missing {
		s, err = js.CreateStream(ctx, config)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another front end was first
			s, err = js.Stream(ctx, o.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.Info(ctx)
}

// passes reports whether an error of opening may pass while a cluster starts.
func passes(err error) bool {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		return e.Code == 503 || int(e.ErrorCode) == codeNotAvailable || int(e.ErrorCode) == codeNotLeader || int(e.ErrorCode) == codeNoStream || // another server has not heard of it yet
			strings.Contains(e.Description, "no suitable peers") || strings.Contains(e.Description, "insufficient")
	}
	if code := codeOf(err); code != 0 {
		return passing(err) || code == codeNoStream
	}
	return errors.Is(err, errNoAnswer) || errors.Is(err, ErrFilling) || errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

// checkStream refuses a stream in which entries would not be safe, or which is not a record of ours.
func checkStream(c *jetstream.StreamConfig, unsafe bool) error {
	fix := func(what string, args ...any) error {
		return fmt.Errorf("natslog: the stream %s %s", c.Name, fmt.Sprintf(what, args...))
	}
	switch {
	case c.Metadata[idKey] == "":
		return fix("was not made by Trapeze: have Trapeze create it")
	case c.Metadata[formatKey] != format:
		return fix("has format %s, and this version of Trapeze reads and writes format %s: use the version that has written it or a newer one; nothing was changed", c.Metadata[formatKey], format)
	case c.Metadata[fillingKey] != "":
		return fix("was not filled to its end by trapeze restore: delete the streams of the record, and restore it again")
	case c.Replicas < minReplicas && !unsafe:
		return fix("has %d replicas, and with fewer than %d a server that dies takes acknowledged entries with it: nats stream edit %s --replicas=3", c.Replicas, minReplicas, c.Name)
	case c.Storage != jetstream.FileStorage:
		return fix("is in memory, and needs files")
	case c.Discard != jetstream.DiscardNew, c.MaxAge != 0, c.MaxMsgsPerSubject > 0, c.Retention != jetstream.LimitsPolicy:
		return fix("would discard entries: it needs the retention limits, discard=new, and no limits of age and per subject")
	case !c.DenyDelete, !c.DenyPurge, c.AllowRollup:
		return fix("lets its entries be deleted: it needs deny-delete and deny-purge, and no rollups")
	case c.MaxMsgSize >= 0 && c.MaxMsgSize < MaxPayload-headers:
		return fix("takes messages of %d bytes, and entries need %d", c.MaxMsgSize, MaxPayload)
	case !c.AllowDirect:
		return fix("needs allow-direct, so that each replica can answer reads")
	}
	return nil
}
