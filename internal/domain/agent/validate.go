package agent

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Limits of an agent's spec.
const (
	MaxCapabilities  = 64                // distinct capabilities
	MaxFallbacks     = 16                // agents
	MaxEscalation    = 16                // agents
	MaxReach         = 8                 // ways to be reached
	MaxURL           = 2048              // bytes
	MaxMaxTasks      = 100_000           // concurrent tasks
	MaxContextWindow = 100_000_000       // tokens
	MaxCost          = 1_000_000_000_000 // millionths of the currency: a million
	MaxLatency       = 90 * 24 * time.Hour
	MaxFailures      = 100 // consecutive failures before a circuit opens
	MinPeriod        = 100 * time.Millisecond
	MaxPeriod        = 24 * time.Hour // of silence or of an open circuit, as MinPeriod
)

// check refuses (invalid or too_large) a normal spec that breaks a rule. self is the agent's own name.
func (s Spec) check(self string) error {
	if !Kinds.Has(s.Kind) {
		return refusal.New(refusal.Invalid, `use "agent" or "human"`, "unknown kind of agent %s", strconv.QuoteToASCII(string(s.Kind))).With("field", "kind")
	}
	if err := event.CheckDescription("the description", s.Description, "describe in a few sentences of plain text what the agent is good at"); err != nil {
		return refusal.In("description", err)
	}
	if s.Tokenizer != "" {
		if err := event.CheckName("tokenizer", s.Tokenizer); err != nil {
			return refusal.In("tokenizer", err)
		}
	}
	return cmp.Or(
		refusal.In("capabilities", checkNames("capability", s.Capabilities, MaxCapabilities)),
		refusal.In("fallbacks", checkAgents("fallback", s.Fallbacks, MaxFallbacks, self)),
		refusal.In("escalation", checkAgents("escalation", s.Escalation, MaxEscalation, self)),
		checkReach(s.Reach),
		s.checkNumbers(),
	)
}

func (s Spec) checkNumbers() error {
	var presence error
	if s.PresenceTTL != 0 {
		presence = refusal.In("presence_ttl", checkRange("presence_ttl", s.PresenceTTL, MinPeriod, MaxPeriod, "leave it out for an agent that sends no heartbeats"))
	}
	return cmp.Or(
		refusal.In("max_tasks", checkRange("max_tasks", s.MaxTasks, 0, MaxMaxTasks, "0 means no limit")),
		refusal.In("context_window", checkRange("context_window", s.ContextWindow, 0, MaxContextWindow, "give the model's context window in tokens, 0 if not known")),
		checkRange("breaker failures", s.Breaker.Failures, 1, MaxFailures, fmt.Sprint("leave it out for the default of ", DefaultFailures)),
		checkRange("the hint of cost", s.Estimates.Cost, 0, MaxCost, "give what a usual task costs in millionths of the currency, 0 if not known"),
		checkRange("the hint of latency", s.Estimates.Latency, 0, MaxLatency, "give how long a usual task takes, 0 if not known"),
		presence,
		checkRange("breaker open_for", s.Breaker.OpenFor, MinPeriod, MaxPeriod, fmt.Sprint("leave it out for the default of ", DefaultOpenFor)),
	)
}

func checkRange[T int | int64 | time.Duration](what string, v, low, high T, hint string) error {
	if v < low || v > high {
		return refusal.New(refusal.Invalid, hint, "%s is %v, allowed is %v to %v", what, v, low, high)
	}
	return nil
}

func checkNames(what string, names []string, most int) error {
	if len(names) > most {
		return refusal.New(refusal.Invalid, "name fewer", "%d names as %s, at most %d are allowed", len(names), what, most)
	}
	for _, n := range names {
		if err := event.CheckName(what, n); err != nil {
			return err
		}
	}
	return nil
}

func checkAgents(what string, names []string, most int, self string) error {
	if err := checkNames(what, names, most); err != nil {
		return err
	}
	for i, n := range names {
		if n == self {
			return refusal.New(refusal.Invalid, "name other agents", "agent %s names itself as %s", self, what)
		}
		if slices.Contains(names[:i], n) {
			return refusal.New(refusal.Invalid, "name each agent once", "%s is named twice as %s", n, what)
		}
	}
	return nil
}

func checkReach(ways []Reach) error {
	if len(ways) > MaxReach {
		return refusal.New(refusal.Invalid, "name fewer", "%d ways to be reached, at most %d are allowed", len(ways), MaxReach)
	}
	for i, w := range ways {
		if !ReachKinds.Has(w.Kind) {
			return refusal.New(refusal.Invalid, `use "pull", or leave it out: no other way delivers offers yet`, "reach[%d].kind: unknown way to be reached %s", i, strconv.QuoteToASCII(string(w.Kind)))
		}
		if w.Kind == ReachPull {
			if w.URL != "" {
				return refusal.New(refusal.Invalid, "leave the url out", "an agent that pulls has no url")
			}
			continue
		}
		if err := checkURL(w.URL); err != nil {
			return err
		}
	}
	return nil
}

// checkURL never quotes the address: one that is refused may hold a secret.
func checkURL(s string) error {
	const hint = "give an absolute http or https url without user name or password"
	if len(s) > MaxURL {
		return refusal.New(refusal.TooLarge, hint, "the url has %d bytes, at most %d are allowed", len(s), MaxURL)
	}
	u, err := url.Parse(s)
	if err != nil || !utf8.ValidString(s) || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return refusal.New(refusal.Invalid, hint, "the url is not an absolute http or https url")
	}
	if u.User != nil {
		return refusal.New(refusal.Invalid, hint, "the url holds a user name or password, which would stay in the record")
	}
	return nil
}
