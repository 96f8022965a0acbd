package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Version is the version of the file's format that this package reads.
const Version = 1

// Bounds of a policy file.
const (
	MaxFile       = 256 << 10 // bytes
	MaxRules      = 500
	MaxChains     = 200
	MaxLevels     = 5 // of a chain with those that it goes on with: as many as a task may be escalated by default
	MaxWords      = 100
	MaxWord       = 200 // bytes of a keyword
	MaxTags       = event.MaxTags
	MaxFrom       = 100
	MaxExpression = 4 << 10 // bytes
	MaxDetail     = 500     // bytes
	MaxFallbacks  = 16      // of one agent
	MaxNamed      = 10_000  // agents and capabilities under escalation and fallbacks
)

// Policy is a policy file that was read and found sound. Treat it as immutable.
type Policy struct {
	Version    int                 `yaml:"version" need:"yes" doc:"The version of this format: 1."`
	Rules      []Rule              `yaml:"rules" doc:"Tried from the first; the first that matches decides. At most 500."`
	Chains     map[string][]Level  `yaml:"chains" doc:"Escalation chains by name, nearest level first. Each ends with people, or goes on with a chain that does; at most 5 levels in all."`
	Escalation Escalation          `yaml:"escalation" doc:"Who is escalated along which chain."`
	Fallbacks  map[string][]string `yaml:"fallbacks" doc:"Agents to try where an agent cannot take a task, best first, after those of its registration."`
	LLM        *LLM                `yaml:"llm" doc:"A language model to ask where no rule matches. Left out: nobody is asked, and the task stays where it is."`

	Embeddings *Embeddings `yaml:"embeddings" doc:"A model that turns texts into vectors, so that a search of memory items also finds other words for the same thing. Left out: searches go by words alone."`

	Alerts map[string]Alert `yaml:"alerts" doc:"Changes to alerts, by name: off, or other values. Left out: the defaults of docs/alerts.md."`

	Retention []Retention `yaml:"retention" doc:"How long content is kept, in a record that is erasable. Of the rules that apply, the longest at_least_days and the shortest at_most_days count; keeping it comes first, and a legal hold before both. At most 100."`

	digest string
	exact  []condition        // of each rule, compiled
	flat   map[string][]Level // chains with those that they go on with
	order  []string           // capabilities under escalation, as the file has them
	at     places
}

// Rule says what to do with a task in a situation.
type Rule struct {
	Name string `yaml:"name" need:"yes" is:"name" doc:"Its name, which no other rule has. Decisions give it as their reason."`
	When When   `yaml:"when" doc:"All that is given must hold. Left out: the rule always matches, and so must be the last."`
	Then Then   `yaml:"then" need:"yes" doc:"What to do: keep, or the receiver to hand off to."`
}

// When is the conditions of a rule. All that are given must hold.
type When struct {
	Keywords        []string       `yaml:"keywords" doc:"Any of these words or phrases is in the intent or the ask: whole words, upper or lower case."`
	Tags            []string       `yaml:"tags" is:"label" doc:"The task has any of these tags."`
	ConfidenceBelow *float64       `yaml:"confidence_below" doc:"Somebody said how sure it is of its work, and it is less: above 0, up to 1."`
	StepsAbove      *int           `yaml:"steps_above" doc:"More progress reports, decisions handed over and changes of owner, together, than this."`
	TokensAbove     *int64         `yaml:"tokens_above" doc:"More tokens spent than this."`
	ElapsedAbove    event.Duration `yaml:"elapsed_above" doc:"Created longer ago than this, such as 15m or 2h30m."`
	From            []string       `yaml:"from" is:"name" doc:"Any of these agents holds the task; of one that nobody holds yet, requested it."`
	CEL             string         `yaml:"cel" doc:"An expression in CEL over task, agent and envelope that must be true. At most 4096 bytes."`
}

// Then is what a rule leads to.
type Then struct {
	Keep     bool         `yaml:"-"`
	To       Target       `yaml:"to" need:"yes" doc:"The receiver: exactly one of these."`
	Kind     event.Kind   `yaml:"kind" doc:"How it is handed off. Left out: warm; supervised with supervised_by; broadcast to a channel."`
	Reason   event.Reason `yaml:"reason" doc:"The reason that the handoff gives. Left out: specialization; to people or along a chain, escalation."`
	Detail   string       `yaml:"detail" doc:"The reason in words. Left out: the rule's name. At most 500 bytes."`
	Pack     Pack         `yaml:"pack" doc:"How what is handed over is packed for its receiver."`
	Approver string       `yaml:"supervised_by" is:"name" doc:"The approver: an agent that must approve the handoff, which is a supervised one."`
}

