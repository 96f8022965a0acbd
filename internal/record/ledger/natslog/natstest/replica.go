package natstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
)

const (
	patience = 2 * time.Minute // for a node to lead, and for a message
	readers  = 32
)

// streamState is a part of what the leader of a stream says about it.
type streamState struct {
	Cluster struct {
		Leader string `json:"leader"`
	} `json:"cluster"`
	State struct {
		Last uint64 `json:"last_seq"`
	} `json:"state"`
}

// replica returns the messages that one node has of a stream, once it has at least so many, by reading them from it while it leads: nothing else says which replica answers.
// One that it cannot give is an error in its place.
func replica(t testing.TB, conn *nats.Conn, stream, node string, least int) []string {
	t.Helper()
	var is streamState
	for end := time.Now().Add(patience); is.Cluster.Leader != node || is.State.Last < uint64(least); { //nolint:gosec // not negative
		if time.Now().After(end) {
			t.Fatalf("%s does not come to lead with %d messages: %s does, with %d", node, least, is.Cluster.Leader, is.State.Last)
		}
		if is.Cluster.Leader != node {
			var answer struct{}
			to := fmt.Appendf(nil, `{"placement":{"preferred":%q}}`, node)
			_ = natslog.Request(t.Context(), conn, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, to, &answer) // it is tried again
		}
		<-time.After(100 * time.Millisecond) // for the election
		is = streamState{}
		_ = natslog.Request(t.Context(), conn, "$JS.API.STREAM.INFO."+stream, nil, &is)
	}
	list := make([]string, is.State.Last)
	next := make(chan int)
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for i := range next {
				list[i] = message(t.Context(), conn, stream, uint64(i+1)) //nolint:gosec // not negative
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	all.Wait()
	return list
}

// noMessage is the code of the error of a leader that has no message at a position.
const noMessage = 10037

// message is what the leader has at a position, or why it has nothing. Other errors, as while another comes to lead, are tried again.
func message(ctx context.Context, conn *nats.Conn, stream string, seq uint64) string {
	for end := time.Now().Add(patience); ; <-time.After(100 * time.Millisecond) {
		var answer struct {
			Error *struct {
				Code        int    `json:"err_code"`
				Description string `json:"description"`
			} `json:"error"`
			Message struct {
				Subject string `json:"subject"`
				Data    []byte `json:"data"`
				Hdrs    []byte `json:"hdrs"`
			} `json:"message"`
		}
		err := natslog.Request(ctx, conn, "$JS.API.STREAM.MSG.GET."+stream, fmt.Appendf(nil, `{"seq":%d}`, seq), &answer)
		late := time.Now().After(end) || ctx.Err() != nil
		switch {
		case err == nil && answer.Error == nil:
			return fmt.Sprintf("%s %s %s", answer.Message.Subject, answer.Message.Hdrs, answer.Message.Data)
		case err == nil && (late || answer.Error.Code == noMessage):
			return answer.Error.Description
		case late:
			return err.Error()
		}
	}
}

// Agree compares the replicas of a stream at some nodes, and returns how many messages each has. The stream may grow meanwhile: what is seen at one node, all must come to have.
func Agree(t testing.TB, conn *nats.Conn, stream string, nodes ...string) int {
	t.Helper()
	var longest []string
	of := ""
	for i, same := 0, 0; same < len(nodes); i++ {
		node := nodes[i%len(nodes)]
		list := replica(t, conn, stream, node, len(longest))
		for n := range longest {
			if list[n] != longest[n] {
				t.Fatalf("message %d at %s:\n%.500q\nat %s:\n%.500q", n+1, node, list[n], of, longest[n])
			}
		}
		if same++; len(list) > len(longest) {
			longest, of, same = list, node, 1
		}
	}
	return len(longest)
}
