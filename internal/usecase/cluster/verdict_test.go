package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// nodes makes what is known of servers by words: n1, n2=drained, n3=silent, n4=broken, n5=late, and of three replicas of each group on those of replicas.
func nodes(engine Engine, words string, replicas ...string) Known {
	k := Known{Engine: engine, Here: "n1", Last: 100, Listens: time.Hour}
	states := map[string]string{}
	for word := range strings.FieldsSeq(words) {
		name, state, _ := strings.Cut(word, "=")
		m := frontend.Seen{Member: frontend.Member{Name: name, URL: "http://" + name, Viewed: 100, Last: 100, Drained: state == "drained"}}
		if states[name] = state; state == "silent" {
			m.Ago = Silence + time.Second
		}
		if state == "broken" {
			m.Trouble = "its disk is full"
		}
		k.Members = append(k.Members, m)
	}
	if len(replicas) > 0 {
		for _, name := range []string{"cluster", "TRAPEZE"} {
			g := replica.Group{Name: name, Leader: replicas[0]}
			for _, r := range replicas {
				g.Peers = append(g.Peers, replica.Peer{Name: r, Current: states[r] != "silent" && states[r] != "late"})
			}
			k.Groups = append(k.Groups, g)
		}
	}
	return k
}

func TestAServerCanBeStoppedOnlyIfTheOthersGoOn(t *testing.T) {
	three := []string{"n1", "n2", "n3"}
	for _, test := range []struct {
		name string
		k    Known
		node string
		safe bool
		says string // a part of why, or of what to do
	}{
		{"the only one", nodes(Directory, "n1"), "n1", false, "it is the only one"},
		{"one of two on a database", nodes(PostgreSQL, "n1 n2"), "n1", true, "n2 takes over"},
		{"a drained one needs nothing first", nodes(PostgreSQL, "n1=drained n2"), "n1", true, ""},
		{"the last that runs", nodes(PostgreSQL, "n1 n2=silent"), "n1", false, "start n2 again"},
		{"the last that takes work", nodes(PostgreSQL, "n1 n2=drained"), "n1", false, "drain --off n2"},
		{"the last that can", nodes(PostgreSQL, "n1 n2=broken"), "n1", false, "what is wrong with n2"},
		{"one that is broken, beside one that works", nodes(PostgreSQL, "n1=broken n2"), "n1", true, "n2 takes over"},
		{"one that is gone from a database", nodes(PostgreSQL, "n1 n2=silent"), "n2", false, "trapeze cluster remove n2"},
		{"one of three nodes", nodes(Nodes, "n1 n2 n3", three...), "n1", true, "no election"},
		{"one of two that are left", nodes(Nodes, "n1 n2 n3=silent", three...), "n1", false, "1 of 3 replicas of cluster would be there, and 2 are needed"},
		{"one of two that are left: what to do", nodes(Nodes, "n1 n2 n3=silent", three...), "n2", false, "start n3 again"},
		{"during an election", nodes(Nodes, "n1 n2 n3"), "n2", false, "ask again in a few seconds"},
		{"without a majority", nodes(Nodes, "n1 n2=silent n3=silent"), "n1", false, "start n2, n3 again"},
		{"while another catches up", nodes(Nodes, "n1 n2 n3=late", three...), "n2", false, "wait until n3 has caught up"},
		{"the one that catches up", nodes(Nodes, "n1 n2 n3=late", three...), "n3", true, "n1, n2 take over"},
		{"a spare without replicas", nodes(Nodes, "n1 n2 n3 n4", three...), "n4", true, "n1, n2, n3 take over"},
		{"a spare, while one of three is gone", nodes(Nodes, "n1 n2 n3=silent n4", three...), "n4", true, "n1, n2 take over"},
		{"a node of which only the replica is known", nodes(Nodes, "n1 n2", three...), "n3", false, "trapeze cluster add, and then trapeze cluster remove n3"},
		{"front ends beside NATS are spared alike", nodes(NATS, "n1 n2", "s1", "s2", "s3"), "n1", true, "n2 takes over"},
	} {
		n, err := statusOf(test.k).find(test.node)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if said := n.Stop.Why + "; " + n.Stop.Do; n.Stop.Safe != test.safe || !strings.Contains(said, test.says) {
			t.Errorf("%s: %v, %q; want %v, %q", test.name, n.Stop.Safe, said, test.safe, test.says)
		}
	}
	lost := nodes(Nodes, "n1 n2=silent n3=silent")
	lost.Trouble = "no majority"
	if n, _ := statusOf(lost).find("n1"); n.Stop.Safe || !strings.Contains(n.Stop.Why+n.Stop.Do, "no majority") || !strings.Contains(n.Stop.Do, "start n2, n3 again") {
		t.Errorf("without a majority: %+v", n.Stop)
	}
}

