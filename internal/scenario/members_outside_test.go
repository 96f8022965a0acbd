//go:build outside

package scenario

import (
	"fmt"
	"slices"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
)

// The node that leads is cut off, and replaced meanwhile. It cannot change who is a member, and it may not be removed before there is another; when it is
// heard again it keeps no replica any more, and when it is stopped, its clients go on at the new one. The leader of the nodes by then may not know that it was removed, and counts it among
// them again: then it is removed once more.
func TestAMemberOfJetStreamIsReplacedWhileItIsCutOff(t *testing.T) {
	for n := range *faultsFlag {
		t.Run(fmt.Sprint("JetStream ", n), func(t *testing.T) {
			t.Parallel() // it is waited for silence
			replacedWhileCutOff(t)
		})
	}
}

func replacedWhileCutOff(t *testing.T) {
	t.Helper()
	c := newClusterCampaign(t)
	all, network := c.nodesApart(4)
	rigs, late := all[:3], all[3]
	crews, stop, waits := c.nodesAtWork(rigs)
	c.atWork(rigs, crews, 15)
	victim := c.leader(rigs)
	name, others := nodeNames[victim], allBut(rigs, victim)
	network.Sends(victim, held)
	network.Hears(victim, held)
	c.happened("a server is cut off", c.atWork(others, allBut(crews, victim), 15))
	if err := c.removesNode(others[0], name); code(err) != api.Conflict {
		t.Errorf("one of three, which is cut off, is removed: %v", err)
	}
	ready := late.launch()
	if err := c.removesNode(rigs[victim], nodeNames[(victim+1)%3]); code(err) != api.Unavailable {
		t.Errorf("one that is cut off removes another: %v", err)
	}
	url := late.await(ready)
	until(t, "it may be removed when there is another", func() bool { return c.removesNode(others[0], name) == nil })
	until(t, "the new one has all replicas", func() bool {
		k, err := c.shows(others[0])
		return err == nil && complete(k, 3) && !slices.ContainsFunc(k.Groups, func(g admin.ReplicaGroup) bool {
			return slices.Contains(g.Replicas, name) || !slices.Contains(g.Replicas, "n3")
		})
	})
	network.All(link.Way{})
	c.happened("a member was replaced while it was cut off", c.atWork(others, allBut(crews, victim), 15))
	old := rigs[victim]
	old.kill()
	old.gathered(len(crews[victim].actors))
	rigs[victim] = late
	late.release(url)
	old.release(url)
	c.atWork(rigs, crews, 15)
	until(t, "it is no node any more, also if a leader that was elected since has counted it again", func() bool {
		k, err := c.shows(late)
		if err != nil {
			return false
		}
		counted := false
		for _, g := range k.Groups {
			if has := slices.Contains(g.Replicas, name); has && g.Name != natsnode.MetaName {
				t.Fatalf("the one that was removed has replicas again: %+v", k.Groups)
			} else if has {
				counted = true
				t.Logf("removed once more: %v", c.removesNode(late, name))
			}
		}
		return !counted
	})
	stop()
	names := append(allBut(nodeNames, victim), "n3")
	c.concluded(rigs, crews, waits, c.recordOfNode(others[0]), names...)
}

// boss is a client of a server for its administrator.
func (c *campaign) boss(r *rig) (admin.Client, func()) {
	url, _ := r.wait()
	cl := r.client(url, r.token)
	return admin.New(cl), cl.Close
}

func (c *campaign) removesNode(at *rig, name string) error {
	boss, end := c.boss(at)
	defer end()
	_, err := boss.RemoveNode(c.Context(), name)
	return err
}

func (c *campaign) shows(at *rig) (admin.Cluster, error) {
	boss, end := c.boss(at)
	defer end()
	return boss.ShowCluster(c.Context())
}
