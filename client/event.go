package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Now, as the position that [Client.Events] starts after, means: what happens from now on.
const Now = ^uint64(0)

const (
	silence      = 45 * time.Second // three heartbeats of the server
	maxEventLine = 1 << 20
)

// Events calls fn with what happens after a position (0: from the beginning; [Now]: from now on), in order, each event
// once, until ctx ends or fn fails. It reconnects by itself, see [Options.Watch], and goes on where it was. Refusals end it.
func (c *Client) Events(ctx context.Context, after uint64, fn func(Event) error) error {
	away := false
	reached := func(err error) {
		if was := away; was != (err != nil) && c.options.Watch != nil {
			c.options.Watch(err)
		}
		away = err != nil
	}
	for n := 0; ; n++ {
		before := after
		err := c.follow(ctx, &after, reached, fn)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var stop callbackError
		var refused *Error
		switch {
		case errors.As(err, &stop):
			return stop.err
		case errors.As(err, &refused) && !refused.passing():
			return err
		}
		if after != before {
			n = 0
		}
		pause := c.conn.Pause(n)
		if refused != nil {
			pause = max(pause, refused.after)
		}
		if err := wire.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// callbackError is what the caller's function returned.
type callbackError struct{ err error }

func (e callbackError) Error() string { return e.err.Error() }

// follow reads one stream to its end and keeps the position up to which everything was told. It says whether the server
// was reached: a stream that breaks may be back at once.
func (c *Client) follow(ctx context.Context, after *uint64, reached func(error), fn func(Event) error) error {
	line, cancel := context.WithCancel(ctx)
	defer cancel()
	q := url.Values{}
	if *after != Now {
		q.Set("after", strconv.FormatUint(*after, 10))
	}
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	res, err := c.conn.Send(line, wire.Call{Method: http.MethodGet, Path: path("events"), Query: q, Accept: "text/event-stream"})
	if err != nil {
		var refused *Error
		if ctx.Err() == nil && (!errors.As(err, &refused) || refused.passing()) {
			reached(err)
		}
		return err
	}
	reached(nil)
	defer res.Body.Close() // nothing was written
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 4096), maxEventLine)
	var frame eventFrame
	for lines.Scan() {
		watchdog.Reset(silence)
		if len(lines.Bytes()) > 0 {
			frame.field(lines.Bytes())
			continue
		}
		if err := frame.deliver(fn); err != nil {
			return err
		}
		if frame.id > 0 {
			*after = frame.id
		}
		frame = eventFrame{}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// eventFrame is one message of a stream of server-sent events.
type eventFrame struct {
	id   uint64
	name string
	data []byte
}

func (f *eventFrame) field(line []byte) {
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

// deliver tells an entry. Frames of other names, of servers to come, are passed over.
func (f *eventFrame) deliver(fn func(Event) error) error {
	if f.name != "entry" {
		return nil
	}
	var e Event
	if err := json.Unmarshal(f.data, &e); err != nil {
		return fmt.Errorf("client: an event cannot be read: %w", err)
	}
	if err := fn(e); err != nil {
		return callbackError{err}
	}
	return nil
}
