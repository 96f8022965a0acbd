package client

import "time"

// Reach is one way to tell an agent that something waits for it.
type Reach struct {
	Kind string `json:"kind"` // pull, webhook or a2a
	URL  string `json:"url,omitempty"`
}

// Breaker configures an agent's circuit breaker. Zero fields mean the defaults.
type Breaker struct {
	Failures int      `json:"failures,omitempty"` // consecutive failures that open it; 3
	OpenFor  Duration `json:"open_for,omitzero"`  // before one probe; 60s
}

// AgentSpec is what is known about an agent. Its zero value is a good one.
type AgentSpec struct {
	Kind          string   `json:"kind,omitempty"` // agent or human
	Description   string   `json:"description,omitempty"`
	Capabilities  []string `json:"capabilities,omitempty"`
	MaxTasks      int      `json:"max_tasks,omitempty"` // concurrent; 0: not limited
	ContextWindow int      `json:"context_window,omitempty"`
	Tokenizer     string   `json:"tokenizer,omitempty"`
	Reach         []Reach  `json:"reach,omitempty"`
	Fallbacks     []string `json:"fallbacks,omitempty"`   // agents to try instead, best first
	Escalation    []string `json:"escalation,omitempty"`  // agents to escalate to, nearest first
	PresenceTTL   Duration `json:"presence_ttl,omitzero"` // offline when not heard for so long
	Breaker       Breaker  `json:"breaker,omitzero"`
	Hints         Hints    `json:"hints,omitzero"`
}

// Hints are what a usual task takes of an agent: they rank agents that could all do it. Zero fields are not known.
type Hints struct {
	Cost    int64    `json:"cost_micros,omitempty"` // millionths of the currency that the deployment counts in
	Latency Duration `json:"latency,omitzero"`      // from offer to result
}

// Circuit is how an agent's circuit breaker stands.
type Circuit struct {
	State    string    `json:"state"` // closed, open or half_open
	Failures int       `json:"failures"`
	ResetAt  time.Time `json:"reset_at,omitzero"`
}

// Agent is an agent as the registry knows it, and how it does now.
type Agent struct {
	Name      string    `json:"name"`
	Spec      AgentSpec `json:"spec"`
	Readiness Readiness `json:"readiness"`
	OffDuty   bool      `json:"off_duty,omitempty"` // by an operator, and only an operator makes it ready again
	Circuit   Circuit   `json:"circuit"`
	Held      int       `json:"held"`          // tasks that it owns now
	Seen      time.Time `json:"seen,omitzero"` // when the server last heard of it; zero: not since the server was started
	Position  uint64    `json:"position,omitempty"`
}

// AgentList is a list of agents.
type AgentList struct {
	Agents   []Agent `json:"agents"`
	Position uint64  `json:"position"`
}

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Readiness Readiness `json:"readiness"`
}

// Token is what is known about a token.
type Token struct {
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"` // where it counts
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"` // who sits at the agent's client
	By        string    `json:"created_by"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
	Text      string    `json:"token,omitempty"` // the token itself: in the answer that made it, and never again
}

// TokenInput makes a token.
type TokenInput struct {
	Role      Role      `json:"role"`
	Name      string    `json:"name"` // of the agent or person that it speaks for
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"`    // of an agent's token: who sits at its client; see [WithPerson]
	Workspace string    `json:"workspace,omitempty"` // where it counts; left out: the caller's
	Expires   time.Time `json:"expires,omitzero"`    // left out: never
}

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []Token `json:"tokens"`
	Position uint64  `json:"position"`
}

// Me is whom a token speaks for.
type Me struct {
	Workspace string   `json:"workspace"`
	Role      Role     `json:"role"`
	Name      string   `json:"name"`
	Token     string   `json:"token"`            // the token's id
	Agent     string   `json:"agent,omitempty"`  // the agent's name, if it is one
	Person    string   `json:"person,omitempty"` // who sits at its client, as the token says
	Scopes    []string `json:"scopes,omitempty"` // what an outside issuer's token may be used for; nil: all that the role may do
	Server    string   `json:"server"`           // the server's version
}

// Event is an entry as the event stream tells it: what happened, to what, by whom; not the content.
type Event struct {
	Position uint64    `json:"position"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"` // task, agent, channel or token
	ID       string    `json:"id"`
	Actor    string    `json:"actor"`
	Events   []string  `json:"events"`
}

// StuckAgentInput says that an agent gets nowhere, with all that it holds.
type StuckAgentInput struct {
	Detail string `json:"detail,omitempty"` // how one can tell
}

// StuckInput says that a task's owner gets nowhere.
type StuckInput struct {
	Owner  string `json:"owner,omitempty"`  // as you know it; if it has another, the call is refused
	Detail string `json:"detail,omitempty"` // how one can tell
}

// ShedInput asks that offers which wait for an agent go to others.
type ShedInput struct {
	Keep int `json:"keep,omitempty"` // how many stay: those of the highest priority
}

// Relief is what came of moving work away from an agent.
type Relief struct {
	Agent    string      `json:"agent"`
	Moved    []MovedTask `json:"moved"`
	Kept     []KeptTask  `json:"kept"`           // what stays with the agent, and why
	More     bool        `json:"more,omitempty"` // there is more to move: repeat the call with a new key
	Position uint64      `json:"position"`
}

// MovedTask is a task, or an offer of one, that is on its way to somebody else.
type MovedTask struct {
	Task    string   `json:"task"`
	Handoff string   `json:"handoff"`
	To      []string `json:"to,omitempty"` // who is asked first
}

// KeptTask is a task that stays where it is.
type KeptTask struct {
	Task string `json:"task"`
	Code Code   `json:"code,omitempty"` // of the refusal; none where nobody else could take it now
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"` // what to do next
}
