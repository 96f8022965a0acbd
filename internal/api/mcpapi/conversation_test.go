package mcpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

var update = flag.Bool("update", false, "write what the server says now into the recorded conversations")

// A conversation is a file of testdata/conversations: what agents send to a server, and what each hears from it, with and without
// sessions. Its sections, in order, are
//
//	-- agents --               a line for each: its name, then its capabilities, the first of a person being human
//	-- client --               what the clients are capable of, as JSON; left out: {}
//	-- NAME --                 messages that an agent sends, as JSON-RPC
//	-- NAME in ERA --          the same in one version only
//	-- wait 45s --             time goes by
//	-- NAME hears --           what an agent was sent meanwhile; go test -update writes these
//	-- NAME hears in ERA --    the same, where the eras differ
//
// A second goes by before each step, and a step ends when the server has no more to do. What the protocol repeats in every
// exchange is left to the harness: the handshake of the older version, unless the first message is one, and in the newer one _meta of
// requests. What results have in the newer version only ([framed]) makes no difference. Ids and digests are numbered as they first
// appear: task_1, mem_1, sha256:1; and so they are sent. Salts, and counts of tokens, which depend on them, are not shown.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, script := parse(string(b))
			heard := map[string][]hearing{}
			synctest.Test(t, func(t *testing.T) { heard[sessionVersion] = play(t, sessionVersion, "", script) })
			if playedTwice || *update || ofOneVersion.Match(b) {
				synctest.Test(t, func(t *testing.T) { heard[statelessVersion] = play(t, statelessVersion, "", script) })
			} else {
				heard[statelessVersion] = recent(heard[sessionVersion])
			}
			if playedPrefixed && !*update {
				synctest.Test(t, func(t *testing.T) {
					prefixed(t, script, heard[statelessVersion], play(t, statelessVersion, prefix, script))
				})
			}
			got := format(comment, script, heard)
			switch {
			case got == string(b):
			case *update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("the server says something else; -update shows it as a diff\n%s", firstDifference(string(b), got))
			}
		})
	}
}

// prefix is one that no text contains otherwise.
const prefix = "tz0_"

// bare matches what texts of the server say of tools, without a prefix.
var bare = regexp.MustCompile(`(?i)(call|then|with the tool|Trapeze tool) (join|send|inbox|accept|reject|decide|complete|escalate|status|cancel|remember|recall|conversation|route)\b` +
	`|\b(join|send|inbox|accept|decide|status|cancel|recall) (with|tells|shows|lists|waits for items|with its)\b`)

// prefixed compares what agents heard with a prefix: it differs in the prefix alone, and every text that names a tool has it.
func prefixed(t *testing.T, script []section, without, with []hearing) {
	t.Helper()
	for i := range with {
		for n, x := range with[i] {
			if want, got := without[i][n].text, strings.ReplaceAll(x.text, prefix, ""); got != want {
				t.Errorf("with the prefix %s step %d differs in more than names of tools\n%s", prefix, i, firstDifference(want, got))
			}
			if found := bare.FindString(x.text); found != "" && !strings.Contains(script[i].text, found) {
				t.Errorf("step %d names a tool without its prefix: %q in\n%s", i, found, x.text)
			}
		}
	}
}

// hearing is what each agent heard after a step.
type hearing []section

// section is a part of a file in the txtar format.
type section struct{ name, text string }

var heading = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// parse reads a file, without what was heard.
func parse(text string) (comment string, script []section) {
	at := heading.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return text, nil
	}
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if name := text[m[2]:m[3]]; !strings.Contains(name, " hears") {
			script = append(script, section{name, text[m[1]:end]})
		}
	}
	return text[:at[0][0]], script
}

// format puts what was heard behind the step that brought it.
func format(comment string, script []section, heard map[string][]hearing) string {
	var b strings.Builder
	b.WriteString(comment)
	for i, s := range script {
		fmt.Fprintf(&b, "-- %s --\n%s", s.name, s.text)
		for n, old := range heard[sessionVersion][i] {
			write := func(heading, text string) {
				if text != "" {
					fmt.Fprintf(&b, "-- %s %s --\n%s", old.name, heading, text)
				}
			}
			recent := heard[statelessVersion][i][n]
			if framed(old.text) == recent.text {
				write("hears", old.text)
				continue
			}
			write("hears in "+sessionVersion, old.text)
			write("hears in "+statelessVersion, recent.text)
		}
	}
	return b.String()
}

// pretty is a message with its fields in order.
func pretty(message any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(message); err != nil {
		panic(err) // it was decoded
	}
	return b.String()
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			around := func(lines []string) string {
				return strings.Join(lines[min(max(0, i-5), len(lines)):min(i+12, len(lines))], "\n")
			}
			return fmt.Sprintf("line %d\n--- recorded\n%s\n--- now\n%s", i+1, around(w), around(g))
		}
	}
	return ""
}

