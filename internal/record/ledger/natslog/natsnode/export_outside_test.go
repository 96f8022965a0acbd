//go:build outside

package natsnode

// StopJetStream does what a server does whose disk is full.
func (n *Node) StopJetStream() error { return n.server.ShutdownJetStream() }

// Routes returns the number of connections to other nodes.
func (n *Node) Routes() int { return n.server.NumRoutes() }
