package help

import (
	"maps"
	"slices"
)

// Call is what a caller can do next, by the name of the command that does it, or of what the command does where it does several things. The set is
// closed.
type Call string

// form is the form of a call at a shell: the kind of id that it takes and, if they are others than its name, its command and what follows the id.
type form struct {
	takes          kind
	command, after string
}

var calls = map[Call]form{
	// with an offer, a request, a share or a ticket
	"accept": {takes: handoff}, "reject": {takes: handoff}, "confirm": {takes: handoff}, "approve": {takes: handoff}, "deny": {takes: handoff},
	"handoff show": {takes: handoff}, "handoff withdraw": {takes: handoff}, "handoff content": {takes: handoff, command: "envelope show"},
	"request approve": {takes: request, command: "approve"}, "request deny": {takes: request, command: "deny"},
	"share content": {takes: share, command: "envelope show"},
	"ticket list":   {}, "ticket show": {takes: ticket}, "ticket wait": {takes: ticket, command: "ticket show", after: "--wait"},
	"ticket answer": {takes: ticket}, "ticket approve": {takes: ticket}, "ticket deny": {takes: ticket}, "ticket claim": {takes: ticket}, "ticket release": {takes: ticket},
	// with a task
	"task list": {}, "task show": {takes: task}, "task wait": {takes: task, command: "task show", after: "--wait"}, "task create": {}, "task start": {takes: task},
	"task heartbeat": {takes: task}, "task progress": {takes: task}, "task complete": {takes: task}, "task cancel": {takes: task}, "task budget": {takes: task},
	"task constrain": {takes: task}, "task lift": {takes: task}, "task context": {takes: task, command: "envelope render"}, "envelope show": {takes: task},
	"envelope preview": {takes: task}, "audit show": {takes: task}, "send": {takes: task}, "takeover": {takes: task}, "escalate": {takes: task},
	"dead list": {}, "dead replay": {takes: task}, "dead discard": {takes: task}, "inbox": {}, "inbox wait": {command: "inbox", after: "--wait"},
	// with what is stored
	"memory search": {takes: words}, "memory get": {takes: item}, "memory add": {takes: words}, "memory revise": {takes: item}, "memory pin": {takes: item},
	"memory unpin": {takes: item}, "memory forget": {takes: item}, "artifact put": {takes: file}, "conversation list": {}, "conversation log": {takes: named},
	"conversation continue": {takes: named}, "channel list": {}, "channel create": {takes: named}, "channel subscribe": {takes: named},
	// with agents, tokens, the record and the rest
	"agent list": {}, "agent add": {takes: named}, "agent ready": {takes: named}, "alerts list": {}, "alerts end-silence": {takes: named},
	"token list": {}, "token create": {}, "audit export": {}, "audit checkpoint": {}, "hold list": {}, "hold lift": {takes: named},
	"policy check": {takes: file}, "policy reload": {}, "workspace list": {}, "workspace create": {takes: named}, "workspace limit": {takes: named},
	"workspace restore": {takes: named}, "cluster status": {}, "cluster add": {}, "cluster drain": {takes: named}, "cluster remove": {takes: named},
	"cluster resume": {takes: named, command: "cluster drain --off"}, "serve": {}, "stop": {}, "doctor": {},
	Describe: {}, ActAs: {},
}

// Calls that no command is.
const (
	Describe Call = "describe" // what the refused call takes
	ActAs    Call = "act as"   // the same call again, as an agent
)

// Calls lists every call, in order.
func Calls() []Call { return slices.Sorted(maps.Keys(calls)) }

// Valid reports whether c is one of Calls.
func (c Call) Valid() bool { _, ok := calls[c]; return ok }

// Takes reports whether the call takes an id of its own, which a route has as {id}.
func (c Call) Takes() bool { return calls[c].takes != nothing && calls[c].takes != words }
