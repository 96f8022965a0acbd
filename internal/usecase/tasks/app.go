package tasks

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// Options of an App. The zero value is fine.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Random is the source of salts, tokens and jitter; nil means crypto/rand.
	Random io.Reader
	// CachedTasks bounds the folds of tasks that are kept in memory; 0 means 4096.
	CachedTasks int
	// CachedEnvelopes bounds the sealed envelopes that are kept in memory, in bytes; 0 means 32 MiB.
	CachedEnvelopes int
	// MaxOpen bounds the tasks that one principal has requested and that have not ended; 0 means 100,000. It may be
	// exceeded by what is created within a second.
	MaxOpen int
	// Majors converts envelopes between majors of their schema; the zero value knows ours.
	Majors envelope.Converter
	// Artifacts is the store of files; without one, calls about them are refused.
	Artifacts artifact.Store
	Shelf     artifacts.Options
	// Issuer judges tokens that are not of this server; nil: they do not count.
	Issuer agents.Issuer
	// Policy says where policy files are, and who is asked where no rule matches.
	Policy policies.Options
}

// Caller is who asks. Surfaces get it from [App.Authenticate].
type Caller = caller.Caller

// What is asked and answered of looking, as the room that does it has it.
type (
	// TasksInput narrows a list of tasks.
	TasksInput = history.TasksInput
	// PreviewInput says for whom an envelope would be packed, and how.
	PreviewInput = history.PreviewInput
	// Preview is what a receiver would get.
	Preview = history.Preview
)

// What a sender says, as the room that seals it has it.
type (
	// Content is all that a sender puts into an envelope.
	Content = envelopes.Content
	// Point is a fact or a decision.
	Point = envelopes.Point
	// Step is something that the sender did.
	Step = envelopes.Step
	// MemoryAsk names a memory item.
	MemoryAsk = envelopes.MemoryAsk
	// Artifact refers to a file.
	Artifact = envelopes.Artifact
)

// SendInput hands a task off.
type SendInput = handoffs.SendInput

// App is the use cases over one ledger and its views. Its methods are safe for many goroutines.
type App struct {
	*agents.Roster
	*artifacts.Shelf
	*memories.Base
	*history.Archive
	*tickets.Desk
	*policies.Book
	ledger ledger.Ledger
	views  view.Store
	now    func() time.Time
	tasks  *taskstore.Docket
	sealer *envelopes.Sealer
	sender *handoffs.Sender
	access *access.Log
	expect *expect.Checker
	majors envelope.Converter
	quota  *quota.Quota
}

// New returns the use cases over a ledger and views that follow it.
func New(l ledger.Ledger, v view.Store, o Options) (*App, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.CachedTasks <= 0 {
		o.CachedTasks = 4096
	}
	if o.CachedEnvelopes <= 0 {
		o.CachedEnvelopes = 32 << 20
	}
	a := &App{
		ledger: l, views: v, now: o.Now, expect: expect.New(expect.Options{}), majors: o.Majors,
	}
	var err error
	if a.quota, err = quota.New(o.MaxOpen, v, o.Now); err != nil {
		return nil, err
	}
	if a.access, err = access.New(l, o.Now); err != nil {
		return nil, err
	}
	if a.Roster, err = agents.New(l, v, a.access, o.Now, o.Random, o.Issuer); err != nil {
		return nil, err
	}
	if a.tasks, err = taskstore.New(l, a.access, a.Present, o.Now, o.CachedTasks); err != nil {
		return nil, err
	}
	if a.Shelf, err = artifacts.New(o.Artifacts, l, v, a.access, a.tasks.MayRead, o.Now, o.Shelf); err != nil {
		return nil, err
	}
	envelope := func(ctx context.Context, workspace, task, digest string) ([]byte, error) {
		return a.sealer.Bytes(ctx, workspace, task, digest)
	}
	if a.Base, err = memories.New(l, v, a.access, memories.Tasks{Load: a.tasks.Find, Envelope: envelope}, o.Now, a.Random); err != nil {
		return nil, err
	}
	a.sealer, err = envelopes.New(l, a.tasks.Kind, envelopes.Sources{Roster: a.Roster, Shelf: a.Shelf, Base: a.Base}, o.CachedEnvelopes)
	if err != nil {
		return nil, err
	}
	a.Archive = history.New(l, v, a.tasks, a.access, a.Readable, a.sealer.Chain, history.Ahead{Known: a.Known, Draft: a.sealer.Draft, Now: o.Now})
	a.Desk = tickets.New(a.tasks, v, a.access, tickets.Sources{Known: a.Known, Staffed: a.Staffed, Handover: a.toPerson})
	a.Book, err = policies.New(l, v, a.Roster, policies.Tasks{For: a.tasks.For, Said: a.sealer.Said, Change: a.tasks.Change}, a.access, o.Now, o.Policy)
	if err != nil {
		return nil, err
	}
	a.sender = handoffs.New(a.Roster, a.Book, a.sealer, a.expect)
	return a, nil
}

// Views are the lists that surfaces wait on and page through.
func (a *App) Views() view.Store { return a.views }

// Now is the time by the clock of the use cases.
func (a *App) Now() time.Time { return a.now() }

// Provided is the same use cases, each of whose decisions on a task is refused where check refuses the task as it is when the
// decision is made. The answer to a call that is repeated with its key is given all the same.
func (a *App) Provided(check func(task.Task) error) *App {
	own := *a
	own.tasks = a.tasks.Provided(check)
	return &own
}

// Seen is a task as it is now, as far as the caller may see it, for who decides what to ask about it. Neither that nor a refusal
// is on record.
func (a *App) Seen(ctx context.Context, c Caller, task string) (taskstore.Task, error) {
	return a.tasks.For(ctx, c, task)
}

// Err is nil while the server can do its work, and otherwise says why it cannot.
func (a *App) Err() error {
	if err := a.ledger.Err(); err != nil {
		return err
	}
	return a.views.Err()
}

// CatchUp returns when the views have what is on record now.
func (a *App) CatchUp(ctx context.Context) error {
	_, err := stream.CatchUp(ctx, a.ledger, a.views.Position(), a.views.Wait)
	return err
}

// Wait returns when the views have everything up to a position.
func (a *App) Wait(ctx context.Context, at ledger.Position) error {
	if err := a.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	return nil
}
