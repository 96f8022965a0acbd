//go:build outside

package natsnode

// Routes returns the number of connections to other nodes.
func (n *Node) Routes() int { return n.server.NumRoutes() }
