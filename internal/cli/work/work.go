package work

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Options of a worker. Agent, Token and Command have no default.
type Options struct {
	Agent string
	Token string // the agent's, for the programs
	// TLS is how the worker knows the server, and TrustEnv the environment variables by which its programs do.
	TLS      *tls.Config
	TrustEnv []string
	Command  []string // the program and its arguments
	// Preview is a program that decides whether an offer is accepted; it gets the inbox item as JSON. Exit code 0
	// accepts; 3 rejects as not_capable, 4 as overloaded, 5 as missing_context (its output names the fields, one per
	// line), and any other as refused. Empty accepts everything.
	Preview []string
	// Jobs is the maximum number of programs that run at once; 0 means 1.
	Jobs int
	// JSONResult parses the program's output as JSON data instead of text.
	JSONResult bool
	// Input is what a program gets on standard input: the prompt, if it is empty, or [InputAsk].
	Input string
	// Guard is the command that runs [Guard] for the directory that is appended to it; none: what a killed worker leaves stays until the next
	// one starts.
	Guard []string
	// Grace is how long a program may take to exit after SIGTERM; 0 means 5 s.
	Grace time.Duration
	// Stderr gets the messages of the worker, and the standard error of the programs; nil discards them.
	Stderr io.Writer
}

// The inputs of programs.
const (
	InputPrompt = "prompt"
	InputAsk    = "ask" // what the sender asks, without context, or the original intent if there is none
)

// beatEvery is the maximum time between two heartbeats, and so until the loss of a task is noticed.
const beatEvery = 10 * time.Second

// idle is the pause between two reads of an inbox that only has items that a worker does not handle.
const idle = time.Second

// inboxWait is how long one call waits for an inbox item.
const inboxWait = 30 * time.Second

// partingWait is how long a worker that stops tries to mark its agent offline.
const partingWait = 10 * time.Second

type worker struct {
	c       *client.Client
	o       Options
	scratch *scratch
	free    chan struct{} // one token for each job that may start
	running sync.WaitGroup
	saying  sync.Mutex

	mu     sync.Mutex
	answer map[string]bool // offers being answered
	missed map[string]bool // offers that were not answered in time: the server offers them to others
	jobs   map[*job]bool
	told   map[string]bool // tasks that were lost, as a job has printed: their notices may follow
}

// DefaultGrace is how long a program may take to exit when it is stopped.
const DefaultGrace = 5 * time.Second

// Run waits for offers and runs the program on each task, until drain is closed and the running programs are done, or until ctx ends, which
// stops the programs. A program that cannot be found is an error. The agent must be registered, and c must use its token: [ErrNotAgent].
func Run(ctx context.Context, drain <-chan struct{}, c *client.Client, o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.Jobs = max(o.Jobs, 1)
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	w := &worker{c: c, o: o, free: make(chan struct{}, o.Jobs), answer: map[string]bool{}, missed: map[string]bool{}, jobs: map[*job]bool{}, told: map[string]bool{}}
	for range o.Jobs {
		w.free <- struct{}{}
	}
	if err := w.isAgent(ctx); err != nil {
		return err
	}
	files, ended, err := openScratch()
	if err != nil {
		return fmt.Errorf("the directory for the envelopes of the programs: %w", err)
	}
	stopGuard := files.startGuard(o.Guard)
	defer stopGuard()
	defer func() { _ = files.close() }()
	if w.scratch = files; ended > 0 {
		w.say("ended %d processes that a worker left behind when it was killed", ended)
	}
	switch _, err := c.SetReadiness(ctx, o.Agent, client.Ready); {
	case errors.Is(err, client.Conflict): // off duty: existing offers can be accepted, and there may be new ones later
		w.say("%s gets no new offers yet: %s", o.Agent, err)
	case err != nil:
		return err
	default:
		w.say("%s is ready, with up to %s at once: %q", o.Agent, refusal.Counted(o.Jobs, "program"), o.Command)
	}
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	go w.follow(following)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-drain:
			stop()
		case <-waiting.Done():
		}
	}()
	err = w.wait(ctx, waiting)
	if waiting.Err() != nil {
		err = nil // it was asked to stop
	}
	if n := w.busy(); n > 0 && ctx.Err() == nil {
		w.say("draining: waiting for %d running programs; another signal stops them", n)
		w.drain(ctx)
	}
	w.running.Wait()
	w.leave(ctx)
	w.say("stopped")
	return err
}

// ErrNotAgent is the error of a worker whose token is not its agent's.
var ErrNotAgent = errors.New("a worker needs the token of its agent")

// isAgent checks that the token is the agent's own, and names no person. With an operator's token, changes of readiness would be the
// operator's decisions: the end of the worker would take the agent off duty. And the worker's programs have its token: with that of a
// person's client they could answer their own questions in her name.
func (w *worker) isAgent(ctx context.Context) error {
	me, err := w.c.Me(ctx)
	if err == nil && !me.Is(w.o.Agent) {
		err = fmt.Errorf("%w: the token is that of %s/%s, not of the agent %s", ErrNotAgent, me.Role, me.Name, w.o.Agent)
	} else if err == nil && me.Person != "" {
		err = fmt.Errorf("%w, without a person at its client: the programs could answer as %s", ErrNotAgent, me.Person)
	}
	if err == nil {
		w.o.Agent = me.Agent // as the owner of its tasks is called
	}
	return err
}

