package natsnode

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// Remove removes a node that is gone for good from the cluster. Its replicas are made again at a node that has none, as soon as there is one; until then the
// cluster survives no further loss. A node that was removed does not come back with its directory.
func (n *Node) Remove(ctx context.Context, name string) error {
	c, err := n.connect(system)
	if err != nil {
		return err
	}
	defer c.Close()
	request, err := json.Marshal(server.JSApiMetaServerRemoveRequest{Server: name})
	if err != nil {
		return err
	}
	reply, err := c.RequestWithContext(ctx, server.JSApiRemoveServer, request)
	if err != nil {
		return fmt.Errorf("natsnode: the node %s is not removed, since the cluster does not answer: %w", name, err)
	}
	var answer server.JSApiMetaServerRemoveResponse
	switch err := json.Unmarshal(reply.Data, &answer); {
	case err != nil:
		return err
	case answer.Error != nil:
		return fmt.Errorf("natsnode: the node %s is not removed: %s", name, answer.Error.Description)
	}
	return nil
}
