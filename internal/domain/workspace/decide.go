package workspace

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxWhy is the most bytes of the reason for an archive.
const MaxWhy = 500

// Command asks for a change of one workspace. The set is sealed.
type Command interface {
	workspace() (string, identity.Principal)
}

// Create makes a workspace.
type Create struct {
	By          identity.Principal
	Name        string
	Description string
	Limits      Limits
}

// SetLimits replaces the limits of a workspace that are not nil. A limit of 0 is none.
type SetLimits struct {
	By                                              identity.Principal
	Name                                            string
	OpenTasks, EntriesPerDay, ArtifactBytes, Agents *int64
}

// Archive ends changes in a workspace.
type Archive struct {
	By   identity.Principal
	Name string
	Why  string
}

// Restore allows changes in an archived workspace again.
type Restore struct {
	By   identity.Principal
	Name string
}

// Leave ends changes in a workspace for good: it moves to the server at an address.
type Leave struct {
	By   identity.Principal
	Name string
	To   string
}

// Send says what moves there.
type Send struct {
	By   identity.Principal
	Sent Sent
}

// Receive begins the life of a workspace that moves here, from the log of a name.
type Receive struct {
	By   identity.Principal
	Sent Sent
	Log  string
}

// Arrive allows changes in it: all of its entries are here, from one position to another.
type Arrive struct {
	By          identity.Principal
	Name        string
	First, Last uint64
}

func (c Leave) workspace() (string, identity.Principal)     { return c.Name, c.By }
func (c Send) workspace() (string, identity.Principal)      { return c.Sent.Name, c.By }
func (c Receive) workspace() (string, identity.Principal)   { return c.Sent.Name, c.By }
func (c Arrive) workspace() (string, identity.Principal)    { return c.Name, c.By }
func (c Create) workspace() (string, identity.Principal)    { return c.Name, c.By }
func (c SetLimits) workspace() (string, identity.Principal) { return c.Name, c.By }
func (c Archive) workspace() (string, identity.Principal)   { return c.Name, c.By }
func (c Restore) workspace() (string, identity.Principal)   { return c.Name, c.By }

// May refuses (not_permitted) everybody but admins of the workspace default.
func May(by identity.Principal, what string) error {
	if err := identity.Require(by, identity.ManageWorkspaces, what); err != nil {
		return err
	}
	if by.Workspace != identity.DefaultWorkspace {
		return refusal.New(refusal.NotPermitted, "use an admin's token of the workspace "+identity.DefaultWorkspace, "%s of workspace %s may not %s", by.Short(), by.Workspace, what)
	}
	return nil
}

// Decide returns the events of a command on a workspace at the time now. Refusals: not_permitted for everybody but admins of the workspace
// default, invalid and too_large for what breaks a rule on its own, not_found for a workspace that is not there, conflict for a name
// that is taken.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	name, by := c.workspace()
	if by.IsZero() {
		return nil, refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if err := May(by, "change workspaces"); err != nil {
		return nil, err
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if s.Name != "" && name != s.Name {
		return nil, refusal.New(refusal.Invalid, "load the workspace that the command names", "a command for workspace %s reached workspace %s", name, s.Name)
	}
	switch c := c.(type) {
	case Create:
		return decideCreate(s, c, now)
	case Receive:
		return decideReceive(s, c, now)
	}
	if err := s.CheckExists(name); err != nil {
		return nil, err
	}
	switch c := c.(type) {
	case Leave:
		return decideLeave(s, c, now)
	case Send:
		return decideSend(s, c)
	case Arrive:
		if !s.IsArriving() {
			return nil, nil
		}
		return []Event{Arrived{First: c.First, Last: c.Last, At: now.UTC()}}, nil
	}
	if s.HoldsStill() {
		return nil, s.MayChange(name)
	}
	switch c := c.(type) {
	case SetLimits:
		return decideLimits(s, c)
	case Archive:
		return decideArchive(s, c, now)
	case Restore:
		if s.ArchivedAt.IsZero() {
			return nil, nil
		}
		return []Event{Restored{By: by.String(), At: now.UTC()}}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

func decideCreate(s State, c Create, now time.Time) ([]Event, error) {
	if err := event.CheckDescription("the description", c.Description, "say in a few sentences of plain text what the workspace is for"); err != nil {
		return nil, err
	}
	if err := c.Limits.check(); err != nil {
		return nil, err
	}
	if s.Exists(c.Name) {
		return nil, refusal.New(refusal.Conflict, "choose another name, or "+help.To("make a token for it", "token create", "", "workspace="+c.Name), "workspace %s exists already", c.Name)
	}
	return []Event{Created{Name: c.Name, Description: c.Description, Limits: c.Limits, By: c.By.String(), At: now.UTC()}}, nil
}

func decideLimits(s State, c SetLimits) ([]Event, error) {
	next := s.Limits
	for _, change := range []struct{ from, to *int64 }{
		{c.OpenTasks, &next.OpenTasks}, {c.EntriesPerDay, &next.EntriesPerDay}, {c.ArtifactBytes, &next.ArtifactBytes}, {c.Agents, &next.Agents},
	} {
		if change.from != nil {
			*change.to = *change.from
		}
	}
	if err := next.check(); err != nil || next == s.Limits {
		return nil, err
	}
	return []Event{Limited{Name: c.Name, Limits: next}}, nil
}

func decideArchive(s State, c Archive, now time.Time) ([]Event, error) {
	switch {
	case c.Name == identity.DefaultWorkspace:
		return nil, refusal.New(refusal.Invalid, "archive another workspace", "the workspace %s is never archived: the tokens of the server's admins are in it", c.Name)
	case strings.TrimSpace(c.Why) == "":
		return nil, refusal.New(refusal.Invalid, "say why; the record keeps it", "there is no reason")
	case !s.ArchivedAt.IsZero():
		return nil, nil
	}
	if err := event.CheckText("a reason", c.Why, MaxWhy); err != nil {
		return nil, err
	}
	return []Event{Archived{By: c.By.String(), Why: c.Why, At: now.UTC()}}, nil
}

// check refuses (invalid) limits below 0.
func (l Limits) check() error {
	for _, n := range []int64{l.OpenTasks, l.EntriesPerDay, l.ArtifactBytes, l.Agents} {
		if n < 0 {
			return refusal.New(refusal.Invalid, "use a number above 0, or 0 for no limit", "%d is not a limit", n)
		}
	}
	return nil
}
