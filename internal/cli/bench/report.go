package bench

import (
	"fmt"
	"strconv"

	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Round is what one number of clients measured.
type Round struct {
	Clients     int       `json:"clients"`
	Seconds     float64   `json:"seconds"`
	Stood       float64   `json:"stood_still_seconds,omitempty"` // in which nothing was measured: it was stopped, or its machine slept
	Handoffs    int       `json:"handoffs"`                      // that were completed
	PerSecond   float64   `json:"per_second"`
	Failed      int       `json:"failed"`
	FailureRate float64   `json:"failure_rate"` // 0 to 1
	Stages      []Stage   `json:"stages"`
	Failures    []Failure `json:"failures"`
}

// Verdict says whether a target was met.
type Verdict struct {
	Target  string `json:"target"` // N1, N2, or failures
	Clients int    `json:"clients"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	Met     bool   `json:"met"`
}

// Report is the result of a run.
type Report struct {
	Kind        string    `json:"kind"`
	Over        string    `json:"over"`
	Envelope    int       `json:"envelope"`
	Direct      bool      `json:"direct"`
	Workspace   string    `json:"workspace"`
	Rounds      []Round   `json:"rounds"`
	Verdicts    []Verdict `json:"verdicts"`
	Interrupted bool      `json:"interrupted"`
}

// The targets, in milliseconds.
const (
	targetN1 = 25  // p99 from the request until the receiver has the offer, at one client
	targetN2 = 300 // p99 of the whole handoff over HTTP, at 1,000 clients and more
)

// round sums up samples.
func round(clients int, seconds float64, s *samples) Round {
	r := Round{Clients: clients, Seconds: seconds}
	r.Handoffs, r.Failed = s.count()
	r.Stages, r.Failures = s.report()
	if r.Failures == nil {
		r.Failures = []Failure{}
	}
	if seconds > 0 {
		r.PerSecond = float64(r.Handoffs) / seconds
	}
	if all := r.Handoffs + r.Failed; all > 0 {
		r.FailureRate = float64(r.Failed) / float64(all)
	}
	return r
}

// p99 is the 99th percentile of a stage, in milliseconds; false: it was not measured.
func (r Round) p99(stage string) (float64, bool) {
	for _, s := range r.Stages {
		if s.Stage == stage {
			return s.P99, true
		}
	}
	return 0, false
}

// judge gives the verdicts on the rounds of a report. N1 is for a single client, N2 for 1,000 and more over HTTP; that no handoff fails is
// wanted of every round.
func (rep *Report) judge() {
	for _, r := range rep.Rounds {
		rep.Verdicts = append(rep.Verdicts, Verdict{
			Target: "failures", Clients: r.Clients, Want: "0 %, of at least one handoff", Met: r.Failed == 0 && r.Handoffs > 0,
			Got: fmt.Sprintf("%.3g %% of %d", 100*r.FailureRate, r.Handoffs+r.Failed),
		})
		if got, ok := r.p99(stageSeen); ok && r.Clients == 1 {
			rep.limit("N1", r.Clients, "seen", got, targetN1, got <= targetN1)
		}
		if got, ok := r.p99(stageWhole); ok && r.Clients >= 1000 && rep.Over == overHTTP {
			rep.limit("N2", r.Clients, "whole", got, targetN2, got < targetN2)
		}
	}
}

func (rep *Report) limit(target string, clients int, stage string, got, limit float64, met bool) {
	rep.Verdicts = append(rep.Verdicts, Verdict{
		Target: target, Clients: clients, Want: fmt.Sprintf("%s p99 %.0f ms", stage, limit), Got: fmt.Sprintf("%.1f ms", got), Met: met,
	})
}

// missed is how many verdicts are not met.
func (rep *Report) missed() (n int) {
	for _, v := range rep.Verdicts {
		if !v.Met {
			n++
		}
	}
	return n
}

// print writes the report for people.
func (rep *Report) print(p *shell.Page) {
	for _, r := range rep.Rounds {
		p.Line("%s, %s over %s: %d handoffs in %.1f s, %.0f per second, %d failed", people(r.Clients), rep.Kind, rep.Over, r.Handoffs, r.Seconds, r.PerSecond, r.Failed)
		shell.List(p, "no handoff was completed", []string{"STAGE", "P50 MS", "P95 MS", "P99 MS", "MAX MS"}, r.Stages, func(s Stage) []string {
			return []string{s.Stage, fixed(s.P50), fixed(s.P95), fixed(s.P99), fixed(s.Max)}
		})
		if r.Stood > 0 {
			p.Line("  It stood still for %.1f s, as after Ctrl-Z: that time, and what was under way then, is left out.", r.Stood)
		}
		for _, f := range r.Failures {
			p.Line("  %d × %s: %s", f.Count, f.Code, f.Example)
		}
		p.Line("")
	}
	shell.List(p, "no verdicts", []string{"TARGET", "CLIENTS", "WANTED", "MEASURED", "VERDICT"}, rep.Verdicts, func(v Verdict) []string {
		verdict := "missed"
		if v.Met {
			verdict = "met"
		}
		return []string{v.Target, strconv.Itoa(v.Clients), v.Want, v.Got, verdict}
	})
	if rep.Interrupted {
		p.Line("It was interrupted: the figures are of the time until then.")
	}
}

func fixed(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
