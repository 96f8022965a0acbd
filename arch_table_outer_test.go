package trapeze_test

// outerPackages are those that put the parts together, and what stands beside the groups.
var outerPackages = []pkg{
	// server
	{
		dir: "server", what: "configuration, wiring, start and stop order",
		imports: "domain/refusal domain/alert domain/identity domain/policy routing routing/openai record/frontend record/ledger/sqlitelog record/seal record/stream " +
			"record/ledger record/access record/proof record/proof/segment record/backup record/proof/treefile record/view record/view/sqlview files/artifact files/artifact/filestore usecase/caller usecase/presence usecase/artifacts usecase/policies " +
			"usecase delivery/notify delivery/notify/service delivery/courier delivery/cosigner delivery/monitor delivery/alerting delivery/tracer record/figure record/durable api/otelapi api/tracing api/oauth api/httpapi api/mcpapi api/multiplex api/webpage usecase/positions server/certificate server/sharedrecord server/cluster server/garbage server/putaway server/recordfile",
		libs: "net golang.org/x/time",
	},
	{
		dir: "server/sharedrecord", what: "opens a record that several servers share, in PostgreSQL or JetStream, and moves records there",
		imports: "domain/refusal record/frontend record/frontend/pgfront record/frontend/natsfront record/ledger/pglog record/ledger/natslog record/ledger/sqlitelog record/ledger record/replica record/view record/proof record/backup " +
			"files/artifact files/artifact/pgstore files/artifact/natsstore",
		libs: "github.com/nats-io/nats.go",
	},
	{
		dir: "server/cluster", what: "what a server knows of the others that share its record, and whether it takes new work itself",
		imports: "domain/refusal record/frontend record/ledger record/replica usecase/cluster",
	},
	{
		dir: "server/putaway", what: "moves old entries of a record into segments, while no server runs",
		imports: "domain/refusal record/durable record/ledger record/ledger/sqlitelog record/proof record/proof/segment record/proof/treefile record/stream usecase/erasures",
	},
	{
		dir: "server/recordfile", what: "the record of a data directory as a verifier opens it, also while a server runs there",
		imports: "domain/identity files/artifact files/artifact/filestore record/ledger/sqlitelog record/proof record/proof/segment record/seal record/view/sqlview record/view/sqlview/query server/putaway server/sharedrecord", libs: "database/sql",
	},
	{dir: "server/garbage", what: "how much memory the process of a server takes"},
	{dir: "server/certificate", what: "the certificate of the server, read again when its files change", imports: "domain/refusal"},

	{dir: "server/certificate/certtest", what: "CAs and certificates that tests make", libs: "net testing"},

	// scenario
	{dir: "scenario", what: "tests of the whole program, through every API"},
	{
		dir: "scenario/program", what: "the program and its server in processes of their own, for tests that use it as its users do",
		libs: "os/exec testing",
	},

	// client
	{dir: "client", what: "the public Go client", imports: "domain/fastjson client/wire", libs: "net"},
	{dir: "client/admin", what: "the calls of administrators: policies, figures, the clock of tests", imports: "client client/wire", libs: "net"},
	{dir: "client/multiplex", what: "calls of many agents on one connection", imports: "client/wire", libs: "net"},
	{dir: "client/wire", what: "requests of the client: one attempt, retries, files, streams of events", imports: "domain/fastjson", libs: "net"},

	// trapezetest
	{dir: "trapezetest", what: "tests of users' own chains of agents: a server in memory, scripted agents, assertions", imports: "server client"},

	// cmd
	{dir: "cmd/trapeze", what: "main: gives the server, and its node of a cluster, to the command line", imports: "cli server record/ledger/natslog/natsnode"},

	// deploy
	{dir: "deploy/image", what: "builds the container image of the program, without a registry", libs: "os/exec"},

	// the root
	{dir: ".", what: "no code: the architecture test, and the package comment"},
}
