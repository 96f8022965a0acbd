package natsnode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// MetaName is the name of the group of all nodes, which decides where replicas are.
const MetaName = "cluster"

// system returns a connection that may change which nodes the cluster has.
func (n *Node) system() (*nats.Conn, error) {
	return nats.Connect("", append(natslog.ConnectOptions(), nats.InProcessServer(n.server), nats.UserInfo(systemUser, n.password))...)
}

// Nodes returns the group of all nodes of the cluster. Error: it has no leader.
func (n *Node) Nodes(ctx context.Context) (replica.Group, error) {
	conn, err := n.system()
	if err != nil {
		return replica.Group{}, err
	}
	defer conn.Close()
	var answer struct {
		Data struct {
			Meta json.RawMessage `json:"meta_cluster"`
		} `json:"data"`
	}
	if err := natslog.Request(ctx, conn, "$SYS.REQ.SERVER.PING.JSZ", []byte(`{"leader_only":true}`), &answer); err != nil {
		return replica.Group{}, fmt.Errorf("the cluster has no leader that answers: a majority of its nodes is missing, or an election is on: %w", err)
	}
	return natslog.ParseGroup(MetaName, answer.Data.Meta)
}

// apiAnswer is what the API of JetStream answers to a change.
type apiAnswer struct {
	Error *struct {
		Description string `json:"description"`
	} `json:"error"`
}

// change makes a change of the cluster.
func (n *Node) change(ctx context.Context, subject string, body any) error {
	conn, err := n.system()
	if err != nil {
		return err
	}
	defer conn.Close()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var answer apiAnswer
	if err := natslog.Request(ctx, conn, subject, text, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("natsnode: %s", answer.Error.Description)
	}
	return nil
}

// Yield lets another node lead the cluster, if this one does and another can.
func (n *Node) Yield(ctx context.Context) error {
	all, err := n.Nodes(ctx)
	if err != nil || all.Leader != n.name || all.Without(n.name) < all.Majority() {
		return err
	}
	return n.change(ctx, server.JSApiLeaderStepDown, struct{}{})
}

// Remove removes a node for good: the others no longer count it, and its replicas are made again on those that have none.
func (n *Node) Remove(ctx context.Context, name string) error {
	all, err := n.Nodes(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all.Peers, func(p replica.Peer) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("natsnode: the cluster has no node %s", name)
	}
	return n.change(ctx, server.JSApiRemoveServer, server.JSApiMetaServerRemoveRequest{Server: name, Peer: all.Peers[i].ID})
}
