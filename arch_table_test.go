package trapeze_test

import "slices"

// This file is the map of the tree: the packages; their groups are in arch_groups_test.go. docs/architecture.md shows both.
//
// Directories below internal are written without "internal/".

// A table says which groups and packages there are, and what each may import.
type table struct {
	groups   []group // the directories below internal, from the rules outward
	aside    []group // no layers: the tests of the whole, which are below internal, and what users see, beside it
	packages []pkg
	nouns    []string // each layer has a file or package of each
}

var theTable = table{groups: groups, aside: aside, packages: packages, nouns: nouns}

// A pkg is one package. Its production code may import what is listed, which it must, and harmless packages of the
// standard library. Tests may import anything except a program under cmd.
type pkg struct {
	dir     string
	what    string // the purpose, in one line
	pure    bool   // no I/O, no clock, no goroutines: see pureStandard and impureCalls
	imports string // packages of this module
	libs    string // packages from outside, and guarded standard ones, by path prefix
}

// packages is the whole tree. The ledger and its technologies are in arch_table_ledger_test.go, the use cases in arch_table_usecase_test.go, the
// command line in arch_table_cli_test.go, and server, scenario, client, trapezetest, cmd and deploy in arch_table_outer_test.go; all others are here.
var packages = slices.Concat(innerPackages, usecasePackages, deliveryPackages, ledgerPackages, cliPackages, outerPackages)

