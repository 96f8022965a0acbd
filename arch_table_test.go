package trapeze_test

// This file is the map of the tree: the groups, and the packages in them. docs/architecture.md shows it.
//
// Directories below internal are written without "internal/".

// A table says which groups and packages there are, and what each may import.
type table struct {
	groups   []group // the directories below internal, from the rules outward
	aside    []group // no layers: the tests of the whole, which are below internal, and what users see, beside it
	packages []pkg
}

var theTable = table{groups: groups, aside: aside, packages: packages}

// A group is one directory below internal, or one that stands aside. Its packages may import each other, and the
// groups and single packages that are listed. A program that writes documentation (package main) may import from every
// group: nothing can import it.
type group struct {
	dir     string
	what    string // one sentence: which code belongs here
	imports string
}

// groups may import only groups before them. There are ten.
var groups = []group{
	{
		"domain", "May this happen? The rules, as pure functions, and the terms that they are written in.",
		"",
	},
	{
		"content", "What does the receiver read? What travels with a task: composed, counted, packed, checked, compared.",
		"domain",
	},
	{
		"routing", "Who receives the task? The choice among agents, with its reasons.",
		"domain",
	},
	{
		"record", "Did it happen? The ledger, changes to its streams, and the views derived from it.",
		"domain content/envelope",
	},
	{
		"files", "What is too large for the record? Content that is named by its digest.",
		"domain",
	},
	{
		"usecase", "Who asked, and may they? Each call is authorized, decided by the rules and recorded.",
		"domain content routing record files",
	},
	{
		"delivery", "Who needs to know? What follows from an entry: wake-ups, timers, notifications.",
		"domain record usecase",
	},
	{
		"api", "In which language? The protocols of other programs: HTTP, MCP, OAuth.",
		"domain content/drift record/view files/artifact usecase client",
	},
	{
		"cli", "In which language? The commands of people and scripts; they call the server by the public client.",
		"domain content/envelope content/drift files/artifact files/gitsnap api/mcpapi client",
	},
	{
		"server", "Which parts run? Configuration, wiring, start and stop order.",
		"domain routing record files usecase delivery api",
	},
}

var aside = []group{
	{"scenario", "Tests of the whole program; no production code.", ""},
	{"client", "The public Go client; it imports nothing of internal.", ""},
	{"cmd", "The program.", "cli server"},
	{".", "The architecture test and the package comment; no production code.", ""},
}

// notInternal are the groups aside that are not below internal.
var notInternal = []string{"client", "cmd", "."}

// A pkg is one package. Its production code may import what is listed, which it must, and harmless packages of the
// standard library. Tests may import anything except a program under cmd.
type pkg struct {
	dir     string
	what    string // the purpose, in one line
	pure    bool   // no I/O, no clock, no goroutines: see pureStandard and impureCalls
	imports string // packages of this module
	libs    string // packages from outside, and guarded standard ones, by path prefix
}

