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
var domain = []string{"internal/refusal", "internal/fact", "internal/custody", "internal/handoff", "internal/memory", "internal/conversation", "internal/channel", "internal/registry", "internal/identity", "internal/envelope"}

// rooms is the whole house. A room need not exist yet; a package that is not here is an error.
var rooms = []room{
	// May this happen? The rules, as pure functions, and the words they are written in.
	{dir: "internal/refusal", what: "the one vocabulary of saying no", pure: true},
	{
		dir: "internal/fact", what: "the events of tasks and the words they are written in, frozen in the record",
		pure: true, ours: []string{"internal/refusal"},
	},
	{
		dir: "internal/custody", what: "what a task is: who holds it, which handoff is under way; states, tables, Fold",
		pure: true, ours: []string{"internal/fact"},
	},
	{
		dir: "internal/handoff", what: "the rules of tasks and handoffs: commands and Decide",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/custody", "internal/memory", "internal/registry", "internal/identity"},
	},
	{
		dir: "internal/handoff/statesdoc", what: "writes docs/states.md and docs/events.md from the tables and the event types",
		ours: []string{
			"internal/custody", "internal/handoff", "internal/fact", "internal/registry", "internal/identity",
			"internal/memory", "internal/conversation", "internal/channel", "internal/artifact", "internal/policy",
		},
	},
	{
		dir: "internal/memory", what: "memory items: scopes, versions, references, who may read",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/identity"},
	},
	{
		dir: "internal/conversation", what: "what was said across agents, and the text that carries it on",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/memory"},
	},
	{
		dir: "internal/channel", what: "named lists of agents to publish to",
		pure: true, ours: []string{"internal/refusal", "internal/fact"},
	},
	{
		dir: "internal/registry", what: "agents, readiness, capabilities, circuit breaker",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/handoff", "internal/memory", "internal/identity"},
	},
	{
		dir: "internal/identity", what: "principals, roles, tokens",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/handoff", "internal/memory", "internal/registry"},
	},
	{
		dir: "internal/envelope", what: "the sealed document: canonical JSON, digest, rendering",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/handoff", "internal/registry", "internal/memory"},
		libs: []string{"github.com/gowebpki/jcs", "github.com/santhosh-tekuri/jsonschema", "sync"}, // room to write in, used again
	},
	{
		dir: "internal/tokenizer", what: "how many tokens a text costs its receiver",
		pure: true, ours: []string{"internal/refusal"},
		libs: []string{"github.com/hashicorp/golang-lru/v2", "github.com/tiktoken-go/tokenizer", "sync"}, // a memo of a pure function
	},
	{
		dir: "internal/packing", what: "what of an envelope a receiver's token budget has room for",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/envelope", "internal/tokenizer"},
	},
	{
		dir: "internal/envelope/schemadoc", what: "writes docs/envelope.md and docs/envelope.schema.json from the types",
		ours: []string{"internal/envelope", "internal/fact"},
	},
	{
		dir: "internal/foreign", what: "other systems' handoff documents, read into what a task is made of",
		pure: true, ours: []string{"internal/refusal", "internal/fact", "internal/envelope"},
	},
	{
		dir: "internal/drift", what: "what each hop kept, changed and dropped",
		pure: true, ours: []string{"internal/fact", "internal/envelope"},
	},
	{
		dir: "internal/expect", what: "a result against what is expected: format, length, JSON Schema; no I/O",
		ours: []string{"internal/refusal", "internal/fact"},
		libs: []string{"github.com/santhosh-tekuri/jsonschema", "github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/policy", what: "the file of rules and escalation chains: read, checked, matched against a situation; no I/O",
		ours: []string{"internal/refusal", "internal/fact", "internal/registry"}, libs: []string{"cel.dev/cel-go", "go.yaml.in/yaml/v3"},
	},
	{
		dir: "internal/policy/schemadoc", what: "writes docs/policy.schema.json and the tables of docs/policy.md from the types",
		ours: []string{"internal/policy", "internal/fact"},
	},
	{
		dir: "internal/routing", what: "to whom, and why",
		ours: []string{"internal/refusal", "internal/fact", "internal/registry", "internal/policy"},
	},
	{
		dir: "internal/routing/openai", what: "advice from a language model, where no rule decides",
		ours: []string{"internal/refusal", "internal/fact", "internal/policy", "internal/routing"}, libs: []string{"net"},
	},
	{
		dir: "internal/phrase", what: "what people and agents say about handing work on, read exactly or not at all",
		pure: true, ours: []string{"internal/refusal", "internal/fact"}, libs: []string{"sync"}, // the grammar, compiled once
	},

	// Did it happen? The record: a contract, its technologies, and the proof they must pass.
	{dir: "internal/ledger", what: "the contract of the record: entries, positions, append, follow, codec"},
	{
		dir: "internal/ledger/sqlitelog", what: "the embedded ledger", ours: []string{"internal/ledger"},
		libs: []string{"database/sql", "modernc.org/sqlite", "modernc.org/libc", "golang.org/x/sys"},
	},
	{
		dir: "internal/ledger/natslog", what: "the cluster's ledger", ours: []string{"internal/ledger"},
		libs: []string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2"},
	},
	{
		dir: "internal/ledger/ledgertest", what: "the suite every ledger must pass, and a double that behaves like a distributed log",
		ours: []string{"internal/ledger"}, libs: []string{"testing", "pgregory.net/rapid", "github.com/anishathalye/porcupine"},
	},

	{
		dir: "internal/stream", what: "how everything changes: load, decide, append with compare-and-set, or decide again",
		ours: []string{"internal/ledger", "internal/refusal"}, libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/access", what: "who looked at what, and what was refused, on record",
		ours: []string{"internal/ledger", "internal/stream", "internal/refusal"},
		libs: []string{"github.com/hashicorp/golang-lru/v2", "golang.org/x/time/rate"},
	},

	// What is too large for the record, and referred to by its hash.
	{
		dir: "internal/artifact", what: "the contract of the store of files: content-addressed, verified, swept",
		ours: []string{"internal/refusal", "internal/fact"},
	},
	{
		dir: "internal/artifact/filestore", what: "artifacts as owner-only files",
		ours: []string{"internal/artifact", "internal/refusal"},
	},
	{
		dir: "internal/artifact/artifacttest", what: "the suite every store of artifacts must pass",
		ours: []string{"internal/artifact", "internal/refusal"}, libs: []string{"testing"},
	},
	{
		dir: "internal/artifact/gitsnap", what: "the state of a git working tree as a document and a patch, and back",
		ours: []string{"internal/artifact", "internal/refusal"}, libs: []string{"os/exec"},
	},

	// What does it look like? Views are folds of the record; they can be rebuilt at any time.
	{dir: "internal/view", what: "the contract of the views: task, inbox, trail, dead letters", ours: append(domain, "internal/ledger")},
	{dir: "internal/view/wake", what: "how far views are, and who waits for them", ours: []string{"internal/ledger"}},
	{dir: "internal/view/rowjson", what: "rows of views as JSON, faster than by reflection", ours: []string{"internal/view"}},
	{
		dir: "internal/view/sqlview", what: "views in SQLite, projected inside the embedded ledger's transaction",
		ours: append(domain, "internal/ledger", "internal/ledger/sqlitelog", "internal/view", "internal/view/wake", "internal/view/rowjson", "internal/view/sqlview/known"),
		libs: []string{"database/sql", "modernc.org/sqlite"},
	},
	{
		dir: "internal/view/sqlview/known", what: "what is known, in tables of the views' database: memory and conversations, and the search",
		ours: append(domain, "internal/ledger", "internal/ledger/sqlitelog", "internal/view"), libs: []string{"database/sql"},
	},
	{
		dir: "internal/view/viewtest", what: "the suite every view store must pass",
		ours: append(domain, "internal/ledger", "internal/view"), libs: []string{"testing", "pgregory.net/rapid"},
	},

	{
		dir: "internal/view/sqltest", what: "an embedded record with its views, for tests of the rooms above",
		ours: []string{"internal/ledger/sqlitelog", "internal/view/sqlview"}, libs: []string{"testing"},
	},

	// Who asked? One use case a file.
	{
		dir: "internal/caller", what: "who asks, as rules, record and access log want to see it",
		ours: append(domain, "internal/ledger", "internal/stream", "internal/access"), libs: []string{"github.com/google/uuid"},
	},
	{
		dir: "internal/roster", what: "use cases of who there is: agents, tokens, channels, and whom routing proposes",
		ours: append(domain, "internal/policy", "internal/routing", "internal/caller", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
		libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/rulebook", what: "use cases of policies: which is in force, how a file comes into force, what it makes of a task",
		ours: append(domain,
			"internal/policy", "internal/routing", "internal/roster", "internal/docket", "internal/sealing", "internal/caller", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
	},
	{
		dir: "internal/knowledge", what: "use cases of what is known: memory and conversations, and what of them goes into an envelope",
		ours: append(domain, "internal/caller", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
		libs: []string{"github.com/google/uuid"},
	},
	{
		dir: "internal/shelf", what: "use cases of artifacts: who may put and fetch what, and what is swept away",
		ours: append(domain, "internal/artifact", "internal/caller", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
	},
	{
		dir: "internal/sealing", what: "envelopes: what a sender hands over, composed, and what a receiver is given of it, packed",
		ours: append(domain,
			"internal/tokenizer", "internal/packing", "internal/ledger", "internal/stream", "internal/caller", "internal/roster",
			"internal/knowledge", "internal/shelf"),
		libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/oauth", what: "tokens of an outside issuer: are they good, and where they are had",
		ours: []string{"internal/refusal", "internal/fact", "internal/identity"}, libs: []string{"net", "github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "golang.org/x/time/rate"},
	},
	{
		dir: "internal/oauth/oauthtest", what: "an issuer of tokens for tests, which misbehaves when told to",
		libs: []string{"testing", "net", "github.com/go-jose/go-jose"},
	},
	{
		dir: "internal/docket", what: "the tasks on record as use cases reach them: read, who has a part in one, changed by the rules",
		ours: append(domain, "internal/caller", "internal/ledger", "internal/stream", "internal/access"),
	},
	{
		dir: "internal/archive", what: "use cases of looking: at tasks, back at trail, export, drift and events as they happen, ahead at what would be sent",
		ours: append(domain, "internal/docket", "internal/sealing", "internal/drift", "internal/caller", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
	},
	{
		dir: "internal/quota", what: "how many tasks one principal may have open",
		ours: append(domain, "internal/caller", "internal/view"), libs: []string{"github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/desk", what: "use cases of tickets: what people are asked, and what they do about it",
		ours: append(domain, "internal/caller", "internal/docket", "internal/ledger", "internal/stream", "internal/access", "internal/view"),
	},
	{
		dir: "internal/sending", what: "handoffs decided: to whom what a sender asks for can go, and what goes along",
		ours: append(domain, "internal/routing", "internal/expect", "internal/caller", "internal/roster", "internal/rulebook", "internal/sealing"),
	},
	{
		dir: "internal/app", what: "use cases, one file a verb: who may do what",
		ours: append(domain, "internal/docket", "internal/quota", "internal/desk", "internal/archive",
			"internal/rulebook", "internal/sealing", "internal/sending", "internal/expect", "internal/foreign", "internal/routing", "internal/ledger",
			"internal/stream", "internal/access", "internal/view", "internal/caller", "internal/roster", "internal/knowledge", "internal/shelf", "internal/artifact"),
	},
	{
		dir: "internal/dispatch", what: "use cases of where a task goes: what is said is to be done",
		ours: append(domain, "internal/phrase", "internal/routing", "internal/app", "internal/docket", "internal/roster", "internal/caller", "internal/stream", "internal/view"),
	},

	// Who needs to know? Wake-ups, timers, delivery; figures and alerts.
	{
		dir: "internal/notify", what: "telling people that they are asked: the contract and its sinks",
		ours: []string{"internal/refusal", "internal/fact"}, libs: []string{"net", "os/exec"},
	},
	{
		dir: "internal/courier", what: "delivery: wake-ups, timers, webhooks",
		ours: append(domain, "internal/app", "internal/notify", "internal/view", "internal/ledger"),
		libs: []string{
			"net", "github.com/a2aproject/a2a-go/v2", "github.com/failsafe-go/failsafe-go",
			"github.com/standard-webhooks/standard-webhooks/libraries",
		},
	},
	{
		dir: "internal/monitor", what: "metrics, alert tiers, sinks",
		ours: append(domain, "internal/app", "internal/view", "internal/ledger"),
		libs: []string{"net", "go.opentelemetry.io", "github.com/prometheus", "github.com/nicholas-fedor/shoutrrr"},
	},

	// Can you prove it? An auditor need not trust the rest.
	{
		dir: "internal/audit", what: "Merkle tree, checkpoints, proofs, verifier",
		ours: []string{"internal/ledger"}, libs: []string{"golang.org/x/mod/sumdb"},
	},

	// In which language? The doors: never a ledger, never a technology of storage.
	{
		dir: "internal/surface/httpapi", what: "the HTTP API under /v1",
		ours: append(domain, "internal/surface/httpapi/door", "internal/surface/httpapi/know", "internal/surface/httpapi/dispatch", "internal/surface/httpapi/desk", "internal/app", "internal/desk", "internal/docket", "internal/archive", "internal/roster", "internal/rulebook", "internal/knowledge", "internal/view"),
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/httpapi/door", what: "how a use case is served over HTTP: route, body, answer, refusal",
		ours: []string{"internal/refusal", "internal/caller", "internal/app", "internal/surface/shape"},
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/httpapi/know", what: "the routes of what is known and carried: memory, conversations, channels, envelopes, artifacts",
		ours: append(domain, "internal/surface/httpapi/door", "internal/app", "internal/docket", "internal/knowledge", "internal/roster", "internal/drift", "internal/artifact"),
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/httpapi/desk", what: "the routes of tickets",
		ours: append(domain, "internal/surface/httpapi/door", "internal/app", "internal/desk", "internal/docket", "internal/view"),
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/httpapi/dispatch", what: "the routes of where a task goes: what is said is to be done",
		ours: append(domain, "internal/surface/httpapi/door", "internal/app", "internal/dispatch", "internal/phrase", "internal/rulebook"),
		libs: []string{"net", "github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/shape", what: "JSON as clients send it, against what is described, in one pass",
		ours: []string{"internal/refusal", "internal/fact"}, libs: []string{"github.com/danielgtaylor/huma/v2"},
	},
	{
		dir: "internal/surface/mcpapi", what: "the MCP server: the HTTP API as tools for agents",
		ours: []string{
			"client", "internal/surface/mcpapi/argument", "internal/surface/mcpapi/door", "internal/surface/mcpapi/showcase",
			"internal/surface/mcpapi/tasks", "internal/surface/mcpapi/vital",
		},
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/surface/mcpapi/argument", what: "what tools are called with: schemas, and words for what does not fit them",
		ours: []string{"client", "internal/surface/shape"}, libs: []string{"github.com/google/jsonschema-go"},
	},
	{
		dir: "internal/surface/mcpapi/door", what: "MCP over HTTP: who comes, whose session it is, how much each may hold open",
		ours: []string{"client", "internal/surface/mcpapi/inside", "internal/surface/mcpapi/tasks"},
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk", "github.com/hashicorp/golang-lru/v2"},
	},
	{
		dir: "internal/surface/mcpapi/inside", what: "HTTP without a network: requests of a handler in the same process", libs: []string{"net"},
	},
	{
		dir: "internal/surface/mcpapi/showcase", what: "what an MCP client is shown besides tools: resources, subscriptions, completion, prompts",
		ours: []string{"client"}, libs: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/surface/mcpapi/tasks", what: "the Tasks extension of MCP: calls whose result comes later",
		libs: []string{"net", "github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/surface/mcpapi/mcptest", what: "what the MCP conformance suite wants to find on a server, for tests",
		ours: []string{"internal/surface/mcpapi/tasks"},
		libs: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/uuid"},
	},
	{dir: "internal/surface/mcpapi/vital", what: "signs of life: how tasks stand, that an agent is there, a server that comes back", ours: []string{"client"}},
	{dir: "internal/surface/mcpapi/outside", what: "programs of others against the MCP server: the conformance suite, clients from npm; tests only"},
	{
		dir: "internal/surface/a2aapi", what: "every agent as an A2A agent",
		ours: append(domain, "internal/app", "internal/roster", "internal/view"), libs: []string{"net", "github.com/a2aproject/a2a-go/v2"},
	},
	{
		dir: "internal/surface/webui", what: "the web page",
		ours: append(domain, "internal/app", "internal/view"), libs: []string{"net", "github.com/a-h/templ"},
	},
	{
		dir: "internal/surface/cli", what: "the command line; it reaches the server through the public client, and is given `serve` as a function",
		ours: append(domain, "client", "internal/surface/cli/shell", "internal/surface/cli/know", "internal/surface/cli/dispatch", "internal/surface/cli/desk", "internal/surface/cli/work", "internal/surface/cli/demo", "internal/surface/cli/stage", "internal/surface/cli/daemon", "internal/surface/cli/setup", "internal/surface/cli/stdio"),
		libs: []string{"net", "os/exec", "github.com/spf13", "golang.org/x/term"},
	},
	{
		dir: "internal/surface/cli/shell", what: "what every command needs: which server, as whom, how to read arguments, how to answer",
		ours: append(domain, "client"), libs: []string{"net", "github.com/spf13", "golang.org/x/term"},
	},
	{
		dir: "internal/surface/cli/know", what: "the commands of what is known and carried: memory, conversations, channels, envelopes, drift, artifacts",
		ours: append(domain, "client", "internal/surface/cli/shell", "internal/drift", "internal/artifact", "internal/artifact/gitsnap"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/surface/cli/dispatch", what: "the commands of where a task goes: saying what is to be done",
		ours: append(domain, "client", "internal/surface/cli/shell", "internal/policy"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/surface/cli/desk", what: "the commands of people in the loop: ask, tickets, approve, deny",
		ours: append(domain, "client", "internal/surface/cli/shell"), libs: []string{"github.com/spf13"},
	},
	{
		dir: "internal/surface/cli/daemon", what: "a server in the background: started where none runs, found, and ended",
		ours: []string{"internal/refusal"}, libs: []string{"net", "os/exec"},
	},
	{
		dir: "internal/surface/cli/setup", what: "agents' programs are set up: their files written, and what is wrong said",
		ours: append(domain, "client", "internal/surface/cli/shell", "internal/surface/cli/daemon", "internal/surface/cli/graft"), libs: []string{"net", "os/exec", "github.com/spf13"},
	},
	{dir: "internal/surface/cli/graft", what: "other programs' files, changed in one place and left alone in the rest: JSON, TOML, Markdown", pure: true},
	{
		dir: "internal/surface/cli/stdio", what: "an agent's MCP session on standard input and output, and what keeps its tasks meanwhile",
		ours: []string{"client", "client/wire", "internal/surface/mcpapi", "internal/surface/mcpapi/vital", "internal/surface/cli/shell"}, libs: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		dir: "internal/surface/cli/work", what: "any program as a receiver of handoffs",
		ours: []string{"client", "client/wire", "internal/surface/cli/shell"}, libs: []string{"os/exec"},
	},
	{
		dir: "internal/surface/cli/demo", what: "the demo: its story, its mishaps and its programs",
		ours: []string{"client", "internal/fact", "internal/surface/cli/stage"}, libs: []string{"os/exec"},
	},
	{dir: "internal/surface/cli/stage", what: "what the demo's programs do: a report on a Go module's source"},

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
	{dir: "cmd/trapeze", what: "main: hands the server to the command line", ours: []string{"internal/server", "internal/surface/cli"}},
	{dir: ".", what: "no code: this test, and the package comment"},
}
