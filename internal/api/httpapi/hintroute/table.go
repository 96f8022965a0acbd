package hintroute

import "regexp"

// commands are the routes that do what a command does; none for commands that work on the machine of the server.
var commands = map[string][]string{
	"agent add":         {"PUT /v1/agents/{id}"},
	"agent drain":       {"PUT /v1/agents/{id}/readiness"},
	"agent list":        {"GET /v1/agents"},
	"agent reset":       {"POST /v1/agents/{id}/circuit/reset"},
	"agent show":        {"GET /v1/agents/{id}"},
	"artifact get":      {"GET /v1/artifacts/{digest}"},
	"audit checkpoint":  {"GET /v1/proof/checkpoint"},
	"audit export":      {"GET /v1/audit/export"},
	"audit show":        {"GET /v1/tasks/{id}/trail"},
	"cluster add":       nil,
	"cluster drain":     {"POST /v1/cluster/nodes/{id}/drain", "POST /v1/cluster/nodes/{id}/resume"},
	"cluster remove":    {"POST /v1/cluster/nodes/{id}/remove"},
	"cluster status":    {"GET /v1/cluster"},
	"dead list":         {"GET /v1/dead"},
	"dead replay":       {"POST /v1/dead/{id}/replay"},
	"handoff withdraw":  {"POST /v1/handoffs/{id}/withdraw"},
	"hold lift":         {"POST /v1/holds/lift"},
	"hold list":         {"GET /v1/erasures"},
	"inbox":             {"GET /v1/inbox"},
	"policy check":      {"POST /v1/policy/check"},
	"policy reload":     {"POST /v1/policy/reload"},
	"send":              {"POST /v1/tasks/{id}/send"},
	"serve":             nil,
	"stop":              nil,
	"takeover":          {"POST /v1/tasks/{id}/takeover"},
	"task budget":       {"POST /v1/tasks/{id}/budget"},
	"task list":         {"GET /v1/tasks"},
	"token create":      {"POST /v1/tokens"},
	"verify":            nil,
	"workspace create":  {"POST /v1/workspaces"},
	"workspace limit":   {"POST /v1/workspaces/{id}/limits"},
	"workspace restore": {"POST /v1/workspaces/{id}/restore"},
}