// packages is the whole tree, one group after the other.
var packages = []pkg{
	// domain
	{dir: "domain/refusal", what: "refusals: a code of a closed set, a message, a hint what to do next", pure: true},
	{
		dir: "domain/event", what: "the events of tasks, with the terms and limits that they are written in; frozen in the record",
		pure: true, imports: "domain/refusal",
	},
	{
		dir: "domain/task", what: "the state of a task as the fold of its events: owner, handoff in progress, transition tables",
		pure: true, imports: "domain/event",
	},
	{
		dir: "domain/handoff", what: "the rules of tasks and handoffs: one command per verb, decided by Decide",
		pure: true, imports: "domain/refusal domain/event domain/identity domain/task",
	},
	{
		dir: "domain/handoff/statesdoc", what: "writes docs/states.md and docs/events.md from the transition tables and the event types",
		imports: "domain/event domain/task domain/agent domain/identity domain/memory domain/conversation domain/channel " +
			"domain/policy files/artifact",
	},
	{
		dir: "domain/agent", what: "the rules of agents: registration, capabilities, readiness, circuit breaker",
		pure: true, imports: "domain/refusal domain/event domain/identity",
	},
	{
		dir: "domain/identity", what: "the rules of principals: roles, permissions, tokens",
		pure: true, imports: "domain/refusal domain/event",
	},
	{
		dir: "domain/memory", what: "the rules of memory items: scopes, versions, references, who may read",
		pure: true, imports: "domain/refusal domain/event domain/identity",
	},
	{
		dir: "domain/conversation", what: "the rules of conversations: messages across agents, and their condensed text",
		pure: true, imports: "domain/refusal domain/event domain/memory",
	},
	{
		dir: "domain/channel", what: "the rules of channels: named lists of agents to publish to",
		pure: true, imports: "domain/refusal domain/event domain/identity",
	},
	{
		dir: "domain/policy", what: "policy files: parsed, validated, matched against a situation; no I/O",
		imports: "domain/refusal domain/event domain/agent", libs: "cel.dev/cel-go go.yaml.in/yaml/v3",
	},
	{
		dir: "domain/policy/schemadoc", what: "writes docs/policy.schema.json and the tables of docs/policy.md from the types",
		imports: "domain/event domain/policy",
	},

	// content
	{
		dir: "content/envelope", what: "the sealed document of a handoff: canonical JSON, digest, rendering",
		pure: true, imports: "domain/refusal domain/event", libs: "sync",
	},
	{
		dir: "content/envelope/schemadoc", what: "writes docs/envelope.md and docs/envelope.schema.json from the types",
		imports: "domain/event content/envelope",
	},
	{
		dir: "content/tokenizer", what: "counts the tokens that a text costs its receiver",
		pure: true, imports: "domain/refusal",
		libs: "github.com/hashicorp/golang-lru/v2 github.com/tiktoken-go/tokenizer sync",
	},
	{
		dir: "content/packing", what: "chooses the parts of an envelope that fit a receiver's token budget",
		pure: true, imports: "domain/refusal domain/event content/envelope content/tokenizer",
	},
	{
		dir: "content/expect", what: "checks a result against what its task expects: format, length, JSON Schema; no I/O",
		imports: "domain/refusal domain/event",
		libs:    "github.com/santhosh-tekuri/jsonschema github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "content/drift", what: "what each hop of a task kept, changed, omitted and dropped",
		pure: true, imports: "domain/event content/envelope",
	},
	{
		dir: "content/foreign", what: "reads the handoff documents of other systems into the content of a task",
		pure: true, imports: "domain/refusal domain/event content/envelope",
	},

	// routing
	{
		dir: "routing", what: "whether a task is handed off, to which agent, and why",
		imports: "domain/refusal domain/event domain/agent domain/policy",
	},
	{
		dir: "routing/openai", what: "advice from a language model where no rule of the policy matches",
		imports: "domain/refusal domain/event domain/policy routing", libs: "net",
	},
	{
		dir: "routing/phrase", what: "parses what people and agents say about handing work on; exactly or not at all",
		pure: true, imports: "domain/refusal domain/event", libs: "sync",
	},

	// record
	{dir: "record/ledger", what: "the contract of the ledger: entries, positions, append, follow, codec"},
	{
		dir: "record/ledger/sqlitelog", what: "the embedded ledger: one SQLite file",
		imports: "record/ledger", libs: "database/sql modernc.org/sqlite",
	},
	{
		dir: "record/ledger/ledgertest", what: "the test suite of every ledger, and a double that behaves like a distributed log",
		imports: "record/ledger", libs: "testing",
	},
	{
		dir: "record/stream", what: "changes one stream: load, decide, append with compare-and-set, or decide again",
		imports: "domain/refusal record/ledger", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "record/access", what: "the access log: reads of content, exports, refused attempts",
		imports: "domain/refusal record/ledger record/stream",
		libs:    "github.com/hashicorp/golang-lru/v2 golang.org/x/time/rate",
	},
	{
		dir: "record/view", what: "the contract of the views: tasks, inbox, trail, dead letters, search",
		imports: "domain/refusal domain/event domain/task domain/agent domain/identity domain/memory domain/conversation " +
			"domain/channel record/ledger",
	},
	{dir: "record/view/watch", what: "the position of the views, with waiters and watchers", imports: "record/ledger"},
	{dir: "record/view/rowjson", what: "writes rows of views as JSON without reflection", imports: "record/view"},
	{
		dir: "record/view/sqlview", what: "the views in SQLite, projected in the embedded ledger's transaction",
		imports: "domain/event domain/task domain/agent domain/identity domain/channel content/envelope record/ledger " +
			"record/ledger/sqlitelog record/view record/view/watch record/view/rowjson " +
			"record/view/sqlview/query record/view/sqlview/search",
		libs: "database/sql",
	},
	{dir: "record/view/sqlview/query", what: "prepared queries on a pool of connections", libs: "database/sql"},
	{
		dir: "record/view/sqlview/search", what: "memory items and conversations in tables of the views' database, and their search",
		imports: "domain/memory domain/conversation record/ledger record/ledger/sqlitelog record/view record/view/sqlview/query",
		libs:    "database/sql",
	},
	{
		dir: "record/view/viewtest", what: "the test suite of every view store",
		imports: "domain/event domain/task domain/handoff domain/agent domain/identity domain/memory domain/conversation " +
			"domain/channel record/ledger record/view",
		libs: "testing pgregory.net/rapid",
	},
	{
		dir: "record/view/sqltest", what: "an embedded ledger with its views for the tests of other packages",
		imports: "record/ledger/sqlitelog record/view/sqlview", libs: "testing",
	},

	// files
	{
		dir: "files/artifact", what: "the contract of the artifact store: content-addressed, verified, swept",
		imports: "domain/refusal domain/event",
	},
	{dir: "files/artifact/filestore", what: "the artifact store as owner-only files", imports: "files/artifact"},
	{
		dir: "files/artifact/artifacttest", what: "the test suite of every artifact store",
		imports: "domain/refusal files/artifact", libs: "testing",
	},
	{
		dir: "files/gitsnap", what: "the state of a git working tree as a document and a patch, taken and applied",
		imports: "domain/refusal files/artifact", libs: "os/exec",
	},

	// usecase
	{
		dir: "usecase/caller", what: "the caller of a use case: principal, credential, idempotency key",
		imports: "domain/refusal domain/identity record/ledger record/stream",
		libs:    "github.com/google/uuid",
	},
	{
		dir: "usecase/taskstore", what: "tasks as use cases reach them: read, check the caller's part in it, change by the rules",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/identity record/ledger record/stream " +
			"record/access usecase/caller",
	},
	{
		dir: "usecase/quota", what: "bounds the open tasks of one principal",
		imports: "domain/refusal record/view usecase/caller", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/agents", what: "use cases of agents, tokens and channels, and the candidates that routing proposes",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/agent domain/identity domain/channel " +
			"domain/policy routing record/ledger record/stream record/access record/view usecase/caller",
		libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/memories", what: "use cases of memory items and conversations, and what of them goes into an envelope",
		imports: "domain/refusal domain/event domain/task domain/identity domain/memory domain/conversation " +
			"content/envelope record/ledger record/stream record/access record/view usecase/caller",
	},
	{
		dir: "usecase/artifacts", what: "use cases of artifacts: who may put and fetch what, and what is swept",
		imports: "domain/refusal domain/event domain/identity content/envelope record/ledger record/stream record/access " +
			"record/view files/artifact usecase/caller",
	},
	{
		dir: "usecase/envelopes", what: "composes what a sender hands over, and packs what a receiver is given of it",
		imports: "domain/refusal domain/event domain/task domain/agent domain/memory content/envelope content/tokenizer " +
			"content/packing record/ledger record/stream usecase/caller usecase/agents usecase/memories " +
			"usecase/artifacts",
		libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "usecase/policies", what: "use cases of policies: load, show, dry run, and which one is in force",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/identity domain/policy content/envelope " +
			"routing record/ledger record/stream record/access record/view usecase/caller usecase/taskstore " +
			"usecase/agents usecase/envelopes",
	},
	{
		dir: "usecase/handoffs", what: "turns what a sender asks for into the events of a handoff, for every use case that hands off",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/channel content/envelope content/expect " +
			"routing usecase/caller usecase/agents usecase/envelopes usecase/policies",
	},
	{
		dir: "usecase/tickets", what: "use cases of tickets: what people are asked, and what they do about it",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/agent domain/identity record/stream " +
			"record/access record/view usecase/caller usecase/taskstore",
	},
	{
		dir: "usecase/history", what: "use cases of looking: tasks, trail, export, drift, the stream of events, previews",
		imports: "domain/refusal domain/event domain/task domain/agent domain/identity content/envelope content/drift " +
			"record/ledger record/stream record/access record/view usecase/caller usecase/taskstore " +
			"usecase/envelopes",
	},
	{
		dir: "usecase/tasks", what: "use cases of the task life cycle, one file per verb",
		imports: "domain/refusal domain/event domain/task domain/handoff domain/agent domain/identity content/envelope " +
			"content/expect content/foreign routing record/ledger record/stream record/access record/view " +
			"files/artifact usecase/caller usecase/taskstore usecase/quota usecase/agents usecase/memories " +
			"usecase/artifacts usecase/envelopes usecase/policies usecase/handoffs usecase/tickets usecase/history",
	},
	{
		dir: "usecase/phrases", what: "use cases of phrases: understand one, then do it through the use cases of tasks",
		imports: "domain/refusal domain/event domain/task domain/identity routing routing/phrase record/stream " +
			"record/view usecase/taskstore usecase/tasks",
	},

	// delivery
	{
		dir: "delivery/notify", what: "tells people about tickets: the contract of notifications, and its sinks",
		imports: "domain/refusal domain/event", libs: "net os/exec",
	},
	{
		dir: "delivery/courier", what: "follows the record: wakes waiting calls, runs timers, sends notifications",
		imports: "domain/refusal domain/event domain/agent record/ledger record/view usecase/tasks delivery/notify",
	},

	// api
	{
		dir: "api/shape", what: "scans JSON against a described type in one pass",
		imports: "domain/refusal domain/event", libs: "github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/oauth", what: "checks the access tokens of an OAuth 2.1 issuer, and tells clients where to get one",
		imports: "domain/refusal domain/event domain/identity",
		libs:    "net github.com/coreos/go-oidc github.com/go-jose/go-jose golang.org/x/time/rate",
	},
	{
		dir: "api/oauth/oauthtest", what: "an OAuth issuer for tests, which misbehaves on request",
		libs: "testing net github.com/go-jose/go-jose",
	},
	{
		dir: "api/httpapi", what: "the HTTP API under /v1: its routes and their OpenAPI description",
		imports: "domain/refusal domain/event domain/task domain/agent domain/identity domain/memory " +
			"domain/channel content/drift record/view files/artifact usecase/taskstore usecase/agents " +
			"usecase/memories usecase/policies usecase/tickets usecase/history usecase/tasks usecase/phrases " +
			"api/httpapi/endpoint api/httpapi/schema",
		libs: "net github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/httpapi/schema", what: "the OpenAPI description of the HTTP API: names, closed sets, fields that are in the path",
		imports: "domain/refusal domain/event domain/agent domain/identity domain/memory domain/conversation record/view " +
			"usecase/agents usecase/memories usecase/policies usecase/tickets usecase/tasks usecase/phrases api/httpapi/endpoint",
		libs: "github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/httpapi/endpoint", what: "how a use case is served over HTTP: route, body, answer, refusal",
		imports: "domain/refusal usecase/caller usecase/tasks api/shape", libs: "net github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/mcpapi", what: "the MCP server: the HTTP API as tools for agents",
		imports: "api/mcpapi/argument api/mcpapi/transport api/mcpapi/resource api/mcpapi/tasks api/mcpapi/liveness " +
			"client",
		libs: "net github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/argument", what: "arguments of tools: schemas from structs, structs from JSON, errors that a model can act on",
		imports: "api/shape client", libs: "github.com/google/jsonschema-go",
	},
	{
		dir: "api/mcpapi/transport", what: "Streamable HTTP for MCP: sessions, bounds, refusals",
		imports: "api/mcpapi/inprocess api/mcpapi/tasks client",
		libs:    "net github.com/modelcontextprotocol/go-sdk github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "api/mcpapi/inprocess", what: "HTTP requests to a handler of the same process, without a network",
		libs: "net",
	},
	{
		dir: "api/mcpapi/resource", what: "MCP resources, subscriptions, completion and prompts",
		imports: "client", libs: "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/tasks", what: "the Tasks extension of MCP: a handle for a result that comes later",
		libs: "net github.com/modelcontextprotocol/go-sdk",
	},
	{dir: "api/mcpapi/liveness", what: "heartbeats and leases of an agent that calls tools", imports: "client"},
	{
		dir: "api/mcpapi/mcptest", what: "what the MCP conformance suite expects to find on a server",
		imports: "api/mcpapi/tasks", libs: "github.com/modelcontextprotocol/go-sdk github.com/google/uuid",
	},
	{dir: "api/mcpapi/outside", what: "tests of the MCP server by programs of others"},

	// cli
	{
		dir: "cli", what: "the command line: its groups of commands, and the commands that start processes: serve, stop, work, mcp, demo",
		imports: "cli/shell cli/task cli/handoff cli/agent cli/policy cli/ticket cli/memory cli/envelope cli/audit cli/daemon cli/setup cli/stdio " +
			"cli/work cli/demo cli/demo/report client",
		libs: "github.com/spf13",
	},
	{
		dir: "cli/shell", what: "what every command needs: server, credential, arguments, output",
		imports: "domain/refusal domain/event client", libs: "net github.com/spf13 golang.org/x/term",
	},
	{dir: "cli/task", what: "commands of tasks and dead letters", imports: "cli/shell cli/handoff client", libs: "github.com/spf13"},
	{
		dir: "cli/handoff", what: "commands of handoffs: send, inbox, accept, reject, confirm, share, takeover, escalate",
		imports: "domain/refusal files/artifact files/gitsnap cli/shell cli/policy client", libs: "github.com/spf13",
	},
	{dir: "cli/agent", what: "commands of agents, tokens and channels", imports: "cli/shell client", libs: "github.com/spf13"},
	{
		dir: "cli/policy", what: "commands of policies, routes and phrases",
		imports: "domain/refusal domain/policy cli/shell client", libs: "github.com/spf13",
	},
	{
		dir: "cli/ticket", what: "commands of people in the loop: ask, ticket, approve, deny",
		imports: "domain/refusal domain/event cli/shell client", libs: "github.com/spf13",
	},
	{dir: "cli/memory", what: "commands of memory and conversations", imports: "cli/shell client", libs: "github.com/spf13"},
	{
		dir: "cli/envelope", what: "commands of envelopes, artifacts and drift",
		imports: "content/envelope content/drift cli/shell client", libs: "github.com/spf13",
	},
	{dir: "cli/audit", what: "commands that read the record: audit and events", imports: "cli/shell client", libs: "github.com/spf13"},
	{
		dir: "cli/daemon", what: "starts a server in the background, finds it, and ends it",
		imports: "domain/refusal", libs: "net os/exec",
	},
	{
		dir: "cli/setup", what: "writes the configuration of agents' programs, and checks it",
		imports: "domain/refusal domain/event domain/identity cli/shell cli/daemon cli/configfile client",
		libs:    "net os/exec github.com/spf13",
	},
	{
		dir: "cli/configfile", what: "edits one place of a configuration file and keeps the rest: JSON, TOML, Markdown",
		pure: true,
	},
	{
		dir: "cli/stdio", what: "an agent's MCP session on standard input and output",
		imports: "api/mcpapi api/mcpapi/liveness cli/shell client client/wire",
		libs:    "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "cli/work", what: "makes any program a receiver of handoffs",
		imports: "cli/shell client client/wire", libs: "os/exec",
	},
	{
		dir: "cli/demo", what: "the demo: its story, its mishaps and its programs",
		imports: "domain/event cli/demo/report client", libs: "os/exec",
	},
	{dir: "cli/demo/report", what: "what the demo's programs do: a report on a Go module's source"},

	// server
	{
		dir: "server", what: "configuration, wiring, start and stop order",
		imports: "domain/refusal domain/identity domain/policy routing routing/openai record/ledger/sqlitelog " +
			"record/view/sqlview files/artifact files/artifact/filestore usecase/caller usecase/artifacts " +
			"usecase/policies usecase/tasks delivery/notify delivery/courier api/oauth api/httpapi api/mcpapi",
		libs: "net",
	},

	// scenario
	{dir: "scenario", what: "tests of the whole program, through every API"},

	// client
	{dir: "client", what: "the public Go client", imports: "client/wire", libs: "net"},
	{dir: "client/wire", what: "requests of the client: one attempt, retries, files, streams of events", libs: "net"},

	// cmd
	{dir: "cmd/trapeze", what: "main: gives the server to the command line", imports: "cli server"},

	// the root
	{dir: ".", what: "no code: the architecture test, and the package comment"},
}
