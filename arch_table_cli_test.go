package trapeze_test

// cliPackages are the commands: the part of the table of arch_table_test.go on the group cli.
var cliPackages = []pkg{
	{
		dir: "cli", what: "the command line: its groups of commands, and the commands that start processes: serve, stop, work, mcp, demo",
		imports: "domain/shellword cli/shell cli/usage cli/alert cli/erasure cli/task cli/handoff cli/agent cli/policy cli/ticket cli/memory cli/envelope cli/audit cli/workspace cli/cluster cli/verify cli/witness cli/backup cli/bench cli/completion cli/daemon cli/login cli/setup cli/stdio cli/web " +
			"cli/work cli/demo cli/demo/report cli/place api/mcpapi/toolset api/otelapi api/tracing client",
		libs: "github.com/spf13",
	},
	{
		dir: "cli/shell", what: "what every command needs: server, credential, arguments, output",
		imports: "client/wire domain/visible domain/shellword domain/help domain/refusal domain/event cli/advice cli/daemon cli/last cli/screen cli/session cli/suggest cli/trust cli/usage client", libs: "net github.com/spf13",
	},
	{dir: "cli/newfile", what: "files that commands are asked to write: whole or not at all, and never in the place of another", imports: "record/durable cli/shell"},
	{dir: "cli/trust", what: "how a client knows a server by files: its CAs, and the certificate of the client"},
	{dir: "cli/advice", what: "makes hints ready to paste: commands that act as the one that failed", imports: "domain/help domain/shellword client"},
	{dir: "cli/screen", what: "makes what a command writes to a terminal safe to show", imports: "domain/visible", libs: "golang.org/x/term"},
	{dir: "cli/last", what: "which task each caller created or handed off last, and under which epochs it was given tasks, in files of the data directory", imports: "domain/event"},
	{dir: "cli/usage", what: "what is wrong with the flags and arguments of a command, in plain words, and its flags in groups", imports: "cli/suggest", libs: "github.com/spf13"},
	{dir: "cli/suggest", what: "what somebody meant who mistyped a name, or called a command as another program does", libs: "github.com/spf13"},
	{
		dir: "cli/session", what: "a person's session at the issuer of a server: the device flow, the file, its renewal",
		libs: "net golang.org/x/oauth2",
	},
	{
		dir: "cli/completion", what: "what completes the arguments and flags of each command at a shell: a table, and the calls that read the values",
		imports: "cli/shell cli/usage client client/admin", libs: "github.com/spf13",
	},
	{dir: "cli/login", what: "the commands login and logout", imports: "cli/session cli/shell client", libs: "github.com/spf13"},
	{dir: "cli/task", what: "commands of tasks and dead letters", imports: "domain/refusal domain/shellword cli/shell cli/usage cli/handoff client", libs: "github.com/spf13"},
	{
		dir: "cli/handoff", what: "commands of handoffs: send, inbox, accept, reject, confirm, share, takeover, escalate",
		imports: "domain/shellword domain/refusal domain/event domain/constrainttext files/artifact files/gitsnap cli/shell cli/usage cli/policy client", libs: "github.com/spf13",
	},
	{dir: "cli/agent", what: "commands of agents, tokens and channels", imports: "domain/shellword domain/event cli/shell client", libs: "github.com/spf13"},
	{
		dir: "cli/policy", what: "commands of policies, routes and phrases",
		imports: "domain/refusal domain/policy cli/shell client client/admin", libs: "github.com/spf13",
	},
	{
		dir: "cli/ticket", what: "commands of people in the loop: ask, ticket, approve, deny",
		imports: "domain/shellword domain/refusal domain/event cli/shell client", libs: "github.com/spf13",
	},
	{
		dir: "cli/verify", what: "the command that verifies receipts and data directories, without a server",
		imports: "domain/refusal record/proof record/proof/segment record/proof/taskorder cli/shell", libs: "github.com/spf13",
	},
	{dir: "cli/backup", what: "the commands backup, restore and put-away, without a server", imports: "domain/shellword cli/newfile cli/place cli/shell", libs: "github.com/spf13"},
	{dir: "cli/place", what: "the flags that say where a record is that several servers share", imports: "cli/shell", libs: "github.com/spf13"},
	{dir: "cli/memory", what: "commands of memory and conversations", imports: "domain/shellword cli/shell client", libs: "github.com/spf13"},
	{
		dir: "cli/envelope", what: "commands of envelopes, artifacts and drift",
		imports: "content/envelope content/drift cli/shell client", libs: "github.com/spf13",
	},
	{dir: "cli/alert", what: "commands of alerts: list, show, silence", imports: "domain/shellword cli/shell client client/admin", libs: "github.com/spf13"},
	{
		dir: "cli/witness", what: "the command that runs a witness of logs of others, and what a witness is",
		imports: "record/durable record/proof cli/shell", libs: "net github.com/spf13 golang.org/x/mod",
	},
	{dir: "cli/erasure", what: "commands of erasures and legal holds: erase, hold", imports: "cli/shell client client/admin", libs: "github.com/spf13"},
	{dir: "cli/cluster", what: "commands of the servers that share a record", imports: "cli/shell client client/admin", libs: "github.com/spf13"},
	{dir: "cli/workspace", what: "commands of workspaces", imports: "domain/shellword cli/newfile cli/shell client client/admin", libs: "github.com/spf13"},
	{dir: "cli/audit", what: "commands that read the record: audit, events and stats", imports: "cli/newfile cli/shell client client/admin", libs: "github.com/spf13"},
	{
		dir: "cli/bench", what: "makes load on a user's server and measures each stage of a handoff",
		imports: "cli/shell client client/admin", libs: "net github.com/spf13 github.com/modelcontextprotocol/go-sdk",
	},
	{dir: "cli/web", what: "opens the page of the server in a browser", imports: "cli/shell client", libs: "net os/exec github.com/spf13"},
	{
		dir: "cli/daemon", what: "starts a server in the background, finds it, and ends it",
		imports: "domain/shellword domain/refusal", libs: "net os/exec",
	},
	{
		dir: "cli/setup", what: "writes the configuration of agents' programs, and checks it",
		imports: "domain/shellword domain/refusal domain/event domain/identity cli/shell cli/daemon cli/configfile client client/admin",
		libs:    "net os/exec github.com/spf13",
	},
	{
		dir: "cli/configfile", what: "edits one place of a configuration file and keeps the rest: JSON, TOML, Markdown",
		pure: true,
	},
	{
		dir: "cli/stdio", what: "an agent's MCP session on standard input and output",
		imports: "api/mcpapi api/mcpapi/liveness api/mcpapi/outbound api/mcpapi/toolset api/tracing cli/shell client client/wire",
		libs:    "github.com/modelcontextprotocol/go-sdk",
	},
	{
		dir: "cli/work", what: "makes any program a receiver of handoffs",
		imports: "cli/daemon domain/refusal domain/shellword cli/shell client client/wire", libs: "os/exec",
	},
	{
		dir: "cli/demo", what: "the demo: its story, its mishaps and its programs",
		imports: "domain/shellword domain/event cli/demo/report client", libs: "os/exec",
	},
	{dir: "cli/outside", what: "tests with coding agents and frameworks of others, whose models are scripts"},
	{dir: "cli/demo/report", what: "what the demo's programs do: a report on a Go module's source"},
}