var innerPackages = []pkg{
	// domain
	{dir: "domain/refusal", what: "refusals: a code of a closed set, a message, a hint what to do next", pure: true, imports: "domain/help"},
	{dir: "domain/help", what: "what helps after a refusal, as data: calls of a closed set, as links of hints", pure: true, imports: "domain/shellword"},
	{dir: "domain/shellword", what: "commands that people paste into a shell: each value is one word", pure: true},
	{dir: "domain/fastjson", what: "reads and writes JSON as encoding/json does, in less time", libs: "github.com/go-json-experiment/json"},
	{dir: "domain/ascii", what: "tests eight bytes of a text at a time: most texts are plain ASCII", pure: true},
	{
		dir: "domain/visible", what: "text of others made safe to show: hidden characters by their number, fences that no text ends", pure: true,
		imports: "domain/ascii",
	},
	{dir: "domain/secretenv", what: "the variables of the server's environment that are withheld from the programs it runs", pure: true},
	{dir: "domain/visible/visibletest", what: "fills answers with hostile text, for the tests of what shows them"},
	{dir: "domain/event", what: "the events of tasks, with the terms and limits that they are written in; frozen in the record", pure: true, imports: "domain/shellword domain/refusal domain/event/idform"},
	{dir: "domain/event/backoff", what: "the pauses between tries of an offer or a message", pure: true},
	{dir: "domain/event/idform", what: "the form of the ids of tasks, of their parts and of memory items, and which ids look alike", pure: true, imports: "domain/refusal"},
	{
		dir: "domain/task", what: "the state of a task as the fold of its events: owner, handoff in progress, transition tables",
		pure: true, imports: "domain/help domain/refusal domain/event domain/task/passage",
	},
	{
		dir: "domain/task/authority", what: "who may act on a task, and which permissions its owner can pass on", pure: true,
		imports: "domain/refusal domain/event domain/help domain/identity domain/task",
	},
	{
		dir: "domain/task/order", what: "tells events that the rules of tasks never write from those that they may have written", pure: true,
		imports: "domain/event domain/task",
	},
	{
		dir: "domain/task/passage", what: "what became of a task and its child tasks between two envelopes", pure: true,
		imports: "domain/refusal domain/event",
	},
	{dir: "domain/constrainttext", what: "constraints as agents and people write them, with or without a kind", pure: true, imports: "domain/event"},
	{
		dir: "domain/handoff", what: "the rules of tasks and handoffs: one command per verb, decided by Decide",
		pure: true, imports: "domain/conversation/conversationid domain/erasure domain/refusal domain/event domain/event/backoff domain/identity domain/task domain/task/authority",
	},
	{
		dir: "domain/handoff/ticketverb", what: "what a principal may do with a ticket", pure: true,
		imports: "domain/event domain/handoff domain/identity domain/task",
	},
	{
		dir: "domain/handoff/statesdoc", what: "writes docs/states.md, docs/visibility.md and docs/events.md from the rules and the event types",
		imports: "domain/event domain/task domain/agent domain/identity domain/memory domain/conversation domain/channel " +
			"domain/policy domain/alert domain/erasure domain/workspace files/artifact record/ledger record/proof",
	},
	{
		dir: "domain/agent", what: "the rules of agents: registration, capabilities, readiness, circuit breaker",
		pure: true, imports: "domain/help domain/refusal domain/event domain/identity",
	},
	{dir: "domain/identity", what: "the rules of principals: roles, permissions, tokens", pure: true, imports: "domain/refusal domain/event"},
	{
		dir: "domain/conversation/conversationid", what: "the identity of conversations: a name, and the agent that calls the conversation so",
		pure: true, imports: "domain/refusal domain/event",
	},
	{
		dir: "domain/memory", what: "the rules of memory items: scopes, versions, references, who may read",
		pure: true, imports: "domain/erasure domain/refusal domain/event domain/identity domain/conversation/conversationid",
	},
	{
		dir: "domain/conversation", what: "the rules of conversations: messages across agents, and their condensed text",
		pure: true, imports: "domain/erasure domain/refusal domain/event domain/memory domain/conversation/conversationid",
	},
	{
		dir: "domain/channel", what: "the rules of channels: named lists of agents to publish to",
		pure: true, imports: "domain/refusal domain/event domain/help domain/identity",
	},
	{
		dir: "domain/workspace", what: "the rules of workspaces: who makes and archives them, what each may use",
		pure: true, imports: "domain/help domain/refusal domain/event domain/identity",
	},
	{
		dir: "domain/alert", what: "the rules of alerts: their definitions, when one is raised and recovers, silences",
		pure: true, imports: "domain/refusal domain/event domain/identity domain/shellword",
	},
	{
		dir: "domain/ruletest", what: "the harness of the tests of rules: one stream in memory, to which commands are given",
		imports: "domain/refusal", libs: "testing",
	},
	{
		dir: "domain/erasure", what: "the rules of erasing content and of legal holds: subjects, holds, pending erasures",
		pure: true, imports: "domain/conversation/conversationid domain/help domain/refusal domain/event domain/identity",
	},
	{
		dir: "domain/policy", what: "policy files: parsed, validated, matched against a situation; no I/O",
		imports: "domain/refusal domain/event domain/agent domain/alert domain/erasure", libs: "cel.dev/cel-go go.yaml.in/yaml/v3",
	},
	{
		dir: "domain/policy/schemadoc", what: "writes docs/policy.schema.json and the tables of docs/policy.md from the types",
		imports: "domain/alert domain/event domain/policy content/typeschema",
	},

	// content
	{
		dir: "content/envelope", what: "the sealed document of a handoff: digest, versions, rendering",
		pure: true, imports: "domain/fastjson domain/visible content/canonical content/fetchcall content/prompt content/tracecontext domain/refusal domain/event domain/event/idform", libs: "sync",
	},
	{dir: "content/tracecontext", what: "reads the W3C headers traceparent and tracestate", pure: true},
	{dir: "content/fetchcall", what: "the calls that prompts name: those that fetch what a prompt leaves out", pure: true, imports: "domain/event domain/shellword"},
	{dir: "content/prompt", what: "writes prompts as Markdown: fenced texts, and lists whose entries cannot pose as one another", pure: true, imports: "domain/visible domain/event/idform"},
	{dir: "content/canonical", what: "writes JSON in the form of RFC 8785, so that equal documents have equal digests", pure: true, imports: "domain/ascii"},
	{
		dir: "content/envelope/schemadoc", what: "writes docs/envelope.md and docs/envelope.schema.json from the types",
		imports: "domain/event domain/event/idform content/envelope content/typeschema",
	},
	{dir: "content/typeschema", what: "makes JSON Schemas of Go types, for the programs that write schemas to docs"},
	{
		dir: "content/tokenizer", what: "counts the tokens that a text costs its receiver",
		pure: true, imports: "domain/refusal", libs: "embed hash/maphash sync",
	},
	{
		dir: "content/packing", what: "chooses the parts of an envelope that fit a receiver's token budget",
		pure: true, imports: "domain/refusal domain/event content/envelope content/tokenizer",
	},
	{
		dir: "content/parts", what: "gives parts of an envelope to a reader by name, page by page",
		pure: true, imports: "domain/refusal domain/visible content/canonical content/envelope content/prompt content/tokenizer",
	},
	{
		dir: "content/expect", what: "checks a result against what its task expects: format, length, JSON Schema; no I/O",
		imports: "domain/refusal domain/event",
		libs:    "github.com/santhosh-tekuri/jsonschema github.com/hashicorp/golang-lru/v2",
	},
	{dir: "content/drift", what: "what each hop of a task kept, changed, omitted and dropped", pure: true, imports: "domain/event domain/conversation domain/visible content/envelope"},
	{
		dir: "content/foreign", what: "reads the handoff documents of other systems into the content of a task",
		pure: true, imports: "domain/refusal domain/event domain/event/idform content/envelope",
	},

	// routing
	{dir: "routing", what: "whether a task is handed off, to which agent, and why", imports: "domain/refusal domain/event domain/agent domain/policy"},
	{
		dir: "routing/openai", what: "advice from a language model where no rule of the policy matches, and vectors of texts",
		imports: "domain/refusal domain/event domain/policy domain/secretenv routing", libs: "net os/exec",
	},
	{
		dir: "routing/phrase", what: "parses what people and agents say about handing work on; exactly or not at all",
		pure: true, imports: "domain/refusal domain/event", libs: "sync",
	},

	// record
	{dir: "record/durable", what: "waits until a file, or the names in a directory, are on the disk"},
	{
		dir: "record/stream", what: "changes one stream: load, decide, append with compare-and-set, or decide again",
		imports: "domain/refusal record/ledger record/ledger/pace", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{dir: "record/replica", what: "where the replicas of a record are, and whether one of their servers can be spared"},
	{dir: "record/frontend", what: "what the front ends of one record share beside its entries: keys, presence, cursors, and whose turn it is", imports: "record/ledger record/view"},
	{dir: "record/frontend/pgfront", what: "what front ends share, in tables of the PostgreSQL database of their record", imports: "record/frontend record/ledger", libs: "github.com/jackc/pgx/v5"},
	{dir: "record/frontend/natsfront", what: "what front ends share, in a bucket of JetStream and in messages", imports: "record/frontend record/ledger record/ledger/natslog", libs: "github.com/nats-io/nats.go github.com/nats-io/nuid"},
	{dir: "record/frontend/frontendtest", what: "the test suite of every store of what front ends share", imports: "record/frontend record/ledger", libs: "testing"},
	{
		dir: "record/seal", what: "encrypts the content of entries under keys per stream, which can be destroyed",
		imports: "domain/event domain/memory domain/conversation record/durable record/ledger", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "record/access", what: "the access log: reads of content, exports, refused attempts",
		imports: "domain/refusal record/ledger record/proof record/stream",
		libs:    "github.com/hashicorp/golang-lru/v2 golang.org/x/time/rate",
	},
	{
		dir: "record/view", what: "the contract of the views: tasks, inbox, trail, dead letters, search",
		imports: "domain/refusal domain/event domain/task domain/agent domain/identity domain/memory domain/conversation " +
			"domain/channel domain/workspace record/ledger",
	},
	{
		dir: "record/figure", what: "figures counted from the record: the instruments, and the fold of entries to them",
		imports: "domain/event domain/agent domain/alert record/ledger",
	},
	{dir: "record/figure/metricsdoc", what: "writes docs/metrics.md and docs/alerts.md, and the rules and the dashboard in docs/prometheus, from the instruments and alerts", imports: "domain/alert domain/event record/figure"},
	{
		dir: "record/span", what: "the spans of tasks and handoffs, made from the record; the names of all spans and attributes",
		imports: "domain/event domain/task record/ledger", libs: "github.com/hashicorp/golang-lru/v2",
	},
	{dir: "record/span/tracesdoc", what: "writes docs/traces.md from the names of spans and attributes", imports: "record/span"},
	{dir: "record/span/outage", what: "logs that spans or figures cannot be sent: when that begins, once a minute while it lasts, when it ends"},
	{
		dir: "record/proof", what: "the Merkle tree over the entries, its signed checkpoints, and proofs that others verify",
		imports: "record/ledger", libs: "golang.org/x/mod",
	},
	{
		dir: "record/proof/treefile", what: "the tree of a ledger, its key and its last checkpoint as files; compares the record with them",
		imports: "record/durable record/ledger record/proof", libs: "golang.org/x/mod",
	},
	{
		dir: "record/proof/taskorder", what: "compares the entries of tasks with what the rules may write",
		imports: "domain/event domain/task domain/task/order record/ledger record/proof",
	},
	{dir: "record/entrytar", what: "the members of tar archives with entries: backups, segments, workspaces that move", imports: "record/ledger"},
	{
		dir: "record/proof/segment", what: "files with the oldest entries of a record, which verify by themselves",
		imports: "record/entrytar record/ledger record/proof", libs: "golang.org/x/mod",
	},
	{
		dir: "record/move", what: "the file in which one workspace moves from a record to another, verified by what the source signed",
		imports: "domain/identity domain/workspace record/entrytar record/ledger record/proof",
	},
	{
		dir: "record/backup", what: "backups of a record: one file with its entries and files, and back, verified by the tree",
		imports: "record/entrytar record/ledger record/proof", libs: "golang.org/x/mod",
	},
	{dir: "record/view/watch", what: "the position of the views, with waiters and watchers", imports: "record/ledger"},
	{dir: "record/view/rowjson", what: "writes rows of views as JSON without reflection", imports: "record/view"},
	{
		dir: "record/view/sqlview", what: "the views in SQLite, in the embedded ledger's file or one of their own",
		imports: "domain/event domain/task domain/agent domain/identity domain/channel domain/workspace content/envelope record/ledger record/ledger/sqlitelog record/ledger/sqlitelog/sqlconn " +
			"record/view record/view/watch record/view/rowjson record/view/sqlview/cache record/view/sqlview/cursor record/view/sqlview/kept record/view/sqlview/late record/view/sqlview/query record/view/sqlview/search record/view/sqlview/sweep " +
			"record/view/sqlview/tasklist record/view/sqlview/ticketlist",
		libs: "database/sql",
	},
	{dir: "record/view/sqlview/cache", what: "recently used values"},
	{dir: "record/view/sqlview/late", what: "what the tables of views lack, and when they have to be written"},
	{dir: "record/view/sqlview/sweep", what: "rows of the views, a few at a time, and the streams that they are made of", imports: "domain/event domain/identity record/ledger record/view/sqlview/query"},
	{dir: "record/view/sqlview/cursor", what: "how far the followers of a ledger are", imports: "record/ledger record/ledger/sqlitelog/sqlconn record/view/sqlview/kept"},
	{
		dir: "record/view/sqlview/kept", what: "sums over the tables that no rebuild makes again, so that changes of them are noticed",
		imports: "record/ledger/sqlitelog/sqlconn record/view/sqlview/query", libs: "database/sql",
	},
	{dir: "record/view/sqlview/tasklist", what: "lists of tasks, and their numbers", imports: "domain/event record/ledger record/view record/view/sqlview/query", libs: "database/sql"},
	{dir: "record/view/sqlview/ticketlist", what: "which tickets a list has, in which order", imports: "domain/event record/view record/view/sqlview/query", libs: "database/sql"},
	{dir: "record/view/sqlview/query", what: "prepared queries on a pool of connections, and tables that are compared", imports: "record/ledger", libs: "database/sql"},
	{
		dir: "record/view/sqlview/search", what: "memory items and conversations in tables of the views' database, and their search",
		imports: "domain/memory domain/conversation domain/conversation/conversationid record/ledger record/ledger/sqlitelog/sqlconn record/view record/view/sqlview/kept record/view/sqlview/query",
		libs:    "database/sql golang.org/x/text",
	},
	{
		dir: "record/view/viewtest", what: "the test suite of every view store",
		imports: "domain/event domain/task domain/handoff domain/agent domain/identity domain/memory domain/conversation " +
			"domain/channel domain/workspace record/ledger record/view",
		libs: "testing pgregory.net/rapid",
	},
	{
		dir: "record/view/sqltest", what: "an embedded ledger with its views for the tests of other packages",
		imports: "record/ledger/sqlitelog record/view/sqlview", libs: "testing",
	},

	// files
	{dir: "files/artifact", what: "the contract of the artifact store: content-addressed, verified, swept", imports: "domain/refusal domain/event"},
	{dir: "files/artifact/filestore", what: "the artifact store as owner-only files", imports: "files/artifact"},
	{dir: "files/artifact/natsstore", what: "the artifact store in NATS JetStream, which front ends share", imports: "files/artifact", libs: "github.com/nats-io/nats.go github.com/nats-io/nuid"},
	{dir: "files/artifact/pgstore", what: "the artifact store in a PostgreSQL database, which front ends share", imports: "files/artifact", libs: "github.com/jackc/pgx/v5"},
	{dir: "files/artifact/artifacttest", what: "the test suite of every artifact store", imports: "domain/refusal files/artifact", libs: "testing"},
	{
		dir: "files/gitsnap", what: "the state of a git working tree as a document and a patch, taken and applied",
		imports: "domain/shellword domain/refusal files/artifact", libs: "os/exec",
	},
}

var deliveryPackages = []pkg{
	// delivery
	{
		dir: "delivery/notify", what: "tells people about tickets and alerts: the contract of notifications, and its sinks",
		imports: "domain/alert domain/refusal domain/secretenv domain/event domain/event/backoff record/ledger", libs: "net os/exec",
	},
	{
		dir: "delivery/notify/service", what: "sinks that are services of others, such as Slack and e-mail, by URL",
		imports: "delivery/notify domain/refusal", libs: "net github.com/nicholas-fedor/shoutrrr",
	},
	{
		dir: "delivery/courier", what: "follows the record: does what an entry makes necessary on other streams, runs timers, sends notifications",
		imports: "domain/refusal domain/event domain/agent domain/workspace record/ledger record/view usecase/followup delivery/notify",
	},

	{
		dir: "delivery/cosigner", what: "asks witnesses to cosign the checkpoints of the record",
		imports: "domain/refusal record/proof", libs: "net golang.org/x/mod",
	},
	{
		dir: "delivery/monitor", what: "follows the record and counts it: the figures of handoffs and of what waits",
		imports: "domain/agent domain/alert domain/event record/figure record/ledger record/view record/view/watch",
	},
	{
		dir: "delivery/alerting", what: "judges what the monitor measures, and notifies people of alerts",
		imports: "domain/alert domain/identity record/ledger record/view usecase/alerts usecase/caller delivery/monitor delivery/notify",
	},
	{dir: "delivery/tracer", what: "follows the record and sends its spans, from where it was before a restart", imports: "record/ledger record/span record/span/outage"},

	// api
	{
		dir: "api/shape", what: "scans JSON against a described type in one pass",
		imports: "domain/refusal domain/event", libs: "github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/oauth", what: "checks the tokens of an OAuth 2.1 issuer, tells clients where to get one, and signs people in",
		imports: "domain/refusal domain/event domain/identity",
		libs:    "net github.com/coreos/go-oidc github.com/go-jose/go-jose golang.org/x/oauth2",
	},
	{dir: "api/tracing", what: "how the APIs give the spans of their calls to a tracer", imports: "domain/event client", libs: "net"},
	{
		dir: "api/otelapi", what: "gives figures to Prometheus and to collectors of OpenTelemetry, and spans to those", imports: "domain/refusal record/figure record/span record/span/outage api/tracing",
		libs: "net go.opentelemetry.io/otel go.opentelemetry.io/proto google.golang.org/protobuf github.com/prometheus/client_golang",
	},
	{
		dir: "api/oauth/oauthtest", what: "an OAuth issuer for tests, which misbehaves on request",
		libs: "testing net github.com/go-jose/go-jose",
	},
	{
		dir: "api/httpapi", what: "the HTTP API under /v1: its routes and their OpenAPI description",
		imports: "domain/refusal domain/event domain/task domain/agent domain/alert domain/identity domain/memory domain/channel domain/workspace usecase/workspaces usecase/moves usecase/cluster usecase/alerts usecase/erasures " +
			"content/drift record/view files/artifact usecase/taskstore usecase/agents usecase/memories usecase/policies " +
			"usecase/tickets usecase/history usecase/tasks usecase/figures record/figure usecase usecase/caller usecase/tokens usecase/channels " +
			"usecase/conversations usecase/envelopes usecase/handoffs usecase/positions api/httpapi/endpoint api/httpapi/schema api/park api/tracing",
		libs: "net github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/httpapi/schema", what: "the OpenAPI description of the HTTP API: names, closed sets, fields that are in the path",
		imports: "domain/refusal domain/event domain/handoff/ticketverb domain/agent domain/alert domain/identity domain/memory domain/conversation domain/workspace record/figure record/view " +
			"usecase/alerts usecase/cluster usecase/memories usecase/policies usecase/positions usecase/tickets usecase/tasks usecase/phrases usecase/channels usecase/workspaces usecase/moves " +
			"usecase/conversations usecase/envelopes usecase/handoffs api/httpapi/endpoint",
		libs: "github.com/danielgtaylor/huma/v2",
	},
	{
		dir: "api/httpapi/endpoint", what: "how a use case is served over HTTP: route, body, answer, refusal",
		imports: "domain/event domain/fastjson domain/help domain/identity domain/refusal usecase/caller usecase/positions api/httpapi/hintroute api/shape api/tracing", libs: "net github.com/danielgtaylor/huma/v2",
	},
	{dir: "api/httpapi/hintroute", what: "the routes of the HTTP API for what helps after a refusal", imports: "domain/help"},
	{
		dir: "api/mcpapi", what: "the MCP server: the HTTP API as tools for agents",
		imports: "domain/visible domain/shellword api/mcpapi/argument api/mcpapi/show api/mcpapi/toolset api/mcpapi/transport api/mcpapi/resource api/mcpapi/taskext " +
			"api/mcpapi/epoch api/mcpapi/liveness api/mcpapi/refused api/mcpapi/tool api/mcpapi/fit api/mcpapi/extratool api/tracing client",
		libs: "net github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/argument", what: "arguments of tools: schemas from structs, structs from JSON, errors that a model can act on",
		imports: "domain/constrainttext domain/event content/expect api/shape client client/admin", libs: "github.com/google/jsonschema-go",
	},
	{dir: "api/mcpapi/show", what: "what a model reads of an agent, a decision, a memory item, a task or a ticket", imports: "domain/visible client"},
	{
		dir: "api/mcpapi/tool", what: "how a tool of the MCP server is defined, called and answered",
		imports: "domain/shellword domain/visible api/mcpapi/argument api/mcpapi/epoch api/mcpapi/liveness api/mcpapi/show api/mcpapi/toolset client",
		libs:    "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/extratool", what: "the MCP tools of the set all: what fewer agents and operators need",
		imports: "domain/shellword api/mcpapi/argument api/mcpapi/fit api/mcpapi/show api/mcpapi/tool client client/admin",
	},
	{
		dir: "api/mcpapi/fit", what: "answers of MCP tools within the context window of their reader",
		imports: "domain/visible content/tokenizer api/mcpapi/argument api/mcpapi/show api/mcpapi/tool api/mcpapi/toolset client",
		libs:    "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/refused", what: "what a model reads of a call that was refused: the hint in the names of its tools",
		imports: "domain/help api/mcpapi/argument api/mcpapi/show api/mcpapi/toolset client", libs: "github.com/modelcontextprotocol/go-sdk",
	},
	{dir: "api/mcpapi/toolset", what: "which tools an MCP client sees, and under which names", imports: "client"},
	{
		dir: "api/mcpapi/transport", what: "Streamable HTTP for MCP: sessions, bounds, refusals",
		imports: "domain/help api/inprocess api/park api/mcpapi/liveness api/mcpapi/taskext api/mcpapi/toolset client",
		libs:    "net github.com/modelcontextprotocol/go-sdk github.com/hashicorp/golang-lru/v2",
	},
	{
		dir: "api/multiplex", what: "many calls of the HTTP API on one connection",
		imports: "domain/refusal api/httpapi/endpoint client/multiplex", libs: "net",
	},
	{dir: "api/park", what: "calls in the process that say what they would wait for, and end"},
	{dir: "api/inprocess", what: "HTTP requests to a handler of the same process, without a network", libs: "net"},
	{
		dir: "api/webpage", what: "the page where people look and act: templates, sessions, forms",
		imports: "domain/visible api/inprocess api/webpage/chart api/webpage/form api/webpage/human api/webpage/refill api/webpage/sheet api/webpage/standing api/webpage/timeline client client/admin", libs: "net",
	},
	{dir: "api/webpage/standing", what: "what a task waits for, in sentences for people", imports: "api/webpage/human client"},
	{dir: "api/webpage/timeline", what: "what the page draws of a task: its trail, who held it, what reached each receiver", imports: "api/webpage/human client"},
	{dir: "api/webpage/chart", what: "draws the figures of the page as lines in time", imports: "client/admin"},
	{dir: "api/webpage/form", what: "what people write into the forms of the page, and which contradict themselves", imports: "client", libs: "net"},
	{dir: "api/webpage/refill", what: "the page of a form that was refused, with the error and what was typed", libs: "net golang.org/x/net"},
	{dir: "api/webpage/sheet", what: "compares what the receivers of two handoffs were given, entry by entry"},
	{dir: "api/webpage/human", what: "how the page writes times, numbers, values and names of tasks, and reads times", imports: "domain/refusal"},
	{dir: "api/webpage/browser", what: "tests of the page in a browser"},
	{
		dir: "api/mcpapi/outbound", what: "calls of the HTTP API by an MCP server in a process of its own: they name their tool",
		imports: "api/tracing", libs: "net",
	},
	{
		dir: "api/mcpapi/resource", what: "MCP resources, subscriptions, completion and prompts",
		imports: "domain/visible domain/shellword api/mcpapi/fit api/mcpapi/toolset client", libs: "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "api/mcpapi/taskext", what: "the Tasks extension of MCP: a handle for a result that comes later",
		libs: "net github.com/modelcontextprotocol/go-sdk",
	},
	{dir: "api/mcpapi/epoch", what: "the epochs of tasks that each MCP session of an agent was given", imports: "client", libs: "github.com/modelcontextprotocol/go-sdk"},
	{dir: "api/mcpapi/liveness", what: "heartbeats and leases of an agent that calls tools", imports: "api/park client"},
	{
		dir: "api/mcpapi/mcptest", what: "what the MCP conformance suite expects to find on a server",
		imports: "api/mcpapi/taskext", libs: "github.com/modelcontextprotocol/go-sdk github.com/google/uuid",
	},
	{dir: "api/httpapi/outside", what: "tests of the HTTP API by programs of others"},
	{dir: "api/mcpapi/outside", what: "tests of the MCP server by programs of others"},
}
