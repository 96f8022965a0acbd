package natslog

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bucket returns a bucket of keys and values beside the record, and creates it if there is none. Unlike others, it is read from its leader alone, so
// that a value that was put at one server is found at another. Replicas 0 means 3.
func Bucket(ctx context.Context, js jetstream.JetStream, name, description string, replicas int) (kv jetstream.KeyValue, err error) {
	config := jetstream.StreamConfig{
		Name: "KV_" + name, Description: description, Subjects: []string{"$KV." + name + ".>"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: 1, MaxMsgSize: -1, MaxConsumers: -1, Replicas: ReplicasOf(replicas),
		Duplicates: time.Second, DenyDelete: true, AllowRollup: true,
	}
	err = WhenReady(ctx, 0, func(ctx context.Context) (err error) {
		if _, err := js.CreateStream(ctx, config); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err
		}
		if kv, err = js.KeyValue(ctx, name); err != nil {
			return err
		}
		if _, err := kv.Get(ctx, "leader"); !errors.Is(err, jetstream.ErrKeyNotFound) { // it may have none yet
			return err
		}
		return nil
	})
	return kv, err
}
