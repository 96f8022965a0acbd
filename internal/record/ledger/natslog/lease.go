package natslog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// MinElection is the shortest time after which a replica that no longer hears the leader may stand for election, unless the process of the leader has died: package
// natsnode sets it. In a nats-server that runs by itself it is twice as long.
const MinElection = 2 * time.Second

// leaseMargin is what a lease leaves of that time for clocks that differ.
const leaseMargin = MinElection / 4

// lease is until when what the leader of the stream answers is known to be the newest: until then no majority can have elected another.
type lease struct {
	mu    sync.Mutex
	until time.Time
}

// check returns when the lease has not ended, if need be after asking the leader when it heard of the others. Call it after what it is to cover was
// read.
func (e *lease) check(ctx context.Context, l *Log) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Now().Before(e.until) {
		return nil
	}
	asked := time.Now()
	info, err := l.streamInfo(ctx)
	if err != nil {
		return err
	}
	heard, ok := info.heard()
	if !ok {
		return fmt.Errorf("%w: the stream has no leader", errNoAnswer)
	}
	if e.until = asked.Add(MinElection - leaseMargin - heard); !time.Now().Before(e.until) {
		return fmt.Errorf("%w: the leader has not heard of a majority for %s", errNoAnswer, heard.Round(time.Millisecond))
	}
	return nil
}

// streamInfo is a part of what the leader of a stream says about it.
type streamInfo struct {
	Error   *apiError              `json:"error"`
	Config  jetstream.StreamConfig `json:"config"`
	Cluster struct {
		Leader   string        `json:"leader"`
		Replicas []replicaInfo `json:"replicas"`
	} `json:"cluster"`
}

// replicaInfo is a replica, as the leader sees it.
type replicaInfo struct {
	Name    string        `json:"name"`
	Peer    string        `json:"peer"` // id of the server
	Current bool          `json:"current"`
	Offline bool          `json:"offline"`
	Active  time.Duration `json:"active"` // since it was heard of
	Lag     uint64        `json:"lag"`    // in operations
}

func (l *Log) streamInfo(ctx context.Context) (info streamInfo, err error) {
	b, err := l.ask(ctx, &nats.Msg{Subject: "$JS.API.STREAM.INFO." + l.opts.Name})
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(b, &info); err != nil {
		return info, fmt.Errorf("an answer of JetStream cannot be read: %w", err)
	}
	if info.Error != nil {
		return info, info.Error
	}
	return info, nil
}

// heard returns how long ago the leader has heard of enough of the others to be a majority; false: there is no leader.
func (i *streamInfo) heard() (time.Duration, bool) {
	others := i.Cluster.Replicas
	if i.Cluster.Leader == "" && len(others) > 0 {
		return 0, false
	}
	ages := make([]time.Duration, len(others))
	for n, r := range others {
		if ages[n] = r.Active; r.Active == 0 && !r.Current { // never
			ages[n] = time.Hour
		}
	}
	slices.Sort(ages)
	if need := (len(others) + 1) / 2; need > 0 {
		return ages[need-1], true
	}
	return 0, true
}
