package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Costs, in CEL's units; a unit is some tens of nanoseconds at most.
const (
	MaxCost      = 200_000   // of one expression
	MaxTotalCost = 2_000_000 // of all expressions of one matching
)

// variable is something that expressions may speak of.
type variable struct {
	name string
	of   *cel.Type
	doc  string
	from func(*Situation) any
}

var texts = cel.ListType(cel.StringType)

// variables are all that there is: an expression that names anything else is refused.
var variables = []variable{
	{"task.id", cel.StringType, "the task's id", func(s *Situation) any { return s.Task.ID }},
	{"task.intent", cel.StringType, "the original request, word for word", func(s *Situation) any { return s.Task.Intent }},
	{"task.tags", texts, "its tags", func(s *Situation) any { return s.Task.Tags }},
	{"task.priority", cel.StringType, "low, normal, high or urgent", func(s *Situation) any { return string(s.Task.Priority) }},
	{"task.state", cel.StringType, "such as pending or executing", func(s *Situation) any { return string(s.Task.State) }},
	{"task.requester", cel.StringType, "the principal that created it, such as agent/router", func(s *Situation) any { return s.Task.Requester }},
	{"task.parent", cel.StringType, "the task that it is a part of; empty if none", func(s *Situation) any { return s.Task.Parent }},
	{"task.steps", cel.IntType, "progress reports, decisions handed over and changes of owner, together", func(s *Situation) any { return s.Task.Steps }},
	{"task.hops", cel.IntType, "changes of owner", func(s *Situation) any { return s.Task.Hops }},
	{"task.handoffs", cel.IntType, "handoffs that were asked for", func(s *Situation) any { return s.Task.Handoffs }},
	{"task.escalations", cel.IntType, "how often it was escalated", func(s *Situation) any { return s.Task.Escalations }},
	{"task.tokens", cel.IntType, "tokens spent, as reported", func(s *Situation) any { return s.Task.Tokens }},
	{"task.cost_micros", cel.IntType, "cost, in millionths, as reported", func(s *Situation) any { return s.Task.Cost }},
	{"task.budget_tokens", cel.IntType, "tokens that it may spend; 0: not limited", func(s *Situation) any { return s.Task.Budget.Tokens }},
	{"task.budget_cost_micros", cel.IntType, "cost that it may have, in millionths; 0: not limited", func(s *Situation) any { return s.Task.Budget.Cost }},
	{"task.elapsed", cel.DurationType, "time since it was created", func(s *Situation) any { return time.Duration(s.Task.Elapsed) }},
	{"task.progress", cel.StringType, "the newest progress note", func(s *Situation) any { return s.Task.Progress }},
	{"task.permissions", texts, "its permissions", func(s *Situation) any { return s.Task.Permissions }},
	{"agent.name", cel.StringType, "the agent that holds the task; empty if nobody does", func(s *Situation) any { return s.Agent.Name }},
	{"agent.kind", cel.StringType, "agent or human", func(s *Situation) any { return s.Agent.Kind }},
	{"agent.capabilities", texts, "what it can do", func(s *Situation) any { return s.Agent.Capabilities }},
	{"agent.readiness", cel.StringType, "ready, busy, draining or offline", func(s *Situation) any { return s.Agent.Readiness }},
	{"agent.held", cel.IntType, "tasks that it holds", func(s *Situation) any { return s.Agent.Held }},
	{"agent.max_tasks", cel.IntType, "tasks that it may hold; 0: not limited", func(s *Situation) any { return s.Agent.MaxTasks }},
	{"agent.failures", cel.IntType, "its failures in a row", func(s *Situation) any { return s.Agent.Failures }},
	{"agent.context_window", cel.IntType, "tokens; 0: not known", func(s *Situation) any { return s.Agent.ContextWindow }},
	{"envelope.state", cel.StringType, "where the work stands", func(s *Situation) any { return s.Envelope.State }},
	{"envelope.ask", cel.StringType, "what the receiver must accomplish", func(s *Situation) any { return s.Envelope.Ask }},
	{"envelope.summary", cel.StringType, "what was said so far", func(s *Situation) any { return s.Envelope.Summary }},
	{"envelope.facts", texts, "the texts of the facts", func(s *Situation) any { return s.Envelope.Facts }},
	{"envelope.decisions", texts, "the texts of the decisions", func(s *Situation) any { return s.Envelope.Decisions }},
	{"envelope.open_questions", texts, "the open questions", func(s *Situation) any { return s.Envelope.OpenQuestions }},
	{"envelope.confidence", cel.DoubleType, "how sure the sender is, 0 to 1; -1 if it did not say", confidence},
	{"envelope.data", cel.DynType, "any JSON that goes along; an empty object if none", data},
}

func confidence(s *Situation) any {
	if s.Envelope.Confidence == nil {
		return -1.0
	}
	return *s.Envelope.Confidence
}