// drain marks the agent as draining. It retries while programs run.
func (w *worker) drain(ctx context.Context) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	go func() {
		w.running.Wait()
		done()
	}()
	_, err := insist(ctx, func(ctx context.Context) (client.Agent, error) {
		return w.c.SetReadiness(ctx, w.o.Agent, client.Draining)
	})
	if err != nil && ctx.Err() == nil {
		w.say("could not mark the agent as draining: %s", err)
	}
}

// leave marks the agent offline, if the server can be reached.
func (w *worker) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingWait)
	defer cancel()
	if _, err := w.c.SetReadiness(ctx, w.o.Agent, client.Offline); err != nil {
		w.say("could not mark the agent as offline: %s", err)
	}
}

// wait takes an offer for each free job, until waiting ends. Jobs end with ctx.
func (w *worker) wait(ctx, waiting context.Context) error {
	others := 0 // items that a worker does not handle: they must not hide the others
	for {
		select {
		case <-waiting.Done():
			return nil
		case <-w.free:
			w.free <- struct{}{}
		}
		items, err := w.inbox(waiting, min(len(w.free)+others, 500))
		if err != nil {
			return err
		}
		var taken int
		if taken, others = w.sort(ctx, items); taken == 0 && wire.Sleep(waiting, w.lull()) != nil {
			return nil //nolint:nilerr // the end of waiting is no error
		}
	}
}

// inbox waits for items. It retries while the server cannot be reached, and reports that once.
func (w *worker) inbox(ctx context.Context, limit int) ([]client.Item, error) {
	away := false
	for wait := 200 * time.Millisecond; ; {
		o := client.InboxOptions{Limit: limit, Wait: inboxWait, See: true}
		if away {
			o.Wait = 0 // to notice at once that it is back
		}
		box, err := w.c.Inbox(ctx, o)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case client.Away(err):
			if !away {
				w.say("the server cannot be reached, retrying: %s", err)
			}
			away = true
			if wire.Sleep(ctx, wait) != nil {
				return nil, ctx.Err()
			}
			wait = min(2*wait, 5*time.Second)
			continue
		case err != nil:
			return nil, err
		case away:
			w.say("the server is back")
			away, wait = false, 200*time.Millisecond
		}
		if len(box.Items) > 0 {
			return box.Items, nil
		}
	}
}

// sort starts jobs for offers, then reads shares and prints notices, and counts the items that a worker does not handle, or that are being
// answered already.
func (w *worker) sort(ctx context.Context, items []client.Item) (taken, others int) {
	for _, item := range items {
		if item.Type == "offer" && w.begin(item) {
			taken++
			w.running.Go(func() {
				defer w.end(item)
				w.take(ctx, item)
			})
		} else if item.Type != "share" && !item.Notice() {
			others++
		}
	}
	for _, item := range items {
		switch {
		case item.Notice():
			taken++ // it has left the inbox
			w.notice(item)
		case item.Type == "share" && w.read(ctx, item):
			taken++ // likewise
		case item.Type == "share":
			others++
		}
	}
	return taken, others
}

// lull is the pause before the next read of an inbox without new items: offers that are being answered leave it soon.
func (w *worker) lull() time.Duration {
	if w.busy() > 0 {
		return idle / 10
	}
	return idle
}

// begin takes a slot for an offer, unless there is none, or the offer is being answered already.
func (w *worker) begin(item client.Item) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answer[offerKey(item)] || w.missed[offerKey(item)] {
		return false
	}
	select {
	case <-w.free:
		w.answer[offerKey(item)] = true
		return true
	default:
		return false
	}
}

func (w *worker) end(item client.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.answer, offerKey(item))
	w.free <- struct{}{}
}

// miss notes that an offer will not be answered any more.
func (w *worker) miss(item client.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.missed) > 1000 {
		clear(w.missed) // these offers have ended
	}
	w.missed[offerKey(item)] = true
}

func (w *worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.answer)
}

func offerKey(item client.Item) string { return fmt.Sprintf("%s#%d", item.ID, item.Offer) }

// read fetches shared content, which removes it from the inbox, and reports whether it did.
func (w *worker) read(ctx context.Context, item client.Item) bool {
	if _, err := w.c.Content(ctx, item.ID, client.ContentInput{}); err != nil {
		w.say("%s: shared by %s, but could not be read: %s", item.ID, item.From, err)
		return false
	}
	w.say("%s: shared by %s; read it again with: %s", item.ID, item.From, shellword.Command("trapeze envelope render --agent "+shellword.Quote(w.o.Agent), item.ID))
	return true
}

func (w *worker) say(format string, args ...any) {
	w.saying.Lock()
	defer w.saying.Unlock()
	fmt.Fprintln(w.o.Stderr, "trapeze work: "+shell.OneLine(fmt.Sprintf(format, args...)))
}

// insist retries a call with one idempotency key until the server answers, or ctx ends.
func insist[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx = client.WithKey(ctx, client.NewKey())
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		v, err := do(ctx)
		if !client.Away(err) || wire.Sleep(ctx, wait) != nil {
			return v, err
		}
	}
}

// is reports whether an error is a refusal with one of the codes.
func is(err error, codes ...client.Code) bool {
	for _, c := range codes {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}