// play returns what was heard after each section, with a protocol version.
func play(t *testing.T, version, prefix string, script []section) []hearing {
	h, n := open(t), &names{real: map[string]string{}, told: map[string]string{}}
	defer h.deliver()()
	ctx, cancel := context.WithCancel(t.Context())
	var speakers []*speaker
	capable := json.RawMessage(`{}`)
	heard := make([]hearing, len(script))
	for i, s := range script {
		who, only, _ := strings.Cut(s.name, " in ")
		time.Sleep(time.Second)
		switch {
		case only != "" && only != version:
		case who == "client":
			capable = json.RawMessage(s.text)
		case who == "agents":
			for line := range strings.Lines(s.text) {
				words := strings.Fields(line)
				speakers = append(speakers, &speaker{t: t, version: version, name: words[0], prefix: prefix, token: h.token(words[0], words[1:]...), server: inprocess.Transport(h.api)})
			}
		case strings.HasPrefix(who, "wait "):
			d, err := time.ParseDuration(strings.TrimPrefix(who, "wait "))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		default:
			sp := find(t, speakers, who)
			for _, message := range messages(t, n.unfold(t, s.text)) {
				sp.say(ctx, message, capable)
			}
		}
		synctest.Wait()
		for _, sp := range speakers {
			heard[i] = append(heard[i], section{sp.name, n.fold(sp.listen())})
		}
	}
	for _, sp := range speakers {
		sp.leave(ctx)
	}
	cancel()
	synctest.Wait()
	return heard
}

func find(t *testing.T, speakers []*speaker, name string) *speaker {
	for _, sp := range speakers {
		if sp.name == name {
			return sp
		}
	}
	t.Fatalf("nobody is called %q", name)
	return nil
}

func messages(t *testing.T, text string) []m {
	out := decoded(text)
	if len(out) == 0 {
		t.Fatalf("there are no messages in %s", text)
	}
	return out
}

// decoded are the messages of a text, up to the first thing that is none.
func decoded(text string) []m {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out []m
	for {
		var message m
		if d.Decode(&message) != nil {
			return out
		}
		out = append(out, message)
	}
}

// names replaces what is new in each run by what is the same in all.
type names struct {
	real, told map[string]string // by what is told, and by what is real
	count      map[string]int
}

var (
	realName = regexp.MustCompile(`(task_|mem_)[0-9a-z]{26}|(sha256:)[0-9a-f]{64}`)
	toldName = regexp.MustCompile(`(task_|mem_|sha256:)\d+\b`)
	anySalt  = regexp.MustCompile(`(\\?"salt\\?":\\?")[0-9a-f]{32}`)
	anyCount = regexp.MustCompile(`(\\?"tokens\\?":|The receiver reads )\d+`) // of a text with ids in it
	anyTotal = regexp.MustCompile(`("tokens": )\d+(,\s+"version")`)           // of what was sealed
)

func (n *names) fold(text string) string {
	text = anyTotal.ReplaceAllString(text, "${1}0${2}")
	text = anyCount.ReplaceAllString(anySalt.ReplaceAllString(text, "${1}salt"), "${1}0")
	return realName.ReplaceAllStringFunc(text, func(id string) string {
		if n.told[id] == "" {
			if n.count == nil {
				n.count = map[string]int{}
			}
			prefix := id[:strings.IndexAny(id, "_:")+1]
			n.count[prefix]++
			n.told[id] = fmt.Sprintf("%s%d", prefix, n.count[prefix])
			n.real[n.told[id]] = id
		}
		return n.told[id]
	})
}

func (n *names) unfold(t *testing.T, text string) string {
	return toldName.ReplaceAllStringFunc(text, func(id string) string {
		if n.real[id] == "" {
			t.Fatalf("nothing has been called %s yet", id)
		}
		return n.real[id]
	})
}

// speaker is an agent's client, down to the messages.
type speaker struct {
	t                    *testing.T
	version, name, token string
	prefix               string // of the names of tools
	server               http.RoundTripper
	session              string
	streams              []*stream // in the order in which they were opened
}

// stream is what comes as the answer to one request.
type stream struct {
	mu    sync.Mutex
	heard bytes.Buffer
}

func (s *stream) add(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parts := decoded(string(message)); len(parts) == 1 {
		s.heard.WriteString(pretty(parts[0]))
		return
	}
	s.heard.Write(append(bytes.TrimSpace(message), '\n'))
}

