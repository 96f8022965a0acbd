package bench

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// The stages of a handoff, in the order of the report.
const (
	stageCreate   = "create"   // the call that creates the task and hands it off
	stageSeen     = "seen"     // from the request until the receiver has the offer
	stageAccept   = "accept"   // the call
	stageReceived = "received" // from the request until the receiver owns the task
	stageComplete = "complete" // the call
	stageResult   = "result"   // of a delegation: from the request until its sender has the result
	stageWhole    = "whole"    // from the request until the task is completed
)

var stages = []string{stageCreate, stageSeen, stageAccept, stageReceived, stageComplete, stageResult, stageWhole}

// Stage is the latency of one stage, in milliseconds.
type Stage struct {
	Stage string  `json:"stage"`
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// Failure is a kind of failure, by the code of its refusal.
type Failure struct {
	Code    string `json:"code"` // of a refusal; "failed" for an error without a code
	Count   int    `json:"count"`
	Example string `json:"example"` // the first one
}

// samples collects what a round measures. It is safe for many goroutines.
type samples struct {
	mu       sync.Mutex
	took     map[string][]time.Duration // by stage
	failures map[string]*Failure
	done     int // handoffs that were completed
}

func newSamples() *samples {
	return &samples{took: map[string][]time.Duration{}, failures: map[string]*Failure{}}
}

// add takes over the stages of one handoff that was completed.
func (s *samples) add(took map[string]time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	for stage, d := range took {
		s.took[stage] = append(s.took[stage], d)
	}
}

// fail counts a handoff that failed.
func (s *samples) fail(err error) {
	code := "failed"
	if refusal := new(client.Error); errors.As(err, &refusal) {
		code = string(refusal.Code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures[code] == nil {
		s.failures[code] = &Failure{Code: code, Example: err.Error()}
	}
	s.failures[code].Count++
}

// count is the number of handoffs that were completed, and that failed.
func (s *samples) count() (done, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.failures {
		failed += f.Count
	}
	return s.done, failed
}

// report sums up. No sample may be added any more.
func (s *samples) report() (list []Stage, failures []Failure) {
	for _, name := range stages {
		took := s.took[name]
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		list = append(list, Stage{
			Stage: name, Count: len(took),
			P50: ms(percentile(took, 500)), P95: ms(percentile(took, 950)), P99: ms(percentile(took, 990)), Max: ms(took[len(took)-1]),
		})
	}
	for _, f := range s.failures {
		failures = append(failures, *f)
	}
	slices.SortFunc(failures, func(a, b Failure) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code)) })
	return list, failures
}

// percentile is the smallest sample that at least this many thousandths of all samples do not exceed (nearest rank). The samples are
// sorted, and there is at least one.
func percentile(sorted []time.Duration, thousandths int) time.Duration {
	rank := (len(sorted)*thousandths + 999) / 1000
	return sorted[max(rank, 1)-1]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
