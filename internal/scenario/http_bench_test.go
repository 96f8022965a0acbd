package scenario

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/garbage"
)

// BenchmarkLifecycleHTTP is BenchmarkLifecycle over loopback, with a connection for each client. The load generator is
// lean, but it shares the two cores with the server.
func BenchmarkLifecycleHTTP(b *testing.B) {
	garbage.Tune()
	for _, clients := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s, err := server.Open(context.Background(), server.Config{DataDir: b.TempDir(), Addr: "127.0.0.1:0"})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := s.Close(context.Background()); err != nil {
					b.Error(err)
				}
			}()
			tokens, agents := httpAgents(b, s.URL(), s.AdminTokenFile())
			pool := make(chan *bare, clients)
			for range clients {
				pool <- dialBare(b, s.URL())
			}
			stop := pollInboxes(b, benchReaders, func(ctx context.Context, n int) error {
				_, err := agents[n%len(agents)].Inbox(ctx, api.InboxOptions{})
				return err
			})
			defer stop()
			measure(b, clients, func(n int, took func(time.Duration)) error {
				c := <-pool
				defer func() { pool <- c }()
				return lifecycleHTTP(c, tokens, n, took)
			})
		})
	}
}

// httpAgents registers the shared agents and returns their tokens, and clients that read their inboxes.
func httpAgents(b *testing.B, url, tokenFile string) (tokens []string, agents []*api.Client) {
	b.Helper()
	ctx := context.Background()
	text, err := os.ReadFile(tokenFile)
	if err != nil {
		b.Fatal(err)
	}
	connect := func(token string) *api.Client {
		c, err := api.New(url, token, api.Options{Retries: -1})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(c.Close)
		return c
	}
	admin := connect(string(text))
	for i := range benchAgents {
		if _, err := admin.RegisterAgent(ctx, agentName(i), api.AgentSpec{}); err != nil {
			b.Fatal(err)
		}
		t, err := admin.CreateToken(ctx, api.TokenInput{Role: "agent", Name: agentName(i)})
		if err != nil {
			b.Fatal(err)
		}
		tokens, agents = append(tokens, t.Text), append(agents, connect(t.Text))
	}
	return tokens, agents
}

func lifecycleHTTP(c *bare, tokens []string, n int, took func(time.Duration)) error {
	from, to := tokens[n%benchAgents], tokens[(n+1)%benchAgents]
	call := func(token, path, body string) ([]byte, error) {
		began := time.Now()
		answer, err := c.post(token, path, body)
		took(time.Since(began))
		return answer, err
	}
	sent, err := call(from, "/v1/tasks", `{"intent":"measure a handoff","content":{"data":`+string(kib)+
		`},"send":{"to":["`+agentName(n+1)+`"],"reason":"specialization"}}`)
	if err != nil {
		return err
	}
	task, handoff := field(sent, `"task":"`), field(sent, `"handoff":"`)
	got, err := call(to, "/v1/handoffs/"+handoff+"/accept", `{}`)
	if err != nil {
		return err
	}
	if !bytes.Contains(got, kib[10:100]) {
		return fmt.Errorf("accepted without the content: %s", got)
	}
	done, err := call(to, "/v1/tasks/"+task+"/complete", `{"epoch":1,"result":{"text":"done"}}`)
	if err == nil && field(done, `"state":"`) != "completed" {
		err = fmt.Errorf("not completed: %s", done)
	}
	return err
}

// field is the text after a prefix, up to the next quote.
func field(answer []byte, prefix string) string {
	_, rest, _ := bytes.Cut(answer, []byte(prefix))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}

// bare is a connection with just enough HTTP to make load cheaply.
type bare struct {
	conn net.Conn
	r    *bufio.Reader
	host string
	more string // header lines of the next calls
	out  []byte
	in   []byte
}

func dialBare(b *testing.B, url string) *bare {
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &bare{conn: conn, r: bufio.NewReaderSize(conn, 8<<10), host: host}
}

// post makes a call that must succeed. The answer is valid until the next call.
func (c *bare) post(token, path, body string) ([]byte, error) {
	answer, ok, err := c.call("POST", token, path, body)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %s", path, answer)
	}
	return answer, err
}

// call makes a call, under a new idempotency key, and reports whether it succeeded. The answer is valid until the next call.
func (c *bare) call(method, token, path, body string) (answer []byte, ok bool, err error) {
	key, err := uuid.NewV7()
	if err != nil {
		return nil, false, err
	}
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"+
		"Content-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", method, path, c.host, token, key, c.more, len(body), body)
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, false, err
	}
	status, err := c.line()
	if err != nil {
		return nil, false, err
	}
	ok = bytes.HasPrefix(status, []byte("HTTP/1.1 20"))
	length := -1
	for {
		line, err := c.line()
		if err != nil {
			return nil, false, err
		}
		if len(line) == 0 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return nil, false, err
			}
		}
	}
	c.in, err = c.body(length)
	return c.in, ok, err
}

func (c *bare) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// body reads an answer of a known length, or of chunks.
func (c *bare) body(length int) ([]byte, error) {
	if length >= 0 {
		if cap(c.in) < length {
			c.in = make([]byte, 0, 2*length)
		}
		in := c.in[:length]
		_, err := io.ReadFull(c.r, in)
		return in, err
	}
	in := c.in[:0]
	for {
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil {
			return nil, err
		}
		chunk := make([]byte, n)
		if _, err := io.ReadFull(c.r, chunk); err != nil {
			return nil, err
		}
		in = append(in, chunk...)
		if _, err := c.line(); err != nil || n == 0 {
			return in, err
		}
	}
}
