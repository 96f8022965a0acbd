package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// message is one message of the stream.
type message struct {
	subject string
	seq     ledger.Position
	nonce   string // of the append
	body    []byte
}

const (
	headerNonce    = "Trapeze-Append"
	headerExpect   = "Nats-Expected-Last-Subject-Sequence"
	headerSubject  = "Nats-Subject"
	headerSequence = "Nats-Sequence"
	headerStatus   = "Status"
)

// getRequest asks for messages.
type getRequest struct {
	Seq      ledger.Position `json:"seq,omitempty"`
	LastFor  string          `json:"last_by_subj,omitempty"`
	NextFor  string          `json:"next_by_subj,omitempty"`
	Batch    int             `json:"batch,omitempty"`
	MaxBytes int             `json:"max_bytes,omitempty"`
}

// ask asks the leader, and asks again if another is elected meanwhile, or was a moment ago and does not answer.
func (l *Log) ask(ctx context.Context, m *nats.Msg) ([]byte, error) {
	for {
		limit, fresh := l.leaders.limit()
		b, err := l.sendFor(ctx, m, limit)
		if !errors.Is(err, errElected) && (!fresh || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil) {
			return b, err
		}
	}
}

// send sends a request to the leader, and returns the body of the answer.
func (l *Log) send(ctx context.Context, m *nats.Msg) ([]byte, error) {
	return l.sendFor(ctx, m, requestTimeout)
}

// sendFor sends a copy of a message that names where the answer is to arrive, and waits for that for so long.
func (l *Log) sendFor(ctx context.Context, m *nats.Msg, limit time.Duration) ([]byte, error) {
	w := l.wait(1, limit)
	defer w.end()
	if err := l.conn.PublishMsg(&nats.Msg{Subject: m.Subject, Reply: w.inbox, Header: m.Header, Data: m.Data}); err != nil {
		return nil, err
	}
	answer, err := w.next(ctx)
	if err != nil {
		if errors.Is(err, errElected) {
			l.pause(ctx) // it is told before the new leader answers
		}
		return nil, err
	}
	return answer.Data, nil
}

// fromLeader asks the leader of the stream for one message; ok is false if it has none.
func (l *Log) fromLeader(ctx context.Context, r getRequest) (m message, ok bool, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return m, false, err
	}
	b, err := l.ask(ctx, &nats.Msg{Subject: "$JS.API.STREAM.MSG.GET." + l.opts.Name, Data: text})
	if err != nil {
		return m, false, err
	}
	var answer struct {
		Error   *apiError `json:"error"`
		Message struct {
			Subject string          `json:"subject"`
			Seq     ledger.Position `json:"seq"`
			Hdrs    []byte          `json:"hdrs"`
			Data    []byte          `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return m, false, fmt.Errorf("an answer of JetStream cannot be read: %w", err)
	}
	if answer.Error != nil {
		if answer.Error.ErrCode == codeNoMessage {
			return m, false, nil
		}
		return m, false, answer.Error
	}
	got := answer.Message
	h, err := nats.DecodeHeadersMsg(got.Hdrs)
	if err != nil {
		h = nil // it is not one of ours, and the frame says so
	}
	return message{got.Subject, got.Seq, h.Get(headerNonce), got.Data}, true, nil
}

// fromReplica calls fn with messages that one of the replicas has, which may lack the newest.
func (l *Log) fromReplica(ctx context.Context, r getRequest, fn func(message) (more bool)) error {
	r.MaxBytes = readBytes
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	limit, _ := l.leaders.limit()
	w := l.wait(max(r.Batch, 1)+1, limit) // the replica may be the leader of before; and the end
	defer w.end()
	if err := l.conn.PublishRequest("$JS.API.DIRECT.GET."+l.opts.Name, w.inbox, text); err != nil {
		return err
	}
	for {
		m, err := w.next(ctx)
		if err != nil {
			return err
		}
		switch status := m.Header.Get(headerStatus); status {
		case "":
		case "204", "404": // the end; none
			return nil
		default:
			return fmt.Errorf("JetStream answers a read with %s %s", status, m.Header.Get("Description"))
		}
		seq, err := strconv.ParseUint(m.Header.Get(headerSequence), 10, 64)
		if err != nil {
			return errors.New("a message of JetStream has no sequence")
		}
		if !fn(message{m.Header.Get(headerSubject), ledger.Position(seq), m.Header.Get(headerNonce), m.Data}) {
			return nil
		}
	}
}