// Shorthand reads "keep", which stands for the whole of it.
func (t *Then) Shorthand(s string) bool {
	t.Keep = s == "keep"
	return t.Keep
}

// Target is a receiver: exactly one of its fields is set.
type Target struct {
	Agent      string `yaml:"agent" is:"name" doc:"An agent by name." json:"agent,omitempty"`
	Capability string `yaml:"capability" is:"name" doc:"Any agent that can do this, the best first." json:"capability,omitempty"`
	Channel    string `yaml:"channel" is:"name" doc:"All agents that subscribe to this channel; the first to accept gets the task." json:"channel,omitempty"`
	Chain      string `yaml:"chain" is:"name" doc:"Along this chain, from its first level." json:"chain,omitempty"`
	Human      string `yaml:"human" is:"name" doc:"The people at this desk." json:"human,omitempty"`
}

// Level is one step of a chain: exactly one of its fields is set.
type Level struct {
	Agent      string `yaml:"agent" is:"name" doc:"An agent by name." json:"agent,omitempty"`
	Capability string `yaml:"capability" is:"name" doc:"Any agent that can do this." json:"capability,omitempty"`
	Human      string `yaml:"human" is:"name" doc:"The people at this desk, where the chain ends." json:"human,omitempty"`
	Chain      string `yaml:"chain" is:"name" doc:"Goes on with this chain; the last level alone." json:"chain,omitempty"`
}

// Pack is how a handoff is packed.
type Pack struct {
	Tokens   int            `yaml:"tokens" doc:"The most tokens."`
	Strategy event.Strategy `yaml:"strategy" doc:"What goes first when tokens are short; priority if left out."`
	Pinned   []string       `yaml:"pinned" doc:"Parts that come before all others."`
}

// Escalation says who is escalated along which chain.
type Escalation struct {
	Agents       map[string]string `yaml:"agents" is:"name" doc:"Chains of agents, by name."`
	Capabilities map[string]string `yaml:"capabilities" is:"name" doc:"Chains by capability. Of several, the first in the file counts."`
	Default      string            `yaml:"default" is:"name" doc:"The chain of everybody else."`
}

// Digest names the file's text: "sha256:" and 64 digits in lower-case hex.
func (p *Policy) Digest() string { return p.digest }

// DigestOf is the digest of a file's text.
func DigestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Chain is a chain's levels, those that it goes on with included; the last is of people. The levels are shared: do not
// change them.
func (p *Policy) Chain(name string) []Level {
	if p == nil {
		return nil
	}
	return p.flat[name]
}

// ChainFor is the chain along which an agent's tasks are escalated: its own, else that of the first of its capabilities that
// the file names, else the default one; "" and none where there is none. The levels are shared: do not change them. A nil
// Policy has no chains.
func (p *Policy) ChainFor(agent agent.State) (name string, levels []Level) {
	if p == nil {
		return "", nil
	}
	name = p.Escalation.Agents[event.AgentName(agent.Name)]
	if name == "" {
		if i := slices.IndexFunc(p.order, agent.Spec.Has); i >= 0 {
			name = p.Escalation.Capabilities[p.order[i]]
		}
	}
	if name == "" {
		name = p.Escalation.Default
	}
	return name, p.flat[name]
}

// ChainForAny is the escalation chain of a task that was sent to any agent with a capability: the capability's, or
// else the default one, as [Policy.ChainFor] gives an agent's.
func (p *Policy) ChainForAny(capability string) (name string, levels []Level) {
	if p == nil {
		return "", nil
	}
	name = cmp.Or(p.Escalation.Capabilities[capability], p.Escalation.Default)
	return name, p.flat[name]
}

// FallbacksOf lists the agents to try where an agent cannot take a task, after those of its registration. They are
// shared: do not change them. A nil Policy has none.
func (p *Policy) FallbacksOf(agent string) []string {
	if p == nil {
		return nil
	}
	return p.Fallbacks[event.AgentName(agent)]
}

// FactPack is the packing as handoffs have it.
func (p Pack) FactPack() event.Pack {
	return event.Pack{Tokens: p.Tokens, Strategy: p.Strategy, Pinned: p.Pinned}
}
