package webpage

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
)

// policyPage is the policy in force, those before it, and what they have decided.
type policyPage struct {
	InForce   *admin.Policy // nil: there is none
	Versions  []admin.Policy
	Filter    admin.DecisionFilter
	Decisions []admin.Decided
	Next      string // the address of the decisions before; empty: there are none
}

// versionsShown is how many policies, and decisionsShown how many decisions, are on a page.
const (
	versionsShown  = 10
	decisionsShown = 50
)

func (v *visit) policy(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	body := policyPage{Filter: admin.DecisionFilter{Rule: strings.TrimSpace(q.Get("rule")), Policy: q.Get("policy"), Limit: decisionsShown}}
	if text := q.Get("before"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return form.Invalid(fmt.Sprintf("%.20q is not a position of the record", text), "go back to the policy")
		}
		body.Filter.Before = n
	}
	switch p, err := v.admin.Policy(ctx); {
	case err == nil:
		body.InForce = &p
	case !errors.Is(err, client.NotFound):
		return err
	}
	list, err := v.admin.Policies(ctx, 0)
	if err != nil {
		return err
	}
	body.Versions = list[:min(len(list), versionsShown)]
	found, err := v.admin.Decisions(ctx, body.Filter)
	if err != nil {
		return err
	}
	body.Decisions = found.Decisions
	about := make([]string, len(found.Decisions))
	for i := range about {
		about[i] = found.Decisions[i].Task
	}
	if found.Next > 0 {
		q.Set("before", strconv.FormatUint(found.Next, 10))
		body.Next = "/policy?" + q.Encode()
	}
	return v.show(w, r, "policy", page{Title: "Policy", Live: everything, About: about, Body: body})
}

// route asks the policy where a task would go now, and why. It is for those who could hand it off, and changes nothing.
func (v *visit) route(w http.ResponseWriter, r *http.Request) error {
	got, err := v.api.Route(r.Context(), r.PathValue("task"), client.RouteInput{})
	if err != nil {
		return err
	}
	return v.show(w, r, "route", page{Title: "Where the policy sends it", Live: everything, Body: got})
}

// receiver is what a decision names, in words.
func receiver(to client.Receiver) string {
	for _, named := range [][2]string{{"", to.Agent}, {"capability ", to.Capability}, {"channel ", to.Channel}, {"chain ", to.Chain}, {"desk ", to.Desk}} {
		if named[1] != "" {
			return named[0] + named[1]
		}
	}
	return "its owner"
}

// handoffPath is the page of a handoff.
func handoffPath(id string) string {
	if to := pathOf(id); to != "" {
		return to
	}
	return "/find?q=" + url.QueryEscape(id)
}
