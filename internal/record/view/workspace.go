package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
)

// WorkspaceQueries lists workspaces, and counts what one of them uses.
type WorkspaceQueries interface {
	// MadeWorkspaces lists the workspaces that were made or limited, archived ones included, by name.
	MadeWorkspaces(ctx context.Context) ([]workspace.State, error)
	// OpenTasks counts the tasks of a workspace that have not ended.
	OpenTasks(ctx context.Context, workspace string) (int64, error)
	// AgentCount counts the agents of a workspace, without removed ones.
	AgentCount(ctx context.Context, workspace string) (int64, error)
	// EntriesOn counts the entries of a workspace on the day of a time, in UTC.
	EntriesOn(ctx context.Context, workspace string, day time.Time) (int64, error)
}

// DayOf returns the number of the day of a time, in UTC.
func DayOf(t time.Time) int64 { return t.Unix() / 86400 }
