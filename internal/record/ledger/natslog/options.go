package natslog

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Options of a log. The zero value is useful.
type Options struct {
	// Name is the name of the JetStream stream, made of A-Z 0-9 _; empty means "TRAPEZE". Subjects begin with it in lower case.
	Name string
	// Replicas is the number of replicas of a stream that is created; 0 means 3.
	Replicas int
	// Poll is the interval in which the end of the record is looked up, in case a message about it was lost; 0 means a second.
	Poll time.Duration
	// Committed is called after each append with the number of entries, which is 1, and the time that it took. It must be quick. May be nil.
	Committed func(entries int, took time.Duration)
	// Acknowledged is the position up to which entries are known to have been appended.
	Acknowledged ledger.Position
	// Starting is how long a cluster that starts is waited for; 0 means 30 seconds.
	Starting time.Duration
	// Waiting is told of each try that failed meanwhile. May be nil.
	Waiting func(error)
	// Log is told of each leader that is asked to step down; nil means slog.Default().
	Log *slog.Logger
	// Filling says that the log is opened to be filled by [Log.Copy]. Meanwhile those who open the record wait, also before its stream is created.
	Filling bool
	// Synced says that all servers are known to sync each write, as those of package natsnode do. Otherwise Monitors are the addresses of the
	// monitoring of all servers, such as http://HOST:8222, which are asked.
	Synced   bool
	Monitors []string
	// Unsafe accepts a stream with fewer than three replicas, and servers that do not sync: for tests.
	Unsafe bool
	// Prepare is called with each entry before the followers get it, such as [ledger.Codec.Prepare]: what it decodes they need not decode each. May be nil.
	Prepare func(*ledger.Entry)

	deaf  bool          // it does not listen to what others say that they appended
	stuck time.Duration // when a leader is asked to step down; 0 means stuckAfter
}

const (
	minReplicas = 3
	maxName     = 32
	followBatch = 256 // the greatest number of entries given to a follower at once
	listenBatch = 256
	readBatch   = 1024    // messages asked for at once
	readBytes   = 8 << 20 // after so many of them a reply ends

	requestTimeout = 2 * time.Second        // for one answer of a server
	writeTimeout   = 5 * time.Second        // for what is sent to leave the program
	patience       = 10 * time.Second       // for an append or a read that is tried again
	retryAfter     = 100 * time.Millisecond // before the next try
	openTimeout    = 30 * time.Second       // for a cluster that starts
	headers        = 4 << 10                // room for the header of a message
)

// MaxPayload is the size, in bytes, that the servers must allow for a message: max_payload in their configuration.
const MaxPayload = ledger.MaxEntrySize + 64<<10

// DefaultName is the name of the stream of a record, if none is given.
const DefaultName = "TRAPEZE"

// ReplicasOf returns a number of replicas, which is 3 if it is not given.
func ReplicasOf(n int) int {
	if n <= 0 {
		return minReplicas
	}
	return n
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = DefaultName
	}
	o.Replicas = ReplicasOf(o.Replicas)
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Committed == nil {
		o.Committed = func(int, time.Duration) {}
	}
	if o.Prepare == nil {
		o.Prepare = func(*ledger.Entry) {}
	}
	return o
}

func (o Options) check() error {
	ok := len(o.Name) <= maxName && o.Name[0] >= 'A' && o.Name[0] <= 'Z'
	for i := 0; ok && i < len(o.Name); i++ {
		c := o.Name[i]
		ok = c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	}
	if !ok {
		return fmt.Errorf("natslog: stream %.80q: want at most %d of A-Z 0-9 _ after a letter", o.Name, maxName)
	}
	return nil
}
