package refused

import (
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

// tools are the calls of tools that help, with $ for the id; empty for what only the user can do, in a shell.
var tools = map[help.Call]string{
	"accept": "{accept} handoff=$", "reject": "{reject} handoff=$", "confirm": "{decide} id=$ verdict=confirm", "approve": "{decide} id=$ verdict=approve",
	"deny": "{decide} id=$ verdict=deny", "handoff show": "{status} id=$", "handoff withdraw": "{cancel} id=$", "handoff content": "{status} id=$",
	"request approve": "{decide} id=$ verdict=approve", "request deny": "{decide} id=$ verdict=deny", "share content": "{status} id=$",
	"ticket show": "{status} id=$", "ticket wait": "{status} id=$ wait=45", "ticket answer": "{decide} id=$ verdict=answer",
	"ticket approve": "{decide} id=$ verdict=approve", "ticket deny": "{decide} id=$ verdict=deny", "ticket claim": "{decide} id=$ verdict=claim",
	"ticket release": "{decide} id=$ verdict=release", "ticket list": "",

	"task list": "{status} without an id", "task show": "{status} id=$", "task wait": "{status} id=$ wait=45", "task create": "{send} with an intent, without a task",
	"task start": "", "task heartbeat": "{progress} task=$", "task progress": "{progress} task=$", "task complete": "{complete} task=$", "task cancel": "{cancel} id=$",
	"task budget": "{constrain} task=$", "task constrain": "{constrain} task=$", "task lift": "{constrain} task=$ lift=ID", "task context": "{accept} handoff=$",
	"envelope show": "{status} id=$", "envelope preview": "", "audit show": "{status} id=$ history=true", "send": "{send} task=$", "takeover": "{accept} takeover=$",
	"escalate": "{escalate} task=$", "dead list": "{dead} action=list", "dead replay": "{dead} action=replay task=$", "dead discard": "{dead} action=discard task=$",
	"inbox": "{inbox}", "inbox wait": "{inbox} wait=45",

	"memory search": "{recall} with a query", "memory get": "{recall} id=$", "memory add": "{remember}", "memory revise": "{remember} revise=$",
	"memory pin": "{remember} pin=$", "memory unpin": "{remember} unpin=$", "memory forget": "{remember} forget=$", "artifact put": "{artifact} with text",
	"conversation list": "", "conversation log": "{conversation} with say", "conversation continue": "{conversation}", "channel list": "{channel}",
	"channel create": "{channel} action=create name=$", "channel subscribe": "{join} channels=$",

	"agent list": "{join}", "agent add": "{agent} agent=$ action=register", "agent ready": "{agent} agent=$ action=announce readiness=ready", "alerts list": "{alerts}",
	"alerts end-silence": "{alerts} action=end silence=$", "token list": "", "token create": "", "audit export": "", "audit checkpoint": "", "hold list": "",
	"hold lift": "", "policy check": "", "policy reload": "", "workspace list": "", "workspace create": "", "workspace limit": "", "workspace restore": "",
	"cluster status": "", "cluster add": "", "cluster drain": "", "cluster resume": "", "cluster remove": "", "serve": "", "stop": "", "doctor": "",
	help.Describe: "see the input schema of the tool", help.ActAs: "",
}

// hint returns the hint of a refusal with the tools, or their arguments, that do what it says.
func (c Call) hint(e *client.Error) string {
	var helps []help.Help
	for _, h := range e.Helps {
		helps = append(helps, help.Help{Words: h.Words, Call: help.Call(h.Call), ID: h.ID, Fields: h.Fields})
	}
	return help.Explain(e.Hint, helps, c.words)
}

// words are those for one thing that helps; "" if a model cannot do it, nor have it done.
func (c Call) words(h help.Help) string {
	if h.Call == "" {
		return "argument " + strings.Join(c.names(h.Fields), ", ")
	}
	text, _, _ := strings.Cut(tools[h.Call], " ")
	switch own := strings.Trim(text, "{}"); {
	case own != text && c.Set.Has(own):
		text = strings.ReplaceAll(c.Set.Text(tools[h.Call]), "$", h.Subject())
		if names := c.names(h.Fields); names != nil {
			text += " with " + strings.Join(names, ", ")
		}
		return text
	case h.Call == help.Describe:
		return tools[h.Call]
	case h.Words == "" || h.Call == help.ActAs || !h.Call.Valid():
		return ""
	}
	return "your user can run: " + h.Command()
}

// names are the arguments of tools for fields, with the values that the refusal knows.
func (c Call) names(fields map[string]string) (list []string) {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		name := field
		if of := arguments[field]; of != nil {
			name = of[0]
		}
		if value := fields[field]; value != "" {
			name += "=" + value
		}
		list = append(list, name)
	}
	return list
}
