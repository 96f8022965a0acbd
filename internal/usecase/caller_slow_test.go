//go:build slow

package usecase_test

import (
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// taskID is the task of the harnesses that have one.
const taskID = "task_00000000000000000000000001"

func who(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

func agentOf(name string) caller.Caller { return who(identity.Agent, name) }
