package figure

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// labels are the names of workspaces and agents that the figures tell apart. When there is no more room for a name, those of agents that
// were removed, and of workspaces that have no agents any more, give up theirs: what was counted of them counts for the others.
type labels struct {
	agents map[[2]string]bool // by workspace and agent
	spaces map[string]bool

	living map[string]map[string]string // registered agents: by workspace and name, the identity
	gone   map[[2]string]bool           // labels of agents that were removed
	left   map[string]bool              // labels of workspaces that have no agents any more
}

func newLabels() labels {
	return labels{agents: map[[2]string]bool{}, spaces: map[string]bool{}, living: map[string]map[string]string{}, gone: map[[2]string]bool{}, left: map[string]bool{}}
}

// registered notes that an agent was registered.
func (t *Tally) registered(workspace, name string, registration int) {
	if t.living[workspace] == nil {
		t.living[workspace] = map[string]string{}
	}
	id := event.AgentID(name, registration)
	t.living[workspace][name] = id
	delete(t.left, workspace)
	t.workspace(workspace)
	t.agent(workspace, id)
}

// removed notes that an agent was removed.
func (t *Tally) removed(workspace, name string) {
	k := [2]string{workspace, t.identity(workspace, name)}
	if k[1] == Other {
		k[1] = AgentOther
	}
	if t.agents[k] {
		t.gone[k] = true
	}
	delete(t.living[workspace], name)
	if len(t.living[workspace]) == 0 {
		delete(t.living, workspace)
		if t.spaces[workspace] {
			t.left[workspace] = true
		}
	}
}

// identity is the identity of the agent that has a name now.
func (t *Tally) identity(workspace, name string) string {
	if id := t.living[workspace][name]; id != "" {
		return id
	}
	return name
}

// workspace returns the label of a workspace.
func (t *Tally) workspace(name string) string {
	if t.spaces[name] {
		return name
	}
	if len(t.spaces) >= maxWorkspaces && !t.makeRoom(len(t.left)) {
		return OtherWorkspaces
	}
	t.spaces[name] = true
	return name
}

// AgentOther is the label of an agent whose own name is [Other]. No agent can have that name.
const AgentOther = "agent/" + Other

// agent returns the label of an agent.
func (t *Tally) agent(workspace, name string) string {
	if name == Other {
		name = AgentOther
	}
	k := [2]string{workspace, name}
	if name == "" || t.agents[k] {
		return name
	}
	if len(t.agents) >= t.o.MaxAgents && !t.makeRoom(len(t.gone)) {
		return Other
	}
	t.agents[k] = true
	return name
}

// makeRoom takes the labels of what is gone, and reports whether there are any.
func (t *Tally) makeRoom(n int) bool {
	if n == 0 {
		return false
	}
	for k := range t.agents {
		if t.gone[k] || t.left[k[0]] {
			t.gone[k] = true
			delete(t.agents, k)
		}
	}
	t.set.rename(func(i *Instrument, v *Values) {
		w, a := slices.Index(i.Labels, "workspace"), slices.Index(i.Labels, "agent")
		if w < 0 {
			return
		}
		if a >= 0 && t.gone[[2]string{v[w], v[a]}] {
			v[a] = Other
		}
		if t.left[v[w]] {
			v[w] = OtherWorkspaces
		}
	})
	for w := range t.left {
		delete(t.spaces, w)
		if n, there := t.covered[w]; there {
			all := t.covered[OtherWorkspaces]
			t.covered[OtherWorkspaces] = [2]float64{all[0] + n[0], all[1] + n[1]}
			delete(t.covered, w)
		}
	}
	clear(t.gone)
	clear(t.left)
	return true
}
