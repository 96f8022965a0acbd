package hintroute

import (
	"net/url"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/help"
)

// most is how many routes a refusal names.
const most = 6

// Of returns the routes of what helps, as method and path, in its order, each once, with the ids that are known; nil if there are none.
func Of(helps []help.Help) (out []string) {
	for _, h := range helps {
		for _, route := range routes[h.Call] {
			if h.ID != "" {
				route = strings.Replace(route, "{id}", url.PathEscape(h.ID), 1)
			}
			if len(out) < most && !slices.Contains(out, route) {
				out = append(out, route)
			}
		}
	}
	return out
}

// routes are those of every call; none of a call on the machine of the server, or that is the same call again.
var routes = map[help.Call][]string{
	"accept":           {"POST /v1/handoffs/{id}/accept"},
	"reject":           {"POST /v1/handoffs/{id}/reject"},
	"confirm":          {"POST /v1/handoffs/{id}/confirm"},
	"approve":          {"POST /v1/handoffs/{id}/approve"},
	"deny":             {"POST /v1/handoffs/{id}/deny"},
	"handoff show":     {"GET /v1/handoffs/{id}"},
	"handoff withdraw": {"POST /v1/handoffs/{id}/withdraw"},
	"handoff content":  {"GET /v1/handoffs/{id}/content"},
	"request approve":  {"POST /v1/asks/{id}/approve"},
	"request deny":     {"POST /v1/asks/{id}/deny"},
	"share content":    {"GET /v1/shares/{id}/content"},
	"ticket list":      {"GET /v1/tickets"},
	"ticket show":      {"GET /v1/tickets/{id}"},
	"ticket wait":      {"GET /v1/tickets/{id}"},
	"ticket answer":    {"POST /v1/tickets/{id}/answer"},
	"ticket approve":   {"POST /v1/tickets/{id}/approve"},
	"ticket deny":      {"POST /v1/tickets/{id}/deny"},
	"ticket claim":     {"POST /v1/tickets/{id}/claim"},
	"ticket release":   {"POST /v1/tickets/{id}/release"},

	"task list":        {"GET /v1/tasks"},
	"task show":        {"GET /v1/tasks/{id}"},
	"task wait":        {"GET /v1/tasks/{id}"},
	"task create":      {"POST /v1/tasks"},
	"task start":       {"POST /v1/tasks/{id}/start"},
	"task heartbeat":   {"POST /v1/tasks/{id}/heartbeat"},
	"task progress":    {"POST /v1/tasks/{id}/progress"},
	"task complete":    {"POST /v1/tasks/{id}/complete"},
	"task cancel":      {"POST /v1/tasks/{id}/cancel"},
	"task budget":      {"POST /v1/tasks/{id}/budget"},
	"task constrain":   {"POST /v1/tasks/{id}/constraints"},
	"task lift":        {"DELETE /v1/tasks/{id}/constraints/{constraint}"},
	"task context":     {"GET /v1/tasks/{id}/content"},
	"envelope show":    {"GET /v1/tasks/{id}/content"},
	"envelope preview": {"POST /v1/tasks/{id}/preview"},
	"audit show":       {"GET /v1/tasks/{id}/trail"},
	"send":             {"POST /v1/tasks/{id}/send"},
	"takeover":         {"POST /v1/tasks/{id}/takeover"},
	"escalate":         {"POST /v1/tasks/{id}/escalate"},
	"dead list":        {"GET /v1/dead"},
	"dead replay":      {"POST /v1/dead/{id}/replay"},
	"dead discard":     {"POST /v1/dead/{id}/discard"},
	"inbox":            {"GET /v1/inbox"},
	"inbox wait":       {"GET /v1/inbox"},

	"memory search":         {"GET /v1/memory"},
	"memory get":            {"GET /v1/memory/{id}"},
	"memory add":            {"POST /v1/memory"},
	"memory revise":         {"POST /v1/memory/{id}/revise"},
	"memory pin":            {"POST /v1/memory/{id}/pin"},
	"memory unpin":          {"POST /v1/memory/{id}/unpin"},
	"memory forget":         {"POST /v1/memory/{id}/forget"},
	"artifact put":          {"PUT /v1/artifacts"},
	"conversation list":     {"GET /v1/conversations"},
	"conversation log":      {"POST /v1/conversations/{id}/turns"},
	"conversation continue": {"GET /v1/conversations/{id}/continuity"},
	"channel list":          {"GET /v1/channels"},
	"channel create":        {"POST /v1/channels"},
	"channel subscribe":     {"POST /v1/channels/{id}/subscribe"},

	"agent list":         {"GET /v1/agents"},
	"agent add":          {"PUT /v1/agents/{id}"},
	"agent ready":        {"PUT /v1/agents/{id}/readiness"},
	"alerts list":        {"GET /v1/alerts"},
	"alerts end-silence": {"DELETE /v1/alerts/silences/{id}"},
	"token list":         {"GET /v1/tokens"},
	"token create":       {"POST /v1/tokens"},
	"audit export":       {"GET /v1/audit/export"},
	"audit checkpoint":   {"GET /v1/proof/checkpoint"},
	"hold list":          {"GET /v1/erasures"},
	"hold lift":          {"POST /v1/holds/lift"},
	"policy check":       {"POST /v1/policy/check"},
	"policy reload":      {"POST /v1/policy/reload"},
	"workspace list":     {"GET /v1/workspaces"},
	"workspace create":   {"POST /v1/workspaces"},
	"workspace limit":    {"POST /v1/workspaces/{id}/limits"},
	"workspace restore":  {"POST /v1/workspaces/{id}/restore"},
	"cluster status":     {"GET /v1/cluster"},
	"cluster drain":      {"POST /v1/cluster/nodes/{id}/drain"},
	"cluster resume":     {"POST /v1/cluster/nodes/{id}/resume"},
	"cluster remove":     {"POST /v1/cluster/nodes/{id}/remove"},
	help.Describe:        {"GET /openapi.json"},

	"cluster add": nil, "serve": nil, "stop": nil, "doctor": nil, help.ActAs: nil,
}
