//go:build outside

package natsnode_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

// What a node does in an election is done by functions of nats-server that it does not export.
func TestANodeThatStandsForElectionLeads(t *testing.T) {
	c := natstest.Start(t, 3)
	leads := func() (leader int) { // as the two others say
		for i, n := range c.Nodes {
			if a, b := c.Nodes[(i+1)%3], c.Nodes[(i+2)%3]; a.Leads(natsnode.MetaGroup) == n.Name() && b.Leads(natsnode.MetaGroup) == n.Name() {
				return i
			}
		}
		return -1
	}
	until(t, "that one leads", func() bool { return leads() >= 0 })
	next := (leads() + 1) % 3
	for _, group := range []string{"none", natsnode.MetaGroup} {
		c.Nodes[next].AskAgain(group)
		c.Nodes[next].Stand(group)
	}
	until(t, "that it leads", func() bool {
		if is := leads(); is >= 0 && is != next { // it has heard the leader meanwhile
			c.Nodes[next].Stand(natsnode.MetaGroup)
			<-time.After(time.Second)
		}
		return leads() == next
	})
}
