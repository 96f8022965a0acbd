//go:build slow || outside

package natsnode

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// seen is what a watch is told at a time, and what it does.
type seen struct {
	hears []string
	died  bool
	last  uint64 // of the replica of the group "record"
	led   string // by
	waits bool   // for what it lacks
	did   []string
	looks int // whether those that are gone have died
	began time.Time
}

// watched calls change each tenth of a second with how many have passed, and returns what the watch does in three seconds.
func watched(t *testing.T, s seen, change func(s *seen, tenth int)) []string {
	synctest.Test(t, func(t *testing.T) {
		stopping, tenth := make(chan struct{}), 0
		s.began = time.Now()
		did := func(what string) func(string) {
			return func(group string) {
				s.did = append(s.did, fmt.Sprintf("%s %s after %s", what, group, time.Since(s.began)))
			}
		}
		w := &watch{
			hears: func() []string { return s.hears },
			groups: func() map[string]group {
				tenth++
				change(&s, tenth)
				return map[string]group{"record": {leader: s.led, last: s.last, catching: s.waits}, "other": {leader: "n2"}}
			},
			died:  func(heard int) bool { s.looks++; return s.died && heard == len(s.hears) },
			stand: did("stands for"), askAgain: did("asks again for"),
		}
		time.AfterFunc(3*time.Second, func() { close(stopping) })
		w.run(stopping)
		if s.looks > 4 { // each is a connection to every other node
			t.Errorf("it looks %d times who has died", s.looks)
		}
	})
	return s.did
}

func TestANodeStandsForElectionAtOnceWhereTheLeaderHasDied(t *testing.T) {
	both := seen{hears: []string{"n1", "n2"}, led: "n1"}
	for name, test := range map[string]struct {
		change func(s *seen, tenth int)
		want   []string
	}{
		"it died": {func(s *seen, tenth int) {
			if tenth >= 5 {
				s.hears, s.died = []string{"n2"}, tenth >= 7 // its connections may end before it listens no more
			}
		}, []string{"stands for record after 800ms"}},
		"it died, and refuses connections at once": {func(s *seen, tenth int) {
			if tenth >= 5 {
				s.hears, s.died = []string{"n2"}, true
			}
		}, []string{"stands for record after 500ms"}},
		"it is only not heard": {func(s *seen, tenth int) {
			if tenth >= 5 {
				s.hears = []string{"n2"}
			}
		}, nil},
		"it is heard again": {func(s *seen, tenth int) {
			s.hears, s.died = []string{"n1", "n2"}, tenth > 6
			if tenth == 5 {
				s.hears = []string{"n2"}
			}
		}, nil},
		"it is not heard for long, and dies then": {func(s *seen, tenth int) {
			if tenth >= 2 {
				s.hears, s.died = []string{"n2"}, tenth > 23
			}
		}, nil},
		"another died, which leads nothing": {func(s *seen, tenth int) {
			s.led, s.died = "n0", true
			if tenth >= 5 {
				s.hears = []string{"n2"}
			}
		}, nil},
	} {
		if did := watched(t, both, test.change); !slices.Equal(did, test.want) {
			t.Errorf("%s: it %q, want %q", name, did, test.want)
		}
	}
}

// A replica that was cut off while it led takes back an entry for each time that it asks for the rest.
func TestAReplicaThatTakesBackEntriesAsksAgainWhenNobodyAnswers(t *testing.T) {
	follower := seen{hears: []string{"n1", "n2"}, led: "n1", last: 10}
	for name, test := range map[string]struct {
		change func(s *seen, tenth int)
		want   []string
	}{
		"it takes back one, then another": {func(s *seen, tenth int) {
			s.waits = tenth >= 5 && tenth < 20
			switch tenth {
			case 5:
				s.last = 9
			case 9:
				s.last = 8
			case 20:
				s.last = 30
			}
		}, []string{"asks again for record after 800ms", "asks again for record after 1.2s", "asks again for record after 1.5s", "asks again for record after 1.8s"}},
		"it waits for the rest alone, which may be large": {func(s *seen, tenth int) { s.waits = tenth >= 5 }, nil},
		"it took back one, and goes on": {func(s *seen, tenth int) {
			if s.waits = tenth >= 5; tenth == 5 {
				s.last = 9
			} else if tenth > 7 {
				s.last = 11
			}
		}, nil},
	} {
		if did := watched(t, follower, test.change); !slices.Equal(did, test.want) {
			t.Errorf("%s: it %q, want %q", name, did, test.want)
		}
	}
}

// A connection that ends is no sign by itself: a leader that lives may go on answering from what it knows.
func TestOnlyNodesThatRefuseConnectionsHaveDied(t *testing.T) {
	listen := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l.Addr().String()
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	own, lives, other := listen(), listen(), listen()
	for name, test := range map[string]struct {
		join  []string
		heard int
		want  bool
	}{
		"one of two died":                  {[]string{own, lives, dead}, 1, true},
		"one that is not heard lives":      {[]string{own, lives, other}, 1, false},
		"an address of before":             {[]string{own, lives, other, dead}, 1, false},
		"one that cannot be asked":         {[]string{own, lives, dead, "no-such-host.invalid:6222"}, 1, false},
		"one that is heard joined later":   {[]string{own, lives, dead}, 2, true},
		"the only one":                     {[]string{own}, 0, false},
		"the address of this node is none": {[]string{lives, dead}, 1, true},
	} {
		if is := (Options{Addr: own, Join: test.join}).allDied(test.heard); is != test.want {
			t.Errorf("%s: %t", name, is)
		}
	}
	if err := (Options{Addr: own}).dial(own); !errors.Is(err, errItself) {
		t.Errorf("its own address: %v", err)
	}
}
