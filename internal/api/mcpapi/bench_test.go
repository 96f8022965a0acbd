package mcpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

// BenchmarkToolCall compares how long one client waits for the same: a use case over HTTP, and as a tool of either version. What a
// tool costs is p50-µs beside that of http. Reads are compared, since the disk would hide what is asked for here.
func BenchmarkToolCall(b *testing.B) {
	h := open(b)
	s := httptest.NewServer(h.api)
	b.Cleanup(s.Close)
	token := h.token("coder")
	c, err := client.New(s.URL, token, client.Options{Retries: -1})
	if err != nil {
		b.Fatal(err)
	}
	for range 20 {
		if _, err := c.CreateTask(b.Context(), client.CreateInput{Intent: "Write the parser", Start: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("http", func(b *testing.B) {
		each(b, func() error { _, err := c.SearchMemory(b.Context(), client.MemoryFilter{Limit: 10}); return err })
	})
	for _, version := range []string{statelessVersion, sessionVersion} {
		b.Run("mcp "+version, func(b *testing.B) {
			a := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
			session, err := a.Connect(b.Context(), &mcp.StreamableClientTransport{
				Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token, &http.Transport{}}},
			}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			each(b, func() error {
				_, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "recall", Arguments: m{}})
				return err
			})
		})
	}
}

// each makes a call b.N times and reports the median and the 99th percentile.
func each(b *testing.B, call func() error) {
	b.Helper()
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkWaiting holds a thousand agents that wait in their inboxes, each with a connection of its own, and reports what one
// costs the server in memory: heap and stacks, sockets of the kernel not counted.
func BenchmarkWaiting(b *testing.B) {
	const agents = 1000
	for _, version := range []string{statelessVersion, sessionVersion, overHTTP} {
		b.Run(version, func(b *testing.B) {
			for b.Loop() {
				h := open(b)
				s := httptest.NewServer(h.api)
				tokens := make([]string, agents)
				for i := range tokens {
					tokens[i] = h.token(fmt.Sprintf("agent-%d", i))
				}
				before := inUse()
				var conns []net.Conn
				for _, t := range tokens {
					conn, err := net.Dial("tcp", s.Listener.Addr().String())
					if err != nil {
						b.Fatal(err)
					}
					conns = append(conns, conn)
					if err := waitInInbox(conn, version, t); err != nil {
						b.Fatal(err)
					}
				}
				for h.waiting.Load() < agents {
					runtime.Gosched()
				}
				b.ReportMetric(float64(inUse()-before)/agents/1024, "KiB/agent")
				for _, conn := range conns {
					_ = conn.Close() // the server's end is closed next
				}
				s.CloseClientConnections()
				s.Close()
			}
		})
	}
}

// overHTTP stands for the HTTP API among the versions of MCP.
const overHTTP = "http"

// waitInInbox makes a connection wait, with as little as possible on the client's side.
func waitInInbox(conn net.Conn, version, token string) error {
	if version == overHTTP {
		_, err := fmt.Fprintf(conn, "GET /v1/inbox?wait=50s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
		return err
	}
	headers := "Host: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	post := func(more, body string) error {
		_, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n%s", headers, more, len(body), body)
		return err
	}
	call := func(meta, arguments string) string {
		return `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "inbox", "arguments": {` + arguments + `}` + meta + `}}`
	}
	meta, more := "", "Mcp-Protocol-Version: "+version+"\r\n"
	if version == statelessVersion {
		more += "Mcp-Method: tools/call\r\nMcp-Name: inbox\r\n"
		meta = `, "_meta": {"io.modelcontextprotocol/protocolVersion": "` + version + `", "io.modelcontextprotocol/clientCapabilities": {}}`
		if err := post(more, call(meta, "")); err != nil { // an agent that waits has called before
			return err
		}
		if _, err := sessionOf(conn); err != nil {
			return err
		}
	} else {
		for _, body := range []string{
			`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "` + version + `", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}}`,
			`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		} {
			if err := post(more, body); err != nil {
				return err
			}
			id, err := sessionOf(conn)
			if err != nil {
				return err
			}
			if id != "" && !strings.Contains(more, id) {
				more += "Mcp-Session-Id: " + id + "\r\n"
			}
		}
	}
	return post(more, call(meta, `"wait": 50`))
}

// sessionOf reads an answer and gives the session that it names.
func sessionOf(conn net.Conn) (string, error) {
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.Header.Get("Mcp-Session-Id"), err
}

func inUse() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
