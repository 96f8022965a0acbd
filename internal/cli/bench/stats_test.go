package bench

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// exact is the definition of the nearest rank, in fractions: the smallest sample such that the share of samples up to it is at least p.
func exact(samples []time.Duration, thousandths int64) time.Duration {
	best, found := time.Duration(0), false
	for _, x := range samples {
		var upTo int64
		for _, y := range samples {
			if y <= x {
				upTo++
			}
		}
		enough := big.NewRat(upTo, int64(len(samples))).Cmp(big.NewRat(thousandths, 1000)) >= 0
		if enough && (!found || x < best) {
			best, found = x, true
		}
	}
	return best
}

func TestPercentilesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 220; n++ {
		samples := make([]time.Duration, n)
		for i := range samples {
			samples[i] = time.Duration(random.IntN(n + 3)) // with repetitions
		}
		sorted := slices.Sorted(slices.Values(samples))
		for _, p := range []int{1, 500, 950, 990, 999, 1000} {
			if got, want := percentile(sorted, p), exact(samples, int64(p)); got != want {
				t.Fatalf("%d of a thousand of %d samples: %d, want %d: %v", p, n, got, want, sorted)
			}
		}
	}
}

func TestARoundCountsHandoffsAndFailuresByCode(t *testing.T) {
	s := newSamples()
	for i := range 99 {
		s.add(map[string]time.Duration{stageWhole: time.Duration(i+1) * time.Millisecond, stageCreate: time.Millisecond})
	}
	s.fail(fmt.Errorf("accept: %w", &client.Error{Code: client.Conflict, Message: "taken"}))
	s.fail(errors.New("broken pipe"))
	s.fail(&client.Error{Code: client.Conflict, Message: "again"})
	r := round(7, 9.9, s)
	if r.Handoffs != 99 || r.Failed != 3 || r.PerSecond != 10 || fmt.Sprintf("%.4f", r.FailureRate) != "0.0294" {
		t.Errorf("round: %+v", r)
	}
	if len(r.Stages) != 2 || r.Stages[0].Stage != stageCreate || r.Stages[1] != (Stage{stageWhole, 99, 50, 95, 99, 99}) {
		t.Errorf("stages: %+v", r.Stages)
	}
	if len(r.Failures) != 2 || r.Failures[0].Code != "conflict" || r.Failures[0].Count != 2 || r.Failures[1].Code != "failed" {
		t.Errorf("failures: %+v", r.Failures)
	}
}

func TestVerdictsAreOfTheRoundsThatTheyAreFor(t *testing.T) {
	fast := []Stage{{Stage: stageSeen, P99: 25}, {Stage: stageWhole, P99: 299.9}}
	slow := []Stage{{Stage: stageSeen, P99: 25.1}, {Stage: stageWhole, P99: 300}}
	for _, c := range []struct {
		name   string
		over   string
		round  Round
		want   []string
		missed int
	}{
		{"one client", overHTTP, Round{Clients: 1, Handoffs: 1, Stages: fast}, []string{"failures", "N1"}, 0},
		{"one slow client", overHTTP, Round{Clients: 1, Handoffs: 1, Stages: slow}, []string{"failures", "N1"}, 1},
		{"many clients", overHTTP, Round{Clients: 1000, Handoffs: 1, Stages: fast}, []string{"failures", "N2"}, 0},
		{"many slow clients", overHTTP, Round{Clients: 1000, Handoffs: 1, Stages: slow}, []string{"failures", "N2"}, 1},
		{"many over MCP", overMCP, Round{Clients: 1000, Handoffs: 1, Stages: slow}, []string{"failures"}, 0},
		{"a hundred", overHTTP, Round{Clients: 100, Handoffs: 1, Stages: slow}, []string{"failures"}, 0},
		{"a failure", overHTTP, Round{Clients: 100, Handoffs: 9, Failed: 1, FailureRate: 0.1, Stages: fast}, []string{"failures"}, 1},
		{"nothing at all", overHTTP, Round{Clients: 100}, []string{"failures"}, 1},
	} {
		rep := Report{Over: c.over, Rounds: []Round{c.round}}
		rep.judge()
		var got []string
		for _, v := range rep.Verdicts {
			got = append(got, v.Target)
		}
		if !slices.Equal(got, c.want) || rep.missed() != c.missed {
			t.Errorf("%s: %+v", c.name, rep.Verdicts)
		}
	}
}
