package workspaces

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// LimitsInput changes the limits of a workspace.
type LimitsInput struct {
	Name          string `json:"name,omitempty"`
	OpenTasks     *int64 `json:"open_tasks,omitempty" minimum:"0" doc:"Tasks that have not ended. 0: no limit. Left out: as it was, here and below."`
	EntriesPerDay *int64 `json:"entries_per_day,omitempty" minimum:"0" doc:"Entries of the record from 00:00 to 24:00 UTC. 0: no limit."`
	ArtifactBytes *int64 `json:"artifact_bytes,omitempty" minimum:"0" doc:"Bytes of all artifacts. 0: the limit of the server alone."`
	Agents        *int64 `json:"agents,omitempty" minimum:"0" doc:"Registered agents. 0: no limit."`
}

// SetLimits changes the limits of a workspace, from the next call on. What is there already stays.
func (ws *Workspaces) SetLimits(ctx context.Context, c caller.Caller, in LimitsInput) (Workspace, error) {
	return ws.do(ctx, c, "set-limits", in.Name, in, workspace.SetLimits{
		By: c.Principal, Name: in.Name, OpenTasks: in.OpenTasks, EntriesPerDay: in.EntriesPerDay, ArtifactBytes: in.ArtifactBytes, Agents: in.Agents,
	})
}
