//go:build outside

package natsnode

// StopJetStream does what a server does whose disk is full.
func (n *Node) StopJetStream() error { return n.server.ShutdownJetStream() }

// Routes returns the number of connections to other nodes.
func (n *Node) Routes() int { return n.server.NumRoutes() }

// MetaGroup is the group of all nodes, as nats-server calls it.
const MetaGroup = "_meta_"

// Leads returns the name of the node that leads a group, as far as this one knows.
func (n *Node) Leads(group string) string { return n.replicas()[group].leader }

// Stand has the node stand for election, and AskAgain its replica ask for what it lacks.
func (n *Node) Stand(group string)    { n.stand(group) }
func (n *Node) AskAgain(group string) { n.askAgain(group) }
