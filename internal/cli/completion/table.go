package completion

import (
	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
)

// Sources of what no server knows.
var (
	none   source
	files  = source{paths: true, files: cobra.ShellCompDirectiveDefault}
	dirs   = source{paths: true, files: cobra.ShellCompDirectiveFilterDirs}
	agents = source{read: agentNames}
	pieces = source{
		fixed: []string{"fact:", "decision:", "memory:", "artifact:", "step:", "data", "summary"},
		then:  cobra.ShellCompDirectiveNoSpace,
	}
)

// arguments are the sources of arguments by their placeholders, which a command or a group before them narrows.
var arguments = map[string]source{
	"AGENT": agents, "agent NAME": agents,
	"TASK": {read: liveTasks}, "task start TASK": {read: pendingTasks}, "dead TASK": {read: deadTasks},
	"task show TASK": {read: recentTasks}, "task annotate TASK": {read: recentTasks}, "audit TASK": {read: recentTasks}, "drift TASK": {read: recentTasks},
	"task cancel ID": {read: liveTasks}, "envelope ID": {read: recentTasks}, "parts ID": {read: recentTasks},
	"HANDOFF": {read: recentHandoffs}, "accept HANDOFF": {read: waiting("offer")}, "reject HANDOFF": {read: waiting("offer")}, "confirm HANDOFF": {read: waiting("confirm")},
	"handoff withdraw HANDOFF": {read: openHandoffs},
	"TICKET":                   {read: tickets}, "approve ID": {read: undecided}, "deny ID": {read: undecided}, "ticket ID": {read: undecided},
	"memory ID": {read: memoryItems}, "token revoke ID": {read: tokens},
	"channel NAME": {read: channels}, "channel create NAME": none, "CONVERSATION": {read: conversations},
	"workspace NAME": {read: workspaces}, "workspace create NAME": none, "NODE": {read: nodes},
	"ALERT": {read: alerts}, "SILENCE": {read: silences}, "SUBJECT": none, "hold lift SUBJECT": {read: holds},
	"CONSTRAINT": {read: constraints}, "KIND:TEXT": {fixed: kinds(), then: cobra.ShellCompDirectiveNoSpace},
	"PART":   {fixed: append([]string{"all", "reasoning:", "state", "detail", "notes", "conversation"}, pieces.fixed...), then: pieces.then},
	"DIGEST": {read: artifacts},
	"FILE":   files, "DIR": dirs, "BACKUP": files, "SAMPLE": files, "CMD": files, "ARGS": files,
	"demo PATH": none, "PROGRAM": none, "ANSWER": none, "DESCRIPTION": none, "ENTRY": none, "IMPORTANCE": none, "INTENT": none, "NOTE": none, "POSITION": none,
	"QUESTION": none, "SENTENCE": none, "TAG": none, "TEXT": none, "WHY": none,
}

// flags are the sources of the values of flags by their names, which a command or a group before them narrows. Those that take ids of tasks and
// handoffs say so where they are defined; numbers and durations have no source.
var flags = map[string]source{
	"agent": agents, "owner": agents, "fallback": agents, "escalation": agents, "from": agents, "of": agents, "by": agents, "with": agents, "approver": agents, "only": agents,
	"source": agents, "speaker": agents, "route": agents, "tightened-by": agents, "to": {read: receivers}, "share --to": agents, "takeover --to": agents,
	"capability": {read: capabilities}, "channel": {read: channels}, "desk": {read: desks}, "person": {read: people}, "workspace": {read: workspaces},
	"conversation": {read: conversations}, "memory": {read: memoryItems}, "serve --memory": none, "pin": pieces,
	"constraint": {fixed: kinds(), then: cobra.ShellCompDirectiveNoSpace},

	"artifact": files, "ca": files, "client-cert": files, "client-key": files, "tls-cert": files, "tls-key": files, "tls-client-ca": files, "policy": files,
	"cluster-ca": files, "cluster-cert": files, "cluster-key": files, "nats-ca": files, "nats-creds": files,
	"log-file": files, "output": files, "keys": files, "checkpoint": files, "secrets": files, "preview": files, "task create --from": files, "backup --after": files,
	"data-dir": dirs, "segments": dirs, "git": dirs, "guard": dirs,

	// Texts, and names that are new.
	"ask": none, "before": none, "claimed-history": none, "confirm": none, "content": none, "data": none, "deadline": none, "decision": none, "description": none, "detail": none,
	"digest": none, "expect": none, "expect-format": none, "expect-schema": none, "expires": none, "fact": none, "id": none, "label": none, "missing": none,
	"name": none, "notes": none, "option": none, "question": none, "result": none, "since": none, "spec": none, "state": none, "step": none, "subject": none,
	"conversation-summary": none, "tag": none, "text": none, "title": none, "until": none, "why": none, "words": none, "tokenizer": none, "allow": none, "permission": none, "reach": none,
	"preview-arg": none, "prefix": none, "after": none, "rule": none,

	// Settings of a server, addresses and secrets.
	"addr": none, "alert": none, "host": none, "key": none, "log": none, "notify": none, "oauth-claim": none, "oauth-issuer": none, "oauth-person": none,
	"oauth-resource": none, "oidc-client": none, "oidc-domain": none, "oidc-groups": none, "oidc-name": none, "oidc-role": none, "oidc-scope": none,
	"cluster-addr": none, "cluster-name": none, "join": none, "nats": none, "nats-monitor": none, "node": none, "postgres": none,
	"token": none, "url": none, "witness": none, "witness-key": none,
}

// kinds are the kinds of constraints, as they begin one.
func kinds() (list []string) {
	for _, k := range client.ConstraintKinds() {
		list = append(list, string(k)+":", string(k)+"!:")
	}
	return list
}