// A node that has just started has not heard of those that run: it does not call them silent, has none removed, and says when it knows.
func TestANodeThatHasJustStartedCallsNobodySilent(t *testing.T) {
	for _, test := range []struct {
		name    string
		k       Known
		listens time.Duration
		says    string // of n2
		do      string
	}{
		{"a node whose replica alone is known", nodes(Nodes, "n1", "n1", "n2", "n3"), time.Second, "n1, which is asked, has listened for 1s only", "ask again in 9s"},
		{"one of before a restart of all", nodes(Nodes, "n1 n2=silent", "n1", "n2", "n3"), 0, "cannot listen to the others", "ask again in 10s"},
		{"a front end of before an outage of the database", nodes(PostgreSQL, "n1 n2=silent"), 1500 * time.Millisecond, "has listened for 1.5s only", "ask again in 9s"},
	} {
		k := test.k
		k.Listens = test.listens
		s := statusOf(k)
		n, err := s.find("n2")
		if err != nil || n.State != Unknown || n.Stop.Safe || !strings.Contains(n.Stop.Why, test.says) || n.Stop.Do != test.do {
			t.Errorf("%s: %+v, %v", test.name, n, err)
		}
		if n, _ := s.find("n1"); n.Stop.Safe || !strings.Contains(n.Stop.Why, "n2") && !strings.Contains(n.Stop.Why, "replicas") {
			t.Errorf("%s: the one that is asked: %+v", test.name, n)
		}
		if err := drainable(s, "n2", true); refusal.CodeOf(err) != refusal.Conflict {
			t.Errorf("%s: it is drained: %v", test.name, err)
		}
		k.Listens = Silence
		if n, _ := statusOf(k).find("n2"); n.State != Silent {
			t.Errorf("%s: later it is %s", test.name, n.State)
		}
	}
}

// Where the cluster does nothing, the status says which nodes are heard of, and what to do.
func TestTheStatusOfANodeWithoutAMajoritySaysWhatItHears(t *testing.T) {
	for words, says := range map[string]string{
		"n1 n2=silent n3=silent": "no majority; n1 hears no other node, and not n2, n3: start what does not run, or see why n1 cannot reach it",
		"n1 n2 n3=silent":        "no majority; n1 hears n2, and not n3:",
		"n1 n2 n3":               "no majority; n1 hears n2, n3: see the logs",
	} {
		k := nodes(Nodes, words)
		k.Trouble = "no majority"
		if got := statusOf(k).Trouble; !strings.HasPrefix(got, says) {
			t.Errorf("%s: %s", words, got)
		}
		k = nodes(Nodes, words, "n1", "n2", "n3")
		k.Groups[1].Leader = ""
		if got := statusOf(k).Trouble; !strings.HasPrefix(got, "TRAPEZE has no leader: an election is on, or a majority is missing; n1 hears") {
			t.Errorf("%s, before all is known: %s", words, got)
		}
	}
}

func TestANodeIsDrainedOnlyIfAnotherTakesWork(t *testing.T) {
	for _, test := range []struct {
		words, node string
		on          bool
		code        refusal.Code
	}{
		{"n1 n2", "n1", true, ""},
		{"n1 n2=drained", "n1", true, refusal.Conflict},
		{"n1 n2=broken", "n1", true, refusal.Conflict},
		{"n1=drained n2=silent", "n1", true, ""}, // again
		{"n1=drained n2=silent", "n1", false, ""},
		{"n1 n2=silent", "n2", true, refusal.Conflict},
		{"n1 n2", "n3", true, refusal.NotFound},
	} {
		if err := drainable(statusOf(nodes(PostgreSQL, test.words)), test.node, test.on); refusal.CodeOf(err) != test.code {
			t.Errorf("%s: %s %v: %v", test.words, test.node, test.on, err)
		}
	}
}

func TestANodeIsRemovedOnlyIfThreeAreLeft(t *testing.T) {
	for _, test := range []struct {
		words    string
		replicas []string
		says     string
	}{
		{"n1 n2 n3=silent", []string{"n1", "n2", "n3"}, "only 2 nodes would be there"},
		{"n1 n2=silent n3=silent", []string{"n1", "n2", "n3"}, "1 of 3 are there, and 2 are needed"},
		{"n1 n2=late n3=silent n4", []string{"n1", "n2", "n3", "n4"}, "2 of 4 are there, and 3 are needed"},
	} {
		k := nodes(Nodes, test.words, test.replicas...)
		_, err := statusOf(k).mayLose(k, "n3")
		if refusal.CodeOf(err) != refusal.Conflict || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.words, err, test.says)
		}
	}
}
