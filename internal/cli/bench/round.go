package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// patience is how long a handoff may take before it counts as failed.
const patience = 30 * time.Second

// field is the agents of a run, and the handoffs that wait for something in an inbox.
type field struct {
	o       Options
	parties []party
	names   []string

	mu      sync.Mutex
	waiting map[string]*waiter // by intent, which each handoff has of its own
	number  int
	gone    atomic.Bool // its tokens count no longer: another run has cleaned it up
}

// waiter is a handoff whose next step is in an inbox.
type waiter struct {
	offered chan item // to its receiver; the first of several
	resumed chan item // to its sender
}

// item is an item of an inbox, with the time at which its agent had it.
type item struct {
	client.Item
	at time.Time
}

// watch reads an agent's inbox until ctx ends.
func (f *field) watch(ctx context.Context, p party) {
	var after string
	for ctx.Err() == nil {
		items, position, err := p.inbox(ctx, after)
		now := time.Now()
		if err != nil {
			select { // a pause after an error; the clients notice what is missing
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		after = position
		for _, i := range items {
			f.mu.Lock()
			w := f.waiting[i.Intent]
			f.mu.Unlock()
			if w == nil {
				continue
			}
			to := w.offered
			if i.Type == "resumed" {
				to = w.resumed
			}
			if i.Type == "offer" || i.Type == "resumed" {
				select {
				case to <- item{i, now}:
				default: // another agent had it first
				}
			}
		}
	}
}

// run runs the clients of a period in a closed loop until what is measured is complete, or until ctx ends, and returns how long was measured, and how long
// it stood still. Handoffs under way are finished.
func (f *field) run(ctx context.Context, p *period, s *samples) (took, stood time.Duration) {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watchers, working sync.WaitGroup
	if !f.o.Direct {
		for _, p := range f.parties {
			watchers.Go(func() { f.watch(watching, p) })
		}
	}
	watchers.Go(func() { p.beats(watching.Done()) })
	for number := range p.clients {
		working.Go(func() {
			more := true
			for n := number; more && ctx.Err() == nil && !f.gone.Load(); n += p.clients {
				more = f.handOff(context.WithoutCancel(ctx), number, n, s, p)
			}
		})
	}
	working.Wait()
	took, stood = p.length(time.Now())
	stop()
	watchers.Wait()
	return took, stood
}

// handOff does one handoff of the client with a number, the nth of the run. It reports whether the client goes on.
func (f *field) handOff(ctx context.Context, number, n int, s *samples, p *period) (more bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	took, err := f.one(ctx, number, n)
	end := p.ended(number, began, time.Now())
	switch {
	case end.stood && !errors.Is(err, client.Unauthenticated):
	case err != nil: // at any time
		s.fail(err)
		if errors.Is(err, client.Unauthenticated) {
			f.gone.Store(true)
		}
	case end.counts:
		s.add(took)
	}
	return end.more
}

// one is the nth handoff of the run, of the client with a number: from its agent to the next, or to the next three.
func (f *field) one(ctx context.Context, number, n int) (took map[string]time.Duration, err error) {
	intent, w := f.wait()
	defer f.forget(intent)
	from := number % len(f.parties)
	to := []int{(from + 1) % len(f.parties)}
	in := client.CreateInput{Intent: intent, Content: f.o.content(n), Send: &client.SendInput{Reason: client.ReasonSpecialization}}
	switch f.o.Kind {
	case kindDelegation:
		in.Start, in.Send.Kind = true, client.Delegation
	case kindClaim:
		in.Send.Kind = client.Broadcast
		for i := 2; i <= claimants; i++ {
			to = append(to, (from+i)%len(f.parties))
		}
	}
	for _, i := range to {
		in.Send.To = append(in.Send.To, f.names[i])
	}
	took = map[string]time.Duration{}
	began := time.Now()
	made, err := f.parties[from].send(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	took[stageCreate] = time.Since(began)
	handoff, task := made.handoff, made.task
	if !f.o.Direct {
		offer, err := await(ctx, w.offered)
		if err != nil {
			return nil, fmt.Errorf("seen: the offer did not reach its receiver within %s", patience)
		}
		took[stageSeen], handoff, task = offer.at.Sub(began), offer.ID, offer.Task
	}
	return took, f.receive(ctx, w, took, handing{began: began, handoff: handoff, task: task, whole: made.task, from: from, to: to})
}

// handing is a handoff that was offered.
type handing struct {
	began         time.Time
	handoff, task string // that the receiver gets
	whole         string // the sender's task: another one if it is a delegation
	from          int
	to            []int
}

// receive accepts and completes what was offered; of a delegation, the whole too.
func (f *field) receive(ctx context.Context, w *waiter, took map[string]time.Duration, h handing) error {
	asked := time.Now()
	winner, epoch, err := f.claim(ctx, h)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	took[stageAccept], took[stageReceived] = time.Since(asked), time.Since(h.began)
	asked = time.Now()
	if err := f.parties[winner].complete(ctx, h.task, epoch); err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	took[stageComplete] = time.Since(asked)
	if f.o.Kind == kindDelegation {
		back, err := await(ctx, w.resumed)
		if err != nil {
			return fmt.Errorf("result: it did not reach the sender within %s", patience)
		}
		took[stageResult] = back.at.Sub(h.began)
		if err := f.parties[h.from].complete(ctx, h.whole, back.Epoch); err != nil {
			return fmt.Errorf("complete: %w", err)
		}
	}
	took[stageWhole] = time.Since(h.began)
	return nil
}

// claim has all receivers accept at once. Exactly one of them must get the task; the others are refused.
func (f *field) claim(ctx context.Context, h handing) (winner int, epoch uint64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var errs []error
	wins := 0
	for _, i := range h.to {
		all.Go(func() {
			e, failed := f.parties[i].accept(ctx, h.handoff)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				errs = append(errs, failed)
				return
			}
			wins++
			winner, epoch = i, e
		})
	}
	all.Wait()
	switch {
	case wins == 1:
		return winner, epoch, nil
	case wins > 1:
		return 0, 0, fmt.Errorf("%d agents own one task", wins)
	}
	return 0, 0, errs[0]
}

// wait registers a handoff, with an intent of its own.
func (f *field) wait() (intent string, w *waiter) {
	w = &waiter{offered: make(chan item, 1), resumed: make(chan item, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number++
	intent = fmt.Sprintf("measure handoff %d", f.number)
	f.waiting[intent] = w
	return intent, w
}

func (f *field) forget(intent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, intent)
}

func await(ctx context.Context, c <-chan item) (item, error) {
	select {
	case i := <-c:
		return i, nil
	case <-ctx.Done():
		return item{}, ctx.Err()
	}
}
