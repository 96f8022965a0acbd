package resource

import (
	"context"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

const (
	mostValues = 100 // of one completion; the limit of the protocol
	mostRows   = 500 // of a list that values are taken from
)

// sort is the kind of value of an argument or a variable.
type sort int

const (
	free sort = iota // any text
	anAgent
	aTask
	aHandoff
	aCapability
)

// variables are the variables of the templates, by the name of the resource.
var variables = map[string]map[string][]sort{
	"task-state": {"id": {aTask}}, "task-history": {"id": {aTask}}, "task-drift": {"id": {aTask}}, "handoff-context": {"id": {aHandoff}},
	"sealed-envelope": {"id": {aTask, aHandoff}}, "memory-item": {"task": {aTask}},
}

// complete lists values for an argument of a prompt or a variable of a template; values that begin with the text come first.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	sorts, err := sortsOf(req.Params)
	if err != nil {
		return nil, err
	}
	var all []string
	more := false
	for _, x := range sorts {
		values, cut, err := s.values(ctx, x)
		if err != nil {
			return nil, refused(ctx, "", err)
		}
		all, more = append(all, values...), more || cut
	}
	found := fitting(all, req.Params.Argument.Value)
	d := mcp.CompletionResultDetails{Values: found, Total: len(found), HasMore: more}
	if more {
		d.Total = 0 // unknown
	}
	if len(found) > mostValues {
		d.Values, d.HasMore = found[:mostValues], true
	}
	return &mcp.CompleteResult{Completion: d}, nil
}

// sortsOf returns the kinds of value that a request completes.
func sortsOf(p *mcp.CompleteParams) ([]sort, error) {
	switch p.Ref.Type {
	case "ref/prompt":
		for _, x := range prompts {
			if x.name != p.Ref.Name {
				continue
			}
			for _, a := range x.arguments {
				if a.name == p.Argument.Name {
					return a.sorts, nil
				}
			}
			return nil, invalid("the prompt %s has no argument %.40q", x.name, p.Argument.Name)
		}
		return nil, invalid("there is no prompt %.40q", p.Ref.Name)
	case "ref/resource":
		for _, e := range resources {
			if plain, _, _ := strings.Cut(e.uri, "{?"); e.uri == p.Ref.URI || plain == p.Ref.URI {
				return variables[e.name][p.Argument.Name], nil
			}
		}
		return nil, invalid("there is no resource template %.80q", p.Ref.URI)
	}
	return nil, invalid("ref.type is %.40q; use ref/prompt or ref/resource", p.Ref.Type)
}

// values returns all values of a kind, likely ones first, and whether there are more.
func (s *Server) values(ctx context.Context, x sort) (list []string, more bool, err error) {
	switch x {
	case anAgent, aCapability:
		known, err := s.client.Agents(ctx)
		if err != nil {
			return nil, false, err
		}
		for _, a := range known.Agents {
			if x == anAgent {
				list = append(list, a.Name)
			} else {
				list = append(list, a.Spec.Capabilities...)
			}
		}
		slices.Sort(list)
		return slices.Compact(list), false, nil
	case aTask, aHandoff:
		for _, live := range []bool{true, false} {
			page, err := s.client.Tasks(ctx, client.TaskFilter{Live: live, Limit: mostRows})
			if err != nil {
				return nil, false, err
			}
			for _, t := range page.Tasks {
				switch id := t.ID; {
				case !live && !t.State.Final(): // listed already
				case x == aTask:
					list = append(list, id)
				case t.Handoff != "":
					list = append(list, t.Handoff)
				}
			}
			more = more || page.Next != ""
		}
		return list, more, nil
	case free:
	}
	return nil, false, nil
}

// fitting returns the values that begin with a text, then those that contain it, each in their order.
func fitting(values []string, text string) []string {
	text = strings.ToLower(text)
	begin, have := []string{}, []string{}
	for _, v := range values {
		switch low := strings.ToLower(v); {
		case strings.HasPrefix(low, text):
			begin = append(begin, v)
		case strings.Contains(low, text):
			have = append(have, v)
		}
	}
	return append(begin, have...)
}