// phrases are the words for calls in hints, with their routes.
var phrases = []struct {
	words  *regexp.Regexp
	routes []string
}{
	// what to look up
	{regexp.MustCompile(`\bcheck your inbox|\byour inbox\b|\ban inbox\b|\bin your inbox`), []string{"GET /v1/inbox"}},
	{regexp.MustCompile(`\bfetch the task|\bthe task shows|\ba task shows|^wait until (a receiver|the sender|the owner)|^wait for (its|the) children`), []string{"GET /v1/tasks/{id}"}},
	{regexp.MustCompile(`\blist tasks|^a task id looks like`), []string{"GET /v1/tasks"}},
	{regexp.MustCompile(`\bfetch the handoff\b`), []string{"GET /v1/handoffs/{id}"}},
	{regexp.MustCompile(`\blook at its content`), []string{"GET /v1/handoffs/{id}/content"}},
	{regexp.MustCompile(`\bfetch (the context of the task|the newest)`), []string{"GET /v1/tasks/{id}/content"}},
	{regexp.MustCompile(`\b(the trail|its trail)\b`), []string{"GET /v1/tasks/{id}/trail"}},
	{regexp.MustCompile(`\blist (the )?agents`), []string{"GET /v1/agents"}},
	{regexp.MustCompile(`\blist the alerts`), []string{"GET /v1/alerts"}},
	{regexp.MustCompile(`\bend (silences|that silence)`), []string{"DELETE /v1/alerts/silences/{id}"}},
	{regexp.MustCompile(`\blist the tokens`), []string{"GET /v1/tokens"}},
	{regexp.MustCompile(`\blist the channels`), []string{"GET /v1/channels"}},
	{regexp.MustCompile(`\blist the conversations`), []string{"GET /v1/conversations"}},
	{regexp.MustCompile(`\blist the dead letters`), []string{"GET /v1/dead"}},
	{regexp.MustCompile(`\blist the workspaces`), []string{"GET /v1/workspaces"}},
	{regexp.MustCompile(`\bsearch for (items|fewer)`), []string{"GET /v1/memory"}},
	{regexp.MustCompile(`\bread the newest version`), []string{"GET /v1/memory/{id}"}},
	{regexp.MustCompile(`^preview it|: preview it|\bmay preview its`), []string{"POST /v1/tasks/{id}/preview"}},
	// what to do with a task
	{regexp.MustCompile(`\bcreate (a new|another|the) task|\bcreate another$|\bdiscard it and create it again`), []string{"POST /v1/tasks"}},
	{regexp.MustCompile(`\b(or start it|start the task)\b|^only a pending task can be started`), []string{"POST /v1/tasks/{id}/start"}},
	{regexp.MustCompile(`\bhand (it|the task|them|its tasks) (off|to|on)\b|\bspawn a child|\bsend it (warm|to the people)`), []string{"POST /v1/tasks/{id}/send"}},
	{regexp.MustCompile(`\btake (over|the task over|it over|over one)|\b(ask for the task|request a takeover|request it yourself)`), []string{"POST /v1/tasks/{id}/takeover"}},
	{regexp.MustCompile(`\b(a heartbeat)\b`), []string{"POST /v1/tasks/{id}/heartbeat"}},
	{regexp.MustCompile(`\b(a progress report|make progress)\b`), []string{"POST /v1/tasks/{id}/progress"}},
	{regexp.MustCompile(`\bcomplete the task\b`), []string{"POST /v1/tasks/{id}/complete"}},
	{regexp.MustCompile(`\bescalate (the task|its tasks)`), []string{"POST /v1/tasks/{id}/escalate"}},
	{regexp.MustCompile(`\bcancel (it|the task|them|or discard)\b`), []string{"POST /v1/tasks/{id}/cancel"}},
	{regexp.MustCompile(`\b(operator (can )?replay it)`), []string{"POST /v1/dead/{id}/replay"}},
	{regexp.MustCompile(`\bdiscard it\b`), []string{"POST /v1/dead/{id}/discard"}},
	{regexp.MustCompile(`\blift (one|those)\b`), []string{"DELETE /v1/tasks/{id}/constraints/{constraint}"}},
	{regexp.MustCompile(`\bset (a constraint|them itself|it)\b|\btighten that one\b`), []string{"POST /v1/tasks/{id}/constraints"}},
	// with an offer, a request or a question
	{regexp.MustCompile(`\baccept (the|an) offer`), []string{"POST /v1/handoffs/{id}/accept"}},
	{regexp.MustCompile(`\breject (the offer|it,)`), []string{"POST /v1/handoffs/{id}/reject"}},
	{regexp.MustCompile(`\b(withdraw it by cancelling|cancel) the handoff|\bwithdraw its handoff`), []string{"POST /v1/handoffs/{id}/withdraw"}},
	{regexp.MustCompile(`^a handoff is accepted`), []string{
		"POST /v1/handoffs/{id}/accept", "POST /v1/handoffs/{id}/reject", "POST /v1/handoffs/{id}/confirm", "POST /v1/handoffs/{id}/approve", "POST /v1/handoffs/{id}/deny", "POST /v1/handoffs/{id}/withdraw",
	}},
	{regexp.MustCompile(`^a takeover request is approved`), []string{"POST /v1/asks/{id}/approve", "POST /v1/asks/{id}/deny"}},
	{regexp.MustCompile(`^the context of a shared envelope`), []string{"GET /v1/shares/{id}/content"}},
	{regexp.MustCompile(`^a ticket is answered`), []string{
		"POST /v1/tickets/{id}/answer", "POST /v1/tickets/{id}/approve", "POST /v1/tickets/{id}/deny", "POST /v1/tickets/{id}/claim", "POST /v1/tickets/{id}/release",
	}},
	{regexp.MustCompile(`^a notice needs no answer`), []string{"GET /v1/tasks/{id}"}},
	{regexp.MustCompile(`\brelease the ticket|\brelease it$`), []string{"POST /v1/tickets/{id}/release"}},
	{regexp.MustCompile(`^claim `), []string{"POST /v1/tickets/{id}/claim"}},
	{regexp.MustCompile(`\bwithdraw the question|\bwithdraw it by denying|^claim or deny it`), []string{"POST /v1/tickets/{id}/deny"}},
	// with what is stored
	{regexp.MustCompile(`^a memory item is read`), []string{
		"GET /v1/memory/{id}", "POST /v1/memory/{id}/revise", "POST /v1/memory/{id}/pin", "POST /v1/memory/{id}/forget",
	}},
	{regexp.MustCompile(`\bstore (a new item|an item|this one)`), []string{"POST /v1/memory"}},
	{regexp.MustCompile(`\brevise (the item|that)`), []string{"POST /v1/memory/{id}/revise"}},
	{regexp.MustCompile(`\bunpin\b`), []string{"POST /v1/memory/{id}/unpin"}},
	{regexp.MustCompile(`\bforget (this one|an item)`), []string{"POST /v1/memory/{id}/forget"}},
	{regexp.MustCompile(`\b(as an artifact|as artifacts|put large|put details in a file|in a file)\b`), []string{"PUT /v1/artifacts"}},
	{regexp.MustCompile(`\bconversation of your own|\bbegin (a new|another) conversation|^append what matters`), []string{"POST /v1/conversations/{id}/turns"}},
	{regexp.MustCompile(`\bthe continuity text`), []string{"GET /v1/conversations/{id}/continuity"}},
	{regexp.MustCompile(`\bcreate another channel`), []string{"POST /v1/channels"}},
	{regexp.MustCompile(`\bsubscribe to it`), []string{"POST /v1/channels/{id}/subscribe"}},
	// with agents, tokens and the rest
	{regexp.MustCompile(`\b(register|add) (it|one|the agent|an agent)\b`), []string{"PUT /v1/agents/{id}"}},
	{regexp.MustCompile(`\bmake it ready again`), []string{"PUT /v1/agents/{id}/readiness"}},
	{regexp.MustCompile(`\b(make|create) (a new|the|a) token|\bask an admin for one\b`), []string{"POST /v1/tokens"}},
	{regexp.MustCompile(`\breload it$`), []string{"POST /v1/policy/reload"}},
}
