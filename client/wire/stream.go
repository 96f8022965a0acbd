package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

// Now, as a position to follow from, means: what happens from now on.
const Now = ^uint64(0)

const (
	silence      = 45 * time.Second // three heartbeats of the server
	maxEventLine = 1 << 20
)

// Follow calls fn with each event of a stream of server-sent events that has a name, after a position (0: from the beginning;
// [Now]: from now on), in order and once, until ctx ends or fn fails. It reconnects by itself and goes on where it was, but
// gives up on errors that say that they do not pass. watch, unless nil, is told when the server is away, and when it is
// back, with nil.
func Follow[T any](ctx context.Context, c *Conn, path, name string, after uint64, watch func(away error), fn func(T) error) error {
	f := feed[T]{conn: c, path: path, name: name, after: after, watch: watch, fn: fn}
	for n := 0; ; n++ {
		before := f.after
		err := f.read(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if stop, is := errors.AsType[callbackError](err); is {
			return stop.err
		}
		passes, wait := passing(err)
		if !passes {
			return err
		}
		if f.after != before {
			n = 0
		}
		if err := Sleep(ctx, max(c.Pause(n), wait)); err != nil {
			return err
		}
	}
}

// feed is a stream that is followed, and the position up to which everything was told.
type feed[T any] struct {
	conn       *Conn
	path, name string
	after      uint64
	away       bool
	watch      func(away error)
	fn         func(T) error
}

// reached tells whether the server was, where that has changed.
func (f *feed[T]) reached(err error) {
	if was := f.away; was != (err != nil) && f.watch != nil {
		f.watch(err)
	}
	f.away = err != nil
}

// callbackError is what the caller's function returned.
type callbackError struct{ err error }

func (e callbackError) Error() string { return e.err.Error() }

// read reads the stream once, to its end. It says whether the server was reached: a stream that breaks may be back at once.
func (f *feed[T]) read(ctx context.Context) error {
	line, cancel := context.WithCancel(ctx)
	defer cancel()
	q := Query{}
	if f.after != Now {
		q.Text("after", strconv.FormatUint(f.after, 10))
	}
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	res, err := f.conn.Send(line, Call{Method: http.MethodGet, Path: f.path, Query: q, Accept: "text/event-stream"})
	if err != nil {
		if passes, _ := passing(err); passes && ctx.Err() == nil {
			f.reached(err)
		}
		return err
	}
	f.reached(nil)
	defer res.Body.Close() // nothing was written
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 4096), maxEventLine)
	var next frame
	for lines.Scan() {
		watchdog.Reset(silence)
		if len(lines.Bytes()) > 0 {
			next.field(lines.Bytes())
			continue
		}
		if err := f.deliver(next); err != nil {
			return err
		}
		if next.id > 0 {
			f.after = next.id
		}
		next = frame{}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// frame is one message of a stream of server-sent events.
type frame struct {
	id   uint64
	name string
	data []byte
}

func (f *frame) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		f.id, _ = strconv.ParseUint(string(value), 10, 64) // then the frame has no id
	case "event":
		f.name = string(value)
	case "data":
		f.data = append(f.data, value...)
	}
}

// deliver tells of a frame. Frames of other names, of servers to come, are passed over.
func (f *feed[T]) deliver(next frame) error {
	if next.name != f.name {
		return nil
	}
	var event T
	if err := fastjson.Unmarshal(next.data, &event); err != nil {
		return fmt.Errorf("client: an event cannot be read: %w", err)
	}
	if err := f.fn(event); err != nil {
		return callbackError{err}
	}
	return nil
}
