package bench

import (
	"crypto/tls"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// The kinds of load.
const (
	kindWarm       = "warm"       // a task goes from one agent to another, which completes it
	kindDelegation = "delegation" // the sender waits for the result of a part, and completes the whole
	kindClaim      = "claim"      // three agents are asked at once, and one gets it
)

// The protocols.
const (
	overHTTP = "http"
	overMCP  = "mcp"
)

const (
	maxAgents   = 100 // that the clients share
	minAgents   = 4
	claimants   = 3
	maxClients  = 10_000
	maxEnvelope = 50_000
)

// Options of a run.
type Options struct {
	Clients  []int  // how many at once, one round each
	Kind     string // of load
	Envelope int    // about how many tokens of facts each handoff carries; 0: 1 KiB of data
	For      time.Duration
	Over     string // the protocol
	Direct   bool   // receivers accept by id, without waiting for their inboxes
	Yes      bool   // also if the server has open tasks
	Clean    bool   // measure nothing
	TLS      *tls.Config

	markDir string // of the marks of runs; "": that of temporary files
}

// check refuses options that make no sense.
func (o Options) check() error {
	if len(o.Clients) == 0 {
		return shell.Usagef("--clients needs at least one number")
	}
	for _, n := range o.Clients {
		if n < 1 || n > maxClients {
			return shell.Usagef("--clients %d: use 1 to %d", n, maxClients)
		}
	}
	switch {
	case o.For <= 0:
		return shell.Usagef("--for must be positive")
	case o.Envelope < 0 || o.Envelope > maxEnvelope:
		return shell.Usagef("--envelope %d: use 0 to %d tokens", o.Envelope, maxEnvelope)
	case o.Direct && o.Kind != kindWarm:
		return shell.Usagef("--direct is for --kind %s: otherwise only the inbox tells what was offered", kindWarm)
	}
	return nil
}

// agents is how many agents the clients share.
func (o Options) agents() int {
	most := 0
	for _, n := range o.Clients {
		most = max(most, n)
	}
	return min(max(most+1, minAgents), maxAgents)
}

// words that most tokenizers have in their vocabularies, so that a word is about one token.
var words = []string{
	"order", "login", "cookie", "server", "time", "customer", "price", "table", "error", "file", "user", "page", "report", "week",
	"number", "state", "line", "list", "name", "change", "test", "call", "record", "small", "late", "first", "last", "new",
}

// content is what a handoff carries: a tenth of the facts is the handoff's own, and the others are shared with others.
func (o Options) content(n int) client.Content {
	if o.Envelope == 0 {
		return client.Content{Data: kib}
	}
	const each = 100 // words of a fact
	var c client.Content
	for i := range (o.Envelope + each - 1) / each {
		seed := i
		if i%10 == 0 {
			seed = n*31 + i
		}
		text := make([]byte, 0, 8*each)
		for w := range min(each, o.Envelope-i*each) {
			text = append(append(text, words[(seed*7+w*w+w*seed)%len(words)]...), ' ')
		}
		c.Facts = append(c.Facts, client.Point{ID: "f" + strconv.Itoa(i+1), Text: string(text[:len(text)-1])})
	}
	return c
}

// kib is 1 KiB of JSON.
var kib = func() []byte {
	b := make([]byte, 1024)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz "[i*i%27]
	}
	b[0], b[len(b)-1] = '"', '"'
	return b
}()
