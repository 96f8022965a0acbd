package trapeze_test

// A room is one package: the directory, what it is for, and the only things its production code may import besides
// harmless packages of the standard library. Anything not listed is forbidden. Tests may import what they like,
// except a program under cmd.
type room struct {
	dir  string
	what string
	pure bool     // no I/O, no clock, no goroutines: see pureStandard and impureCalls
	ours []string // packages of this module; "internal/..." means every room
	libs []string // packages from outside, and guarded standard ones, by path prefix
}

// domain is the rules and their vocabulary: the types that every other room may speak of.
var domain = []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/task", "internal/domain/handoff", "internal/domain/memory", "internal/domain/conversation", "internal/domain/channel", "internal/domain/agent", "internal/domain/identity", "internal/content/envelope"}

// rooms is the whole house. A room need not exist yet; a package that is not here is an error.
var rooms = []room{
	// May this happen? The rules, as pure functions, and the words they are written in.
	{dir: "internal/domain/refusal", what: "the one vocabulary of saying no", pure: true},
	{
		dir: "internal/domain/event", what: "the events of tasks and the words they are written in, frozen in the record",
		pure: true, ours: []string{"internal/domain/refusal"},
	},
	{
		dir: "internal/domain/task", what: "what a task is: who holds it, which handoff is under way; states, tables, Fold",
		pure: true, ours: []string{"internal/domain/event"},
	},
	{
		dir: "internal/domain/handoff", what: "the rules of tasks and handoffs: commands and Decide",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/task", "internal/domain/memory", "internal/domain/agent", "internal/domain/identity"},
	},
	{
		dir: "internal/domain/handoff/statesdoc", what: "writes docs/states.md and docs/events.md from the tables and the event types",
		ours: []string{
			"internal/domain/task", "internal/domain/handoff", "internal/domain/event", "internal/domain/agent", "internal/domain/identity",
			"internal/domain/memory", "internal/domain/conversation", "internal/domain/channel", "internal/files/artifact", "internal/domain/policy",
		},
	},
	{
		dir: "internal/domain/memory", what: "memory items: scopes, versions, references, who may read",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/identity"},
	},
	{
		dir: "internal/domain/conversation", what: "what was said across agents, and the text that carries it on",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/memory"},
	},
	{
		dir: "internal/domain/channel", what: "named lists of agents to publish to",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event"},
	},
	{
		dir: "internal/domain/agent", what: "agents, readiness, capabilities, circuit breaker",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/handoff", "internal/domain/memory", "internal/domain/identity"},
	},
	{
		dir: "internal/domain/identity", what: "principals, roles, tokens",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/handoff", "internal/domain/memory", "internal/domain/agent"},
	},
	{
		dir: "internal/content/envelope", what: "the sealed document: canonical JSON, digest, rendering",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/handoff", "internal/domain/agent", "internal/domain/memory"},
		libs: []string{"github.com/gowebpki/jcs", "github.com/santhosh-tekuri/jsonschema", "sync"}, // room to write in, used again
	},
	{
		dir: "internal/content/tokenizer", what: "how many tokens a text costs its receiver",
		pure: true, ours: []string{"internal/domain/refusal"},
		libs: []string{"github.com/hashicorp/golang-lru/v2", "github.com/tiktoken-go/tokenizer", "sync"}, // a memo of a pure function
	},
	{
		dir: "internal/content/packing", what: "what of an envelope a receiver's token budget has room for",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/content/envelope", "internal/content/tokenizer"},
	},
	{
		dir: "internal/content/envelope/schemadoc", what: "writes docs/envelope.md and docs/envelope.schema.json from the types",
		ours: []string{"internal/content/envelope", "internal/domain/event"},
	},
	{
		dir: "internal/content/foreign", what: "other systems' handoff documents, read into what a task is made of",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/content/envelope"},
	},
	{
		dir: "internal/content/drift", what: "what each hop kept, changed and dropped",
		pure: true, ours: []string{"internal/domain/event", "internal/content/envelope"},
	},
	{
		dir: "internal/content/expect", what: "a result against what is expected: format, length, JSON Schema; no I/O",
		ours: []string{"internal/domain/refusal", "internal/domain/event"},
		libs: []string{"github.com/santhosh-tekuri/jsonschema", "github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/domain/policy", what: "the file of rules and escalation chains: read, checked, matched against a situation; no I/O",
		ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/agent"}, libs: []string{"cel.dev/cel-go", "go.yaml.in/yaml/v3"},
	},
	{
		dir: "internal/domain/policy/schemadoc", what: "writes docs/policy.schema.json and the tables of docs/policy.md from the types",
		ours: []string{"internal/domain/policy", "internal/domain/event"},
	},
	{
		dir: "internal/routing", what: "to whom, and why",
		ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/agent", "internal/domain/policy"},
	},
	{
		dir: "internal/routing/openai", what: "advice from a language model, where no rule decides",
		ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/policy", "internal/routing"}, libs: []string{"net"},
	},
	{
		dir: "internal/routing/phrase", what: "what people and agents say about handing work on, read exactly or not at all",
		pure: true, ours: []string{"internal/domain/refusal", "internal/domain/event"}, libs: []string{"sync"}, // the grammar, compiled once
	},

	// Did it happen? The record: a contract, its technologies, and the proof they must pass.
	{dir: "internal/record/ledger", what: "the contract of the record: entries, positions, append, follow, codec"},
	{
		dir: "internal/record/ledger/sqlitelog", what: "the embedded ledger", ours: []string{"internal/record/ledger"},
		libs: []string{"database/sql", "modernc.org/sqlite", "modernc.org/libc", "golang.org/x/sys"},
	},
	{
		dir: "internal/ledger/natslog", what: "the cluster's ledger", ours: []string{"internal/record/ledger"},
		libs: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"},
	},
	{
		dir: "internal/record/ledger/ledgertest", what: "the suite every ledger must pass, and a double that behaves like a distributed log",
		ours: []string{"internal/record/ledger"}, libs: []string{"testing", "pgregory.net/rapid", "github.com/anishathalye/porcupine"},
	},

	{
		dir: "internal/record/stream", what: "how everything changes: load, decide, append with compare-and-set, or decide again",
		ours: []string{"internal/record/ledger", "internal/domain/refusal"}, libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/record/access", what: "who looked at what, and what was refused, on record",
		ours: []string{"internal/record/ledger", "internal/record/stream", "internal/domain/refusal"},
		libs: []string{"github.com/hashicorp/golang-lru/v2", "golang.org/x/time/rate"},
	},

	// What is too large for the record, and referred to by its hash.
	{
		dir: "internal/files/artifact", what: "the contract of the store of files: content-addressed, verified, swept",
		ours: []string{"internal/domain/refusal", "internal/domain/event"},
	},
	{
		dir: "internal/files/artifact/filestore", what: "artifacts as owner-only files",
		ours: []string{"internal/files/artifact", "internal/domain/refusal"},
	},
	{
		dir: "internal/files/artifact/artifacttest", what: "the suite every store of artifacts must pass",
		ours: []string{"internal/files/artifact", "internal/domain/refusal"}, libs: []string{"testing"},
	},
	{
		dir: "internal/files/gitsnap", what: "the state of a git working tree as a document and a patch, and back",
		ours: []string{"internal/files/artifact", "internal/domain/refusal"}, libs: []string{"os/exec"},
	},

	// What does it look like? Views are folds of the record; they can be rebuilt at any time.
	{dir: "internal/record/view", what: "the contract of the views: task, inbox, trail, dead letters", ours: append(domain, "internal/record/ledger")},
	{dir: "internal/record/view/wake", what: "how far views are, and who waits for them", ours: []string{"internal/record/ledger"}},
	{dir: "internal/record/view/rowjson", what: "rows of views as JSON, faster than by reflection", ours: []string{"internal/record/view"}},
	{
		dir: "internal/record/view/sqlview", what: "views in SQLite, projected inside the embedded ledger's transaction",
		ours: append(domain, "internal/record/ledger", "internal/record/ledger/sqlitelog", "internal/record/view", "internal/record/view/wake", "internal/record/view/rowjson", "internal/record/view/sqlview/search"),
		libs: []string{"database/sql", "modernc.org/sqlite"},
	},
	{
		dir: "internal/record/view/sqlview/search", what: "what is known, in tables of the views' database: memory and conversations, and the search",
		ours: append(domain, "internal/record/ledger", "internal/record/ledger/sqlitelog", "internal/record/view"), libs: []string{"database/sql"},
	},
	{
		dir: "internal/record/view/viewtest", what: "the suite every view store must pass",
		ours: append(domain, "internal/record/ledger", "internal/record/view"), libs: []string{"testing", "pgregory.net/rapid"},
	},

	{
		dir: "internal/record/view/sqltest", what: "an embedded record with its views, for tests of the rooms above",
		ours: []string{"internal/record/ledger/sqlitelog", "internal/record/view/sqlview"}, libs: []string{"testing"},
	},

	// Who asked? One use case a file.
	{
		dir: "internal/usecase/caller", what: "who asks, as rules, record and access log want to see it",
		ours: append(domain, "internal/record/ledger", "internal/record/stream", "internal/record/access"), libs: []string{"github.com/google/uuid"},
	},
	{
		dir: "internal/usecase/agents", what: "use cases of who there is: agents, tokens, channels, and whom routing proposes",
		ours: append(domain, "internal/domain/policy", "internal/routing", "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
		libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/usecase/policies", what: "use cases of policies: which is in force, how a file comes into force, what it makes of a task",
		ours: append(domain,
			"internal/domain/policy", "internal/routing", "internal/usecase/agents", "internal/usecase/taskstore", "internal/usecase/envelopes", "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
	},
	{
		dir: "internal/usecase/memories", what: "use cases of what is known: memory and conversations, and what of them goes into an envelope",
		ours: append(domain, "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
		libs: []string{"github.com/google/uuid"},
	},
	{
		dir: "internal/usecase/artifacts", what: "use cases of artifacts: who may put and fetch what, and what is swept away",
		ours: append(domain, "internal/files/artifact", "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
	},
	{
		dir: "internal/usecase/envelopes", what: "envelopes: what a sender hands over, composed, and what a receiver is given of it, packed",
		ours: append(domain,
			"internal/content/tokenizer", "internal/content/packing", "internal/record/ledger", "internal/record/stream", "internal/usecase/caller", "internal/usecase/agents",
			"internal/usecase/memories", "internal/usecase/artifacts"),
		libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/api/oauth", what: "tokens of an outside issuer: are they good, and where they are had",
		ours: []string{"internal/domain/refusal", "internal/domain/event", "internal/domain/identity"}, libs: []string{"net", "github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "golang.org/x/time/rate"},
	},
	{
		dir: "internal/api/oauth/oauthtest", what: "an issuer of tokens for tests, which misbehaves when told to",
		libs: []string{"testing", "net", "github.com/go-jose/go-jose"},
	},
	{
		dir: "internal/usecase/taskstore", what: "the tasks on record as use cases reach them: read, who has a part in one, changed by the rules",
		ours: append(domain, "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access"),
	},
	{
		dir: "internal/usecase/history", what: "use cases of looking: at tasks, back at trail, export, drift and events as they happen, ahead at what would be sent",
		ours: append(domain, "internal/usecase/taskstore", "internal/usecase/envelopes", "internal/content/drift", "internal/usecase/caller", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
	},
	{
		dir: "internal/usecase/quota", what: "how many tasks one principal may have open",
		ours: append(domain, "internal/usecase/caller", "internal/record/view"), libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/usecase/tickets", what: "use cases of tickets: what people are asked, and what they do about it",
		ours: append(domain, "internal/usecase/caller", "internal/usecase/taskstore", "internal/record/ledger", "internal/record/stream", "internal/record/access", "internal/record/view"),
	},
	{
		dir: "internal/usecase/handoffs", what: "handoffs decided: to whom what a sender asks for can go, and what goes along",
		ours: append(domain, "internal/routing", "internal/content/expect", "internal/usecase/caller", "internal/usecase/agents", "internal/usecase/policies", "internal/usecase/envelopes"),
	},
	{
		dir: "internal/usecase/tasks", what: "use cases, one file a verb: who may do what",
		ours: append(domain, "internal/usecase/taskstore", "internal/usecase/quota", "internal/usecase/tickets", "internal/usecase/history",
			"internal/usecase/policies", "internal/usecase/envelopes", "internal/usecase/handoffs", "internal/content/expect", "internal/content/foreign", "internal/routing", "internal/record/ledger",
			"internal/record/stream", "internal/record/access", "internal/record/view", "internal/usecase/caller", "internal/usecase/agents", "internal/usecase/memories", "internal/usecase/artifacts", "internal/files/artifact"),
	},
	{
		dir: "internal/usecase/phrases", what: "use cases of where a task goes: what is said is to be done",
		ours: append(domain, "internal/routing/phrase", "internal/routing", "internal/usecase/tasks", "internal/usecase/taskstore", "internal/usecase/agents", "internal/usecase/caller", "internal/record/stream", "internal/record/view"),
	},

	// Who needs to know? Wake-ups, timers, delivery; figures and alerts.
	{
		dir: "internal/delivery/notify", what: "telling people that they are asked: the contract and its sinks",
		ours: []string{"internal/domain/refusal", "internal/domain/event"}, libs: []string{"net", "os/exec"},
	},
	{
		dir: "internal/delivery/courier", what: "delivery: wake-ups, timers, webhooks",
		ours: append(domain, "internal/usecase/tasks", "internal/delivery/notify", "internal/record/view", "internal/record/ledger"),
		libs: []string{
			"net", "github.com/a2aproject/a2a-go/v2", "github.com/failsafe-go/failsafe-go",
			"github.com/standard-webhooks/standard-webhooks/libraries",
		},
	},
	{
		dir: "internal/monitor", what: "metrics, alert tiers, sinks",
		ours: append(domain, "internal/usecase/tasks", "internal/record/view", "internal/record/ledger"),
		libs: []string{"net", "go.opentelemetry.io", "github.com/prometheus", "github.com/nicholas-fedor/shoutrrr"},
	},

	// Can you prove it? An auditor need not trust the rest.
	{
		dir: "internal/audit", what: "Merkle tree, checkpoints, proofs, verifier",
		ours: []string{"internal/record/ledger"}, libs: []string{"golang.org/x/mod/sumdb"},
	},

	// In which language? The doors: never a ledger, never a technology of storage.
	{
		dir: "internal/api/httpapi", what: "the HTTP API under /v1",
		ours: append(domain, "internal/files/artifact", "internal/content/drift", "internal/usecase/phrases", "internal/api/httpapi/endpoint", "internal/usecase/tasks", "internal/usecase/tickets", "internal/usecase/taskstore", "internal/usecase/history", "internal/usecase/agents", "internal/usecase/policies", "internal/usecase/memories", "internal/record/view"),
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/api/httpapi/endpoint", what: "how a use case is served over HTTP: route, body, answer, refusal",
		ours: []string{"internal/domain/refusal", "internal/usecase/caller", "internal/usecase/tasks", "internal/api/shape"},
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/api/shape", what: "JSON as clients send it, against what is described, in one pass",
		ours: []string{"internal/domain/refusal", "internal/domain/event"}, libs: []string{"github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/api/mcpapi", what: "the MCP server: the HTTP API as tools for agents",
		ours: []string{
			"client", "internal/api/mcpapi/argument", "internal/api/mcpapi/transport", "internal/api/mcpapi/resource",
			"internal/api/mcpapi/tasks", "internal/api/mcpapi/liveness",
		},
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/api/mcpapi/argument", what: "what tools are called with: schemas, and words for what does not fit them",
		ours: []string{"client", "internal/api/shape"}, libs: []string{"github.com/google/jsonschema-go"},
	},
	{
		dir: "internal/api/mcpapi/transport", what: "MCP over HTTP: who comes, whose session it is, how much each may hold open",
		ours: []string{"client", "internal/api/mcpapi/inprocess", "internal/api/mcpapi/tasks"},
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk", "github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/api/mcpapi/inprocess", what: "HTTP without a network: requests of a handler in the same process", libs: []string{"net"},
	},
	{
		dir: "internal/api/mcpapi/resource", what: "what an MCP client is shown besides tools: resources, subscriptions, completion, prompts",
		ours: []string{"client"}, libs: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/api/mcpapi/tasks", what: "the Tasks extension of MCP: calls whose result comes later",
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/api/mcpapi/mcptest", what: "what the MCP conformance suite wants to find on a server, for tests",
		ours: []string{"internal/api/mcpapi/tasks"},
		libs: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/uuid"},
	},
	{dir: "internal/api/mcpapi/liveness", what: "signs of life: how tasks stand, that an agent is there, a server that comes back", ours: []string{"client"}},
	{dir: "internal/api/mcpapi/outside", what: "programs of others against the MCP server: the conformance suite, clients from npm; tests only"},
	{
		dir: "internal/surface/a2aapi", what: "every agent as an A2A agent",
		ours: append(domain, "internal/usecase/tasks", "internal/usecase/agents", "internal/record/view"), libs: []string{"net", "github.com/a2aproject/a2a-go/v2"},
	},
	{
		dir: "internal/surface/webui", what: "the web page",
		ours: append(domain, "internal/usecase/tasks", "internal/record/view"), libs: []string{"net", "github.com/a-h/templ"},
	},
	{
		dir: "internal/cli", what: "the command line; it reaches the server through the public client, and is given `serve` as a function",
		ours: append(domain, "client", "internal/cli/shell", "internal/cli/memory", "internal/cli/policy", "internal/cli/ticket", "internal/cli/work", "internal/cli/demo", "internal/cli/demo/report", "internal/cli/daemon", "internal/cli/setup", "internal/cli/stdio"),
		libs: []string{"net", "os/exec", "github.com/spf13", "golang.org/x/term"},
	},
	{
		dir: "internal/cli/shell", what: "what every command needs: which server, as whom, how to read arguments, how to answer",
		ours: append(domain, "client"), libs: []string{"net", "github.com/spf13", "golang.org/x/term"},
	},
	{
		dir: "internal/cli/memory", what: "the commands of what is known and carried: memory, conversations, channels, envelopes, drift, artifacts",
		ours: append(domain, "client", "internal/cli/shell", "internal/content/drift", "internal/files/artifact", "internal/files/gitsnap"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/cli/policy", what: "the commands of where a task goes: saying what is to be done",
		ours: append(domain, "client", "internal/cli/shell", "internal/domain/policy"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/cli/ticket", what: "the commands of people in the loop: ask, tickets, approve, deny",
		ours: append(domain, "client", "internal/cli/shell"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/cli/daemon", what: "a server in the background: started where none runs, found, and ended",
		ours: []string{"internal/domain/refusal"}, libs: []string{"net", "os/exec"},
	},
	{
		dir: "internal/cli/setup", what: "agents' programs are set up: their files written, and what is wrong said",
		ours: append(domain, "client", "internal/cli/shell", "internal/cli/daemon", "internal/cli/configfile"), libs: []string{"net", "os/exec", "github.com/spf13"},
	},
	{dir: "internal/cli/configfile", what: "other programs' files, changed in one place and left alone in the rest: JSON, TOML, Markdown", pure: true},
	{
		dir: "internal/cli/stdio", what: "an agent's MCP session on standard input and output, and what keeps its tasks meanwhile",
		ours: []string{"client", "client/wire", "internal/api/mcpapi", "internal/api/mcpapi/liveness", "internal/cli/shell"}, libs: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/cli/work", what: "any program as a receiver of handoffs",
		ours: []string{"client", "client/wire", "internal/cli/shell"}, libs: []string{"os/exec"},
	},
	{
		dir: "internal/cli/demo", what: "the demo: its story, its mishaps and its programs",
		ours: []string{"client", "internal/domain/event", "internal/cli/demo/report"}, libs: []string{"os/exec"},
	},
	{dir: "internal/cli/demo/report", what: "what the demo's programs do: a report on a Go module's source"},

	// The rooms that put the others together.
	{
		dir: "internal/server", what: "configuration, wiring, start and stop order",
		ours: []string{"internal/..."},
		libs: []string{"net", "github.com/knadh/koanf", "github.com/google/uuid", "golang.org/x", "go.opentelemetry.io"},
	},
	{
		dir: "internal/scenario", what: "stories about the whole house, run through every door",
		ours: []string{"internal/...", "client", "trapezetest"},
		libs: []string{"testing", "net", "os/exec", "github.com/anishathalye/porcupine", "pgregory.net/rapid"},
	},

	// What users see.
	{dir: "client", what: "the public Go client", ours: []string{"client/wire"}, libs: []string{"net"}},
	{dir: "client/wire", what: "the client's requests: one attempt, and how it is made again; files and streams of events", libs: []string{"net"}},
	{
		dir: "trapezetest", what: "the public test kit: a server in memory and scripted agents",
		ours: []string{"internal/...", "client"}, libs: []string{"testing", "net"},
	},
	{dir: "cmd/trapeze", what: "main: hands the server to the command line", ours: []string{"internal/server", "internal/cli"}},
	{dir: ".", what: "no code: this test, and the package comment"},
}
