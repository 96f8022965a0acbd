package taskext_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/mcptest"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
)

// speak sends a message on a connection and looks for words in the answer.
func speak(t *testing.T, conn mcp.Connection) func(message, want string) {
	return func(message, want string) {
		t.Helper()
		m, err := jsonrpc.DecodeMessage([]byte(message))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		back, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if data, err := jsonrpc.EncodeMessage(back); err != nil || !strings.Contains(string(data), want) {
			t.Fatalf("%s\nwas answered with %s", message, data)
		}
	}
}

func TestAStreamTellsHowItsTasksGoOn(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		slow, asking := h.begin("slow_compute", `{"seconds":2,"label":"x"}`), h.begin("confirm_delete", `{}`)
		synctest.Wait()
		go func() {
			time.Sleep(40 * time.Second) // long enough for the stream to show that it lives
			h.update(asking, `{"confirm":{"action":"accept"}}`)
		}()
		a := h.send(request("subscriptions/listen", "", fmt.Sprintf(`{"notifications":{"toolsListChanged":true,"taskIds":[%q,%q,"nobody",%q]}`, slow, asking, slow), able))
		var got []string
		for _, f := range a.frames {
			if f.Result != nil {
				got = append(got, fmt.Sprint("result ", f.Result["resultType"], " ", f.Result["_meta"]))
				continue
			}
			line := fmt.Sprint(f.Method, " ", f.Params["_meta"])
			if id, ok := f.Params["taskId"].(string); ok {
				name := map[string]string{slow: "slow", asking: "asking"}[id]
				line = fmt.Sprint(name, " ", f.Params["status"], " result:", f.Params["result"] != nil, " asks:", f.Params["inputRequests"] != nil, " ", f.Params["_meta"])
			} else {
				line += fmt.Sprint(f.Params["notifications"] != nil, " ", strings.Count(a.body, "nobody"))
			}
			got = append(got, line)
		}
		const mark = " map[io.modelcontextprotocol/subscriptionId:7]"
		// Which of the two is told of first at the start does not matter.
		if len(got) > 2 && strings.HasPrefix(got[1], "asking") {
			got[1], got[2] = got[2], got[1]
		}
		want := []string{
			"notifications/subscriptions/acknowledged" + mark + "true 0",
			"slow working result:false asks:false" + mark,
			"asking input_required result:false asks:true" + mark,
			"slow completed result:true asks:false" + mark,
			"asking working result:false asks:false" + mark,
			"asking completed result:true asks:false" + mark,
			"result complete" + mark,
		}
		if len(got) == len(want)-1 { // a state that lasted for no time may be passed over
			want = append(want[:4], want[5:]...)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !strings.Contains(a.body, ": \n\n") {
			t.Error("nothing showed that the stream lives")
		}
	})
}

func TestAStreamEndsWithItsClient(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		id := h.begin("slow_compute", `{"seconds":3600,"label":"x"}`)
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, leave)
		a := h.send(request("subscriptions/listen", "", `{"notifications":{"taskIds":["`+id+`"]}`, able).WithContext(ctx))
		if n := len(a.frames); n != 2 {
			t.Fatalf("%d messages: %s", n, a.body)
		}
	})
}

func TestStreamsOverHTTPAreAboutSoManyTasksTogetherUntilTheyEnd(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		var ids []string
		for range 100 {
			ids = append(ids, h.begin("slow_compute", `{"seconds":3600,"label":"x"}`))
		}
		named, err := json.Marshal(ids)
		if err != nil {
			t.Fatal(err)
		}
		stream := func(ctx context.Context) answer {
			return h.send(request("subscriptions/listen", "", `{"notifications":{"taskIds":`+string(named)+`}`, able).WithContext(ctx))
		}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		for range 2 {
			go stream(ctx)
		}
		synctest.Wait()
		if a := stream(t.Context()); a.status != http.StatusBadRequest || a.frames[0].Error.Code != -32600 {
			t.Fatalf("status %d: %.300s", a.status, a.body)
		}
		leave()
		synctest.Wait()
		for range 3 { // each after the one before
			ctx, leave := context.WithTimeout(t.Context(), time.Second)
			a := stream(ctx)
			leave()
			if len(a.frames) != 101 {
				t.Fatalf("%d messages: %.300s", len(a.frames), a.body)
			}
		}
	})
}

func TestAStreamThatIsNotServedHere(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		for params, code := range map[string]int{
			`{"notifications":{"taskIds":[` + strings.Repeat(`"x",`, 100) + `"x"]}`: -32602,
			`{"notifications":{"taskIds":"all"}`:                                    -32602,
			`{"notifications":{}`:                                                   0,
		} {
			a := h.send(request("subscriptions/listen", "", params, able))
			if code == 0 && strings.Contains(a.body, "acknowledged") {
				continue
			}
			if len(a.frames) == 0 || a.frames[0].Error == nil || a.frames[0].Error.Code != code {
				t.Errorf("%.60s: status %d: %.300s", params, a.status, a.body)
			}
		}
	})
}

func TestTheHandlerReadsNoMoreThanItMust(t *testing.T) {
	run(t, func(t *testing.T, h *harness) {
		r := request("tasks/get", "x", `{"taskId":"x","padding":"`+strings.Repeat("x", 2<<20)+`"`, able)
		if a := h.send(r); a.status != http.StatusRequestEntityTooLarge {
			t.Fatalf("status %d", a.status)
		}
	})
}

// What is no request about tasks goes on as it came.
func FuzzHandler(f *testing.F) {
	for _, method := range []string{"tasks/get", "tasks/cancel", "subscriptions/listen", "tools/call"} {
		body, err := io.ReadAll(request(method, "x", `{"taskId":"x","notifications":{"taskIds":["x"]}`, able).Body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(method, "x", body)
	}
	f.Add("tasks/get", "", []byte(`{"id":null,"method":"tasks/get","params":null}`))
	f.Fuzz(func(t *testing.T, method, name string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", name)
		passed := false
		w := httptest.NewRecorder()
		taskext.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			passed = true
			if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%q went on as %q: %v", body, got, err)
			}
		}), func(*http.Request) (taskext.Source, *taskext.Following) {
			return mcptest.NewMemory(), &taskext.Following{}
		}).ServeHTTP(w, r)
		if !passed && w.Body.Len() == 0 {
			t.Errorf("%q was not answered", body)
		}
	})
}
