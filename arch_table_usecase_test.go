package trapeze_test

// usecasePackages are the use cases: the part of the table of arch_table_test.go on the group usecase.
var usecasePackages = []pkg{
	{
		dir: "usecase/caller", what: "the caller of a use case: principal, credential, idempotency key",
		imports: "content/envelope domain/identity domain/refusal record/ledger record/stream", libs: "github.com/google/uuid",
	},
	{
		dir: "usecase/quota", what: "bounds the open tasks and the work of one principal, and what of one sender waits for one receiver; turns of senders",
		imports: "domain/event domain/identity domain/refusal domain/task record/ledger record/stream record/view usecase/caller", libs: "github.com/hashicorp/golang-lru/v2 golang.org/x/time/rate",
	},
	{dir: "usecase/presence", what: "when agents were last heard of", imports: "usecase/caller"},
	{dir: "usecase/random", what: "random numbers for salts, tokens and jitter"},
	{dir: "usecase/page", what: "how much of a list is asked for", imports: "record/view"},
	{
		dir: "usecase/positions", what: "how far the ledger and its views have come",
		imports: "domain/refusal record/ledger record/stream record/view",
	},
	{
		dir: "usecase/taskstore", what: "tasks as use cases reach them: read, check the caller's part in it, change by the rules",
		imports: "domain/event domain/handoff domain/identity domain/memory domain/refusal domain/task record/access record/ledger record/stream " +
			"usecase/caller usecase/presence",
	},
	{
		dir: "usecase/envelopestore", what: "reads sealed envelopes from the streams of tasks",
		imports: "domain/event domain/refusal domain/task content/envelope record/ledger record/stream usecase/taskstore", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/agents", what: "use cases of agents, and the agents as other use cases reach them",
		imports: "domain/agent domain/event domain/identity domain/refusal domain/shellword content/tokenizer routing record/access record/ledger record/stream record/view " +
			"usecase/caller usecase/presence",
	},
	{
		dir: "usecase/tokens", what: "use cases of tokens, and authentication",
		imports: "domain/agent domain/event domain/help domain/identity domain/refusal record/access record/ledger record/stream record/view usecase/caller usecase/random " +
			"usecase/agents usecase/workspacestore", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/workspacestore", what: "workspaces as other use cases reach them, and the guard of their limits",
		imports: "domain/agent domain/event domain/identity domain/refusal domain/workspace record/access record/ledger record/stream record/view", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/workspaces", what: "use cases of workspaces: make, limit, archive, restore, list, show",
		imports: "domain/event domain/identity domain/refusal domain/workspace files/artifact record/access record/ledger record/stream record/view usecase/caller usecase/tokens " +
			"usecase/workspacestore",
	},
	{
		dir: "usecase/moves", what: "use cases of a workspace that moves alone from one record to another: leave, write its file, import it",
		imports: "domain/identity domain/refusal domain/workspace files/artifact record/access record/ledger record/move record/proof record/stream usecase/caller usecase/workspacestore",
	},
	{
		dir: "usecase/cluster", what: "use cases of the servers that share a record: show, drain, remove",
		imports: "domain/event domain/help domain/identity domain/refusal domain/shellword record/access record/frontend record/ledger record/replica usecase/caller",
	},
	{
		dir: "usecase/channels", what: "use cases of channels, and the channels as other use cases reach them",
		imports: "domain/channel domain/identity domain/refusal record/access record/ledger record/stream record/view usecase/caller " +
			"usecase/agents",
	},
	{
		dir: "usecase/conversations", what: "use cases of conversations, and the text that lets the next agent carry on",
		imports: "domain/conversation/conversationid domain/conversation domain/event domain/identity domain/memory domain/refusal domain/task record/access record/ledger " +
			"record/stream record/view usecase/caller usecase/agents usecase/page usecase/taskstore",
	},
	{
		dir: "usecase/memories", what: "use cases of memory items, and what of them goes into an envelope",
		imports: "domain/conversation/conversationid domain/conversation domain/event domain/identity domain/memory domain/refusal domain/task content/envelope routing record/access " +
			"record/ledger record/stream record/view usecase/caller usecase/quota usecase/random usecase/page usecase/taskstore usecase/conversations",
	},
	{
		dir: "usecase/artifacts", what: "use cases of artifacts: who may put and fetch what, and what is swept",
		imports: "domain/event domain/identity domain/refusal content/envelope record/access record/ledger record/stream record/view " +
			"files/artifact usecase/caller",
	},
	{
		dir: "usecase/envelopes", what: "composes what a sender hands over, packs what a receiver is given of it, and gives it to readers",
		imports: "domain/agent domain/conversation domain/event domain/event/idform domain/handoff domain/identity domain/memory domain/refusal domain/task domain/task/passage content/envelope content/fetchcall " +
			"content/packing content/parts content/tokenizer record/access record/ledger usecase/caller usecase/random usecase/taskstore usecase/envelopestore " +
			"usecase/agents usecase/memories usecase/artifacts", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/routes", what: "who could receive a handoff, from what is known of the agents; offers to agents whose circuits admit them",
		imports: "domain/help domain/agent domain/event domain/handoff domain/policy domain/refusal domain/task routing record/ledger record/stream " +
			"record/view usecase/caller usecase/quota usecase/random usecase/agents usecase/channels",
	},
	{
		dir: "usecase/policies", what: "use cases of policies: load, show, dry run, and which one is in force",
		imports: "domain/alert domain/event domain/handoff domain/identity domain/policy domain/refusal domain/task content/envelope routing record/access " +
			"record/ledger record/stream record/view usecase/caller usecase/taskstore usecase/envelopes usecase/routes",
	},
	{
		dir: "usecase/handoffs", what: "turns what a sender asks for into the events of a handoff, for every use case that hands off",
		imports: "domain/channel domain/event domain/handoff domain/refusal domain/task content/envelope content/expect routing record/stream " +
			"record/view usecase/caller usecase/agents usecase/channels usecase/envelopes usecase/routes usecase/policies",
	},
	{dir: "usecase/desk", what: "the desks of people: who may see a ticket, and which events concern it", imports: "domain/agent domain/event domain/identity domain/task usecase/caller"},
	{
		dir: "usecase/tickets", what: "use cases of tickets: what people are asked, and what they do about it",
		imports: "domain/event domain/handoff domain/handoff/ticketverb domain/identity domain/refusal domain/task record/access record/stream record/view " +
			"usecase/caller usecase/desk usecase/quota usecase/taskstore",
	},
	{
		dir: "usecase/alerts", what: "use cases of alerts: what is raised, silences, and what the server judges",
		imports: "domain/alert domain/event domain/identity domain/refusal record/access record/ledger record/stream usecase/agents usecase/caller",
	},
	{
		dir: "usecase/erasures", what: "use cases of erasures and legal holds: what a subject names, erasing it, finishing after a crash",
		imports: "domain/conversation/conversationid domain/erasure domain/event domain/memory domain/conversation domain/identity domain/refusal domain/task record/access record/ledger record/seal record/stream " +
			"usecase/caller usecase/taskstore usecase/memories usecase/artifacts",
	},
	{
		dir: "usecase/figures", what: "use cases of figures: how handoffs went lately, and which are behind a figure",
		imports: "domain/identity domain/refusal record/access record/figure usecase/caller",
	},
	{
		dir: "usecase/history", what: "use cases of the past: trail, export, drift, the stream of events",
		imports: "domain/event domain/identity domain/refusal domain/task content/drift content/envelope record/access record/proof record/ledger record/stream record/view " +
			"usecase/caller usecase/desk usecase/positions usecase/quota usecase/taskstore usecase/workspacestore",
	},
	{
		dir: "usecase/tasks", what: "use cases of tasks and of their handoffs, one file per verb",
		imports: "domain/agent domain/event domain/handoff domain/identity domain/memory domain/refusal domain/task content/envelope content/expect content/fetchcall content/foreign " +
			"record/access record/ledger record/stream record/view usecase/caller usecase/quota usecase/presence usecase/positions " +
			"usecase/taskstore usecase/agents usecase/conversations usecase/memories usecase/envelopes usecase/routes usecase/policies usecase/handoffs " +
			"usecase/desk usecase/tickets record/span",
	},
	{
		dir: "usecase/followup", what: "what follows from an entry, or from the time, on other streams",
		imports: "domain/agent domain/event domain/handoff domain/refusal domain/task record/ledger record/stream record/view usecase/caller " +
			"usecase/presence usecase/positions usecase/taskstore usecase/agents usecase/channels usecase/envelopes usecase/routes " +
			"usecase/handoffs usecase/workspacestore",
	},
	{
		dir: "usecase/phrases", what: "use cases of phrases: understand one, then do it through the use cases of tasks",
		imports: "domain/visible domain/shellword record/ledger domain/event domain/identity domain/refusal domain/task routing routing/phrase record/access record/stream record/view " +
			"usecase/caller usecase/positions usecase/taskstore usecase/agents usecase/policies usecase/handoffs usecase/history " +
			"usecase/tasks",
	},
	{
		dir: "usecase", what: "puts the use cases together: what surfaces call, and what the server does by itself",
		imports: "domain/erasure domain/event content/envelope content/expect record/access record/ledger record/stream record/view files/artifact usecase/quota usecase/presence " +
			"usecase/random usecase/positions usecase/taskstore usecase/envelopestore usecase/agents usecase/tokens usecase/workspacestore usecase/workspaces usecase/channels " +
			"usecase/conversations usecase/memories usecase/artifacts usecase/envelopes usecase/routes usecase/policies usecase/handoffs " +
			"usecase/tickets usecase/history usecase/tasks usecase/followup usecase/phrases usecase/figures usecase/alerts usecase/erasures usecase/cluster usecase/moves",
	},
}