func data(s *Situation) any {
	var v any
	if len(s.Envelope.Data) > event.MaxData || json.Unmarshal(s.Envelope.Data, &v) != nil || v == nil {
		return map[string]any{}
	}
	return v
}

var byName = func() map[string]*variable {
	m := make(map[string]*variable, len(variables))
	for i := range variables {
		m[variables[i].name] = &variables[i]
	}
	return m
}()

// Variable describes something that expressions may speak of.
type Variable struct{ Name, Type, Doc string }

// Variables lists all that expressions may speak of.
func Variables() []Variable {
	list := make([]Variable, len(variables))
	for i, v := range variables {
		list[i] = Variable{Name: v.name, Type: v.of.String(), Doc: v.doc}
	}
	return list
}

// environment is made once: it takes about a millisecond.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ParserRecursionLimit(50), cel.ParserExpressionSizeLimit(MaxExpression), cel.EagerlyValidateDeclarations(true),
	}
	for _, v := range variables {
		options = append(options, cel.Variable(v.name, v.of))
	}
	return cel.NewEnv(options...)
})

// compiler compiles the expressions of a file.
type compiler struct {
	env *cel.Env
	err error
}

func newCompiler() *compiler {
	env, err := environment()
	return &compiler{env, err}
}

// issue is something that is wrong with an expression, and where in it, from 1.
type issue struct {
	line, column int
	text         string
	hint         string
}

// anyHint is what to do about what is wrong with an expression, if nothing better is known.
const anyHint = "see docs/policy.md for what expressions may use"

// program is an expression that was compiled. It is safe for many goroutines.
type program struct{ cel.Program }

func (c *compiler) compile(expression string) (*program, []issue) {
	whole := func(err error) (*program, []issue) { return nil, []issue{{1, 1, err.Error(), anyHint}} }
	if c.err != nil {
		return whole(c.err)
	}
	ast, found := c.env.Compile(expression)
	if err := found.Err(); err != nil {
		var list []issue
		for _, e := range found.Errors() {
			i := issue{max(e.Location.Line(), 1), max(e.Location.Column()+1, 1), inWords(e.Message), anyHint}
			i.undeclared(expression)
			list = append(list, i)
		}
		if list == nil {
			return whole(err)
		}
		return nil, list
	}
	if of := ast.OutputType(); !of.IsEquivalentType(cel.BoolType) && !of.IsEquivalentType(cel.DynType) {
		return whole(fmt.Errorf("the expression must be true or false; this one is %s", of))
	}
	p, err := c.env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(MaxCost))
	if err != nil {
		return whole(err)
	}
	return &program{p}, nil
}

// undeclared says which fields there are, where an expression names one that is not.
func (i *issue) undeclared(expression string) {
	const before = "undeclared reference to '"
	name, rest, ok := strings.Cut(strings.TrimPrefix(i.text, before), "'")
	if !ok || !strings.HasPrefix(i.text, before) {
		return
	}
	lines := strings.Split(expression, "\n")
	if i.line <= len(lines) && !strings.Contains(name, ".") { // CEL names only where the way into nowhere begins
		if runes := []rune(lines[i.line-1]); i.column <= len(runes) {
			name = fieldPath.FindString(string(runes[i.column-1:]))
		}
		i.text = before + name + "'" + rest
	}
	of, _, _ := strings.Cut(name, ".")
	var fields []string
	for _, v := range variables {
		if field, is := strings.CutPrefix(v.name, of+"."); is {
			fields = append(fields, field)
		}
	}
	if i.hint = of + " has " + strings.Join(fields, ", "); fields == nil {
		i.hint = "use the fields of task, agent and envelope; " + anyHint
	}
}

// fieldPath is a name with the fields behind it.
var fieldPath = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*`)

// inWords is the first line of CEL's message, without what says nothing here.
func inWords(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	return strings.Replace(message, " (in container '')", "", 1)
}

// holds reports whether the expression is true, and what it cost. That bounds its time, too: to some milliseconds.
func (p *program) holds(of *activation) (bool, uint64, error) {
	out, details, err := p.Eval(of)
	var cost uint64
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if err != nil {
		return false, max(cost, 1), err
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, cost, errors.New("it is neither true nor false")
	}
	return b, cost, nil
}

// activation answers an expression's questions about a situation, each value made once.
type activation struct {
	of    *Situation
	known map[string]any
}

var _ interpreter.Activation = (*activation)(nil)

// ResolveName implements CEL's activation.
func (a *activation) ResolveName(name string) (any, bool) {
	if v, ok := a.known[name]; ok {
		return v, true
	}
	of, ok := byName[name]
	if !ok {
		return nil, false
	}
	v := of.from(a.of)
	a.known[name] = v
	return v, true
}

// Parent implements CEL's activation.
func (*activation) Parent() interpreter.Activation { return nil }