// listen is what has come since it was last asked.
func (sp *speaker) listen() string {
	var b strings.Builder
	for _, s := range sp.streams {
		s.mu.Lock()
		b.WriteString(s.heard.String())
		s.heard.Reset()
		s.mu.Unlock()
	}
	return b.String()
}

// say sends a message, after the handshake of the older version or with what the newer one wants in each request.
func (sp *speaker) say(ctx context.Context, message map[string]any, capable json.RawMessage) {
	sp.t.Helper()
	method, _ := message["method"].(string)
	client := m{"name": sp.name, "version": "1"}
	if sp.version == sessionVersion {
		if sp.session == "" && method != "initialize" {
			sp.send(ctx, m{"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": m{
				"protocolVersion": sessionVersion, "clientInfo": client, "capabilities": capable,
			}})
			synctest.Wait()
			sp.listen() // the handshake has a conversation of its own
			sp.send(ctx, m{"jsonrpc": "2.0", "method": "notifications/initialized"})
			sp.open(ctx)
		}
		sp.send(ctx, message)
		return
	}
	if method != "" {
		params, ok := message["params"].(m)
		if !ok {
			params = m{}
		}
		meta, ok := params["_meta"].(m)
		if !ok {
			meta = m{}
		}
		for key, value := range (m{"protocolVersion": statelessVersion, "clientInfo": client, "clientCapabilities": capable}) {
			if _, ok := meta["io.modelcontextprotocol/"+key]; !ok {
				meta["io.modelcontextprotocol/"+key] = value
			}
		}
		params["_meta"], message["params"] = meta, params
	}
	sp.send(ctx, message)
}

// send posts a message and takes note of what comes, for as long as something does.
func (sp *speaker) send(ctx context.Context, message m) {
	sp.t.Helper()
	params, _ := message["params"].(m)
	ref, _ := params["ref"].(m)
	for _, named := range []m{params, ref} {
		if name, ok := named["name"].(string); ok {
			named["name"] = sp.prefix + name
		}
	}
	b, err := json.Marshal(message)
	if err != nil {
		sp.t.Fatal(err)
	}
	r := sp.request(ctx, http.MethodPost, bytes.NewReader(b))
	method, _ := message["method"].(string)
	if sp.version == statelessVersion && method != "" {
		r.Header.Set("Mcp-Method", method)
		params := message["params"].(m)
		for _, field := range []string{"name", "uri", "taskId"} {
			if name, ok := params[field].(string); ok {
				r.Header.Set("Mcp-Name", name)
			}
		}
	}
	if method == "initialize" {
		r.Header.Del("Mcp-Protocol-Version")
	}
	sp.exchange(r)
}

// open is the stream of the older version on which comes what answers no request.
func (sp *speaker) open(ctx context.Context) {
	sp.exchange(sp.request(ctx, http.MethodGet, http.NoBody))
}

func (sp *speaker) request(ctx context.Context, method string, body io.Reader) *http.Request {
	address := "http://localhost/mcp"
	if sp.prefix != "" {
		address += "?prefix=" + sp.prefix
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		sp.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+sp.token)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", sp.version)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if sp.session != "" {
		r.Header.Set("Mcp-Session-Id", sp.session)
	}
	return r
}

func (sp *speaker) exchange(r *http.Request) {
	s := &stream{}
	sp.streams = append(sp.streams, s)
	begun, names := make(chan struct{}), r.Method == http.MethodPost && sp.session == "" && sp.version == sessionVersion
	go func() {
		res, err := sp.server.RoundTrip(r)
		if err != nil {
			close(begun)
			return // it was given up
		}
		defer func() { _ = res.Body.Close() }()
		if names {
			sp.session = res.Header.Get("Mcp-Session-Id")
		}
		close(begun)
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			lines := bufio.NewScanner(res.Body)
			lines.Buffer(nil, 8<<20)
			for lines.Scan() {
				if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && len(data) > 0 {
					s.add(data)
				}
			}
			return
		}
		body, _ := io.ReadAll(res.Body)                                                 // what there is of it counts
		if res.StatusCode >= http.StatusBadRequest && len(decoded(string(body))) == 0 { // no error of the protocol
			s.add(fmt.Appendf(nil, "HTTP %d", res.StatusCode))
		}
		if len(body) > 0 {
			s.add(body)
		}
	}()
	if names {
		<-begun // which names the session
		return
	}
	synctest.Wait() // so that what is sent next is later
}

// leave ends the session, where there is one.
func (sp *speaker) leave(ctx context.Context) {
	if sp.session == "" {
		return
	}
	res, err := sp.server.RoundTrip(sp.request(ctx, http.MethodDelete, http.NoBody))
	if err != nil {
		sp.t.Error(err)
		return
	}
	_ = res.Body.Close()
}
