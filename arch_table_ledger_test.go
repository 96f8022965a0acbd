package trapeze_test

// ledgerPackages are the ledger and its technologies: the part of the table of arch_table_test.go on them.
var ledgerPackages = []pkg{
	{dir: "record/ledger", what: "the contract of the ledger: entries, positions, append, follow, codec"},
	{dir: "record/ledger/frame", what: "the form in which a ledger stores an entry: compressed, with a checksum", imports: "record/ledger"},
	{dir: "record/ledger/pace", what: "how long rounds of work for many callers wait for more"},
	{dir: "record/ledger/tail", what: "the newest entries of a ledger in memory, for followers that keep up", imports: "record/ledger"},
	{dir: "record/ledger/sqlitelog", what: "the embedded ledger: one SQLite file", imports: "record/durable record/ledger record/ledger/frame record/ledger/sqlitelog/filelock record/ledger/sqlitelog/headcache record/ledger/sqlitelog/indexsum record/ledger/sqlitelog/reserve record/ledger/sqlitelog/sqlconn record/ledger/sqlitelog/walbuffer record/ledger/tail", libs: "database/sql modernc.org/sqlite"},
	{dir: "record/ledger/sqlitelog/sqlconn", what: "one connection to SQLite with its prepared statements", imports: "record/ledger", libs: "database/sql/driver modernc.org/sqlite"},
	{dir: "record/ledger/sqlitelog/filelock", what: "the lock by which one process at a time has a database"},
	{dir: "record/ledger/sqlitelog/headcache", what: "the heads of the streams that were used last, in memory", imports: "record/ledger"},
	{dir: "record/ledger/sqlitelog/indexsum", what: "the sum over the index of streams that each entry is stored with", imports: "record/ledger"},
	{dir: "record/ledger/sqlitelog/reserve", what: "a file that keeps space on a full disk"},
	{dir: "record/ledger/sqlitelog/walbuffer", what: "the frames of a commit of SQLite, written by one call", libs: "modernc.org/libc modernc.org/sqlite unsafe"},
	{
		dir: "record/ledger/pglog", what: "the ledger in a PostgreSQL database, which any number of front ends share",
		imports: "record/ledger record/ledger/frame record/ledger/pace record/ledger/tail", libs: "net github.com/jackc/pgx/v5 golang.org/x/sys",
	},
	{
		dir: "record/ledger/natslog", what: "the ledger in a stream of NATS JetStream, which any number of front ends share",
		imports: "record/ledger record/ledger/frame record/ledger/pace record/ledger/tail record/replica", libs: "net net/http net/url github.com/nats-io/nats.go github.com/nats-io/nuid",
	},
	{
		dir: "record/ledger/natslog/natsnode", what: "a NATS server inside the process, one node of a cluster that keeps a record",
		imports: "record/ledger/natslog record/ledger/sqlitelog/reserve record/replica", libs: "crypto/tls crypto/x509 net net/url github.com/minio/highwayhash github.com/nats-io/nats.go github.com/nats-io/nats-server/v2 unsafe",
	},
	{
		dir: "record/ledger/natslog/natstest", what: "clusters of NATS servers of a test's own, inside its process",
		imports: "record/ledger/ledgertest/freeaddr record/ledger/ledgertest/link record/ledger/natslog record/ledger/natslog/natsnode", libs: "testing github.com/nats-io/nats.go",
	},
	{
		dir: "record/ledger/pglog/pgtest", what: "PostgreSQL servers of a test's own, started in a directory of its own",
		imports: "record/ledger/ledgertest/freeaddr", libs: "testing net os/exec",
	},
	{
		dir: "record/ledger/ledgertest", what: "the test suite of every ledger, and a double that behaves like a distributed log",
		imports: "record/ledger", libs: "testing",
	},
	{dir: "record/ledger/ledgertest/link", what: "a network between programs of one machine that tests can break", libs: "testing net"},
	{
		dir: "record/ledger/ledgertest/netns", what: "network namespaces for programs of tests, whose packets are held, delayed and lost",
		imports: "record/ledger/ledgertest/link", libs: "testing net os/exec golang.org/x/sys/unix",
	},
	{dir: "record/ledger/ledgertest/memdir", what: "the temporary files of a test program in memory", libs: "testing syscall"},
	{dir: "record/ledger/ledgertest/freeaddr", what: "addresses that tests listen at later, and again after a restart", libs: "testing net"},
}
