package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/replica"
)

// groupInfo is what the leader of a group of replicas says about them.
type groupInfo struct {
	Leader   string        `json:"leader"`
	Replicas []replicaInfo `json:"replicas"`
}

// Groups returns the groups of replicas of some streams; one that does not exist is not in the list. Error: a stream has no leader.
func Groups(ctx context.Context, conn *nats.Conn, streams ...string) (list []replica.Group, err error) {
	for _, name := range streams {
		var info struct {
			Error   *apiError `json:"error"`
			Cluster groupInfo `json:"cluster"`
		}
		if err := Request(ctx, conn, "$JS.API.STREAM.INFO."+name, nil, &info); err != nil {
			return list, fmt.Errorf("the stream %s has no leader that answers: a majority of its replicas is missing, or an election is on: %w", name, err)
		}
		switch {
		case info.Error != nil && info.Error.ErrCode == codeNoStream:
		case info.Error != nil:
			return list, fmt.Errorf("the stream %s: %w", name, info.Error)
		default:
			list = append(list, info.Cluster.group(name))
		}
	}
	return list, nil
}

// group returns the group as others know it.
func (i groupInfo) group(name string) replica.Group {
	g := replica.Group{Name: name, Leader: i.Leader}
	if i.Leader != "" {
		g.Peers = append(g.Peers, replica.Peer{Name: i.Leader, Current: true})
	}
	for _, r := range i.Replicas {
		if strings.Contains(r.Name, "unknown") && strings.Contains(r.Name, r.Peer) { // none of those that run has ever heard of it
			r.Name = r.Peer
		}
		g.Peers = append(g.Peers, replica.Peer{Name: r.Name, ID: r.Peer, Current: r.Current && !r.Offline, Lag: r.Lag, Silent: r.Active})
	}
	slices.SortFunc(g.Peers, func(a, b replica.Peer) int { return strings.Compare(a.Name, b.Name) })
	return g
}

// ParseGroup reads what the leader of a group says about it.
func ParseGroup(name string, text []byte) (replica.Group, error) {
	var i groupInfo
	err := json.Unmarshal(text, &i)
	return i.group(name), err
}

// Yield has a server give up the lead of streams that it leads. Others are elected.
func Yield(ctx context.Context, conn *nats.Conn, server string, groups []replica.Group) error {
	var errs []error
	for _, g := range groups {
		if g.Leader != server || g.Without(server) < g.Majority() {
			continue // nobody could take over
		}
		var answer struct {
			Error *apiError `json:"error"`
		}
		err := Request(ctx, conn, "$JS.API.STREAM.LEADER.STEPDOWN."+g.Name, nil, &answer)
		if err == nil && answer.Error != nil {
			err = answer.Error
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the stream %s: %w", g.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Request asks a server, and decodes its answer.
func Request(ctx context.Context, conn *nats.Conn, subject string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply.Data, answer); err != nil {
		return fmt.Errorf("an answer of NATS cannot be read: %w", err)
	}
	return nil
}
