package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Parse reads a policy file. file is its name in problems. A file with any problem gives no policy.
func Parse(file string, text []byte) (*Policy, Problems) {
	r := &reader{file: file, places: places{}}
	p := &Policy{}
	r.document(text, p)
	c := checker{reader: r, Policy: p, lines: bytes.Split(text, []byte("\n"))}
	if len(r.problems) == 0 {
		c.checkAll()
	}
	if len(r.problems) > 0 {
		return nil, r.problems.sorted()
	}
	p.digest, p.at = DigestOf(text), r.places
	return p, nil
}

// checker finds what is wrong with a file whose shape is right.
type checker struct {
	*reader
	*Policy
	lines [][]byte // of the text
}

func (c *checker) checkAll() {
	if c.Version != Version {
		c.sayAt("version", fmt.Sprintf("write version: %d", Version), "there is no version %d of the format", c.Version)
	}
	c.checkChains()
	c.checkEscalation()
	c.checkFallbacks()
	c.checkRules()
	c.checkLLM()
	c.checkEmbeddings()
	c.checkAlerts()
	c.checkRetention()
}

// name refuses what cannot be a name, and reports whether it can.
func (c *checker) name(path, what, s string) bool {
	err := event.CheckName(what, s)
	c.refused(path, err)
	return err == nil
}

func (c *checker) most(path, what string, n, most int) bool {
	if n > most {
		c.sayAt(path, fmt.Sprintf("at most %d", most), "%d %s are too many", n, what)
	}
	return n <= most
}

func (c *checker) checkRules() {
	if !c.most("rules", "rules", len(c.Rules), MaxRules) {
		return
	}
	compile := newCompiler()
	c.exact = make([]condition, len(c.Rules))
	first, always := map[string]int{}, ""
	for i := range c.Rules {
		rule, path := &c.Rules[i], fmt.Sprintf("rules[%d]", i)
		if c.name(path+".name", "the rule's name", rule.Name) {
			if n, ok := first[rule.Name]; ok {
				c.sayAt(path+".name", "give each rule a name of its own", "the rule in line %d has the name %s already", c.places[fmt.Sprintf("rules[%d].name", n)].line, rule.Name)
			} else {
				first[rule.Name] = i
			}
		}
		if always != "" {
			c.sayAt(path, "put the rule without conditions last", "this rule is never reached: rule %s always matches", always)
			always = ""
		}
		if rule.When.empty() && i < len(c.Rules)-1 {
			always = rule.Name
		}
		c.checkWhen(path+".when", &rule.When)
		c.checkThen(path+".then", &rule.Then)
		c.exact[i] = condition{words: wordsOf(rule.When.Keywords)}
		if rule.When.CEL != "" {
			c.exact[i].program = c.compile(compile, path+".when.cel", rule.When.CEL)
		}
	}
}

func (w When) empty() bool {
	return len(w.Keywords) == 0 && len(w.Tags) == 0 && w.ConfidenceBelow == nil && w.StepsAbove == nil && w.TokensAbove == nil &&
		w.ElapsedAbove == 0 && len(w.From) == 0 && w.CEL == ""
}

func (c *checker) checkWhen(path string, w *When) {
	if c.most(path+".keywords", "keywords", len(w.Keywords), MaxWords) {
		for i, k := range w.Keywords {
			at := fmt.Sprintf("%s.keywords[%d]", path, i)
			c.refused(at, event.CheckText("a keyword", k, MaxWord))
			if normal(k) == "" {
				c.sayAt(at, "use letters or digits", "%.80q has no word in it", k)
			}
		}
	}
	c.refused(path+".tags", event.CheckLabels("a tag", w.Tags, MaxTags))
	if b := w.ConfidenceBelow; b != nil && !(*b > 0 && *b <= 1) {
		c.sayAt(path+".confidence_below", "use a number above 0, up to 1", "no confidence is below %v", *b)
	}
	if w.StepsAbove != nil && *w.StepsAbove < 0 || w.TokensAbove != nil && *w.TokensAbove < 0 {
		at := path + ".steps_above"
		if w.TokensAbove != nil && *w.TokensAbove < 0 {
			at = path + ".tokens_above"
		}
		c.sayAt(at, "use 0 or more", "nothing has fewer than none")
	}
	c.refused(path+".elapsed_above", w.ElapsedAbove.Check("elapsed_above"))
	if c.most(path+".from", "agents", len(w.From), MaxFrom) {
		for i, a := range w.From {
			c.name(fmt.Sprintf("%s.from[%d]", path, i), "agent name", a)
		}
	}
	for _, l := range []struct {
		name  string
		empty bool
	}{{"keywords", w.Keywords != nil && len(w.Keywords) == 0}, {"tags", w.Tags != nil && len(w.Tags) == 0}, {"from", w.From != nil && len(w.From) == 0}} {
		if l.empty {
			c.sayAt(path+"."+l.name, "name something, or leave it out", "the list is empty")
		}
	}
}

func (c *checker) checkThen(path string, t *Then) {
	if t.Keep {
		return
	}
	to := t.To
	set := c.oneOf(path+".to", []choice{
		{"agent", to.Agent}, {"capability", to.Capability}, {"channel", to.Channel}, {"chain", to.Chain}, {"human", to.Human},
	})
	if set == "chain" && c.Chains[to.Chain] == nil {
		c.sayAt(path+".to.chain", "define it under chains", "there is no chain %s", to.Chain)
	}
	t.Kind = c.kind(path, t, set)
	if t.Reason == "" {
		t.Reason = event.ReasonSpecialization
		if set == "chain" || set == "human" {
			t.Reason = event.ReasonEscalation
		}
	}
	c.refused(path+".detail", event.CheckText("the detail", t.Detail, MaxDetail))
	c.refused(path+".pack", t.Pack.FactPack().Check())
	if t.Approver != "" {
		c.name(path+".supervised_by", "agent name", t.Approver)
		if t.Approver == t.To.Agent {
			c.sayAt(path+".supervised_by", "name another agent", "%s cannot approve what it is to receive", t.Approver)
		}
	}
}

// kind is the kind of handoff that a rule makes. One that its target cannot have is a problem.
func (c *checker) kind(path string, t *Then, to string) event.Kind {
	kind, fits := t.Kind, []event.Kind{event.Warm, event.Cold, event.Supervised}
	switch to {
	case "agent":
		fits = append(fits, event.Delegation)
	case "capability":
		fits = append(fits, event.Delegation, event.Broadcast)
	case "channel":
		fits = []event.Kind{event.Broadcast}
	case "human":
		fits = fits[:2] // people say themselves whether they take it
	}
	if kind == "" {
		kind = fits[0]
		if t.Approver != "" {
			kind = event.Supervised
		}
	}
	if t.Approver != "" && kind != event.Supervised {
		c.sayAt(path+".supervised_by", "use the kind supervised, or leave it out", "a %s handoff has no approver", kind)
	} else if to != "" && !slices.Contains(fits, kind) {
		c.sayAt(path+".kind", fmt.Sprintf("use one of %s", listed(fits)), "a handoff to %s %s cannot be %s", article(to), to, kind)
	}
	return kind
}

func article(word string) string {
	if strings.HasPrefix(word, "a") {
		return "an"
	}
	return "a"
}

func listed(kinds []event.Kind) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return strings.Join(list, ", ")
}

// choice is one of several fields of which exactly one is set.
type choice struct{ name, value string }

// oneOf is which one is set; "" and a problem unless exactly one is, with a name.
func (c *checker) oneOf(path string, choices []choice) (set string) {
	var names []string
	for _, x := range choices {
		names = append(names, x.name)
		if _, given := c.places[path+"."+x.name]; !given {
			continue
		}
		if set != "" {
			c.sayAt(path+"."+x.name, "name one of "+strings.Join(names, ", "), "%s and %s are both given", set, x.name)
			return ""
		}
		set = x.name
		if !c.name(path+"."+x.name, x.name, x.value) {
			return ""
		}
	}
	if set == "" {
		c.sayAt(path, "name one of "+strings.Join(names, ", "), "nobody is named")
	}
	return set
}

// compile compiles an expression. What is wrong with it is reported where it stands in the file.
func (c *checker) compile(with *compiler, path, expression string) *program {
	if len(expression) > MaxExpression {
		c.sayAt(path, fmt.Sprintf("at most %d bytes", MaxExpression), "the expression has %d bytes", len(expression))
		return nil
	}
	p, issues := with.compile(expression)
	at := c.places[path]
	for _, i := range issues {
		c.say(c.within(at, expression, i), path, i.hint, "%s", i.text)
	}
	return p
}

// within is where in the file a position within a scalar is; that of the scalar, where its lines were folded.
func (c *checker) within(at place, text string, i issue) place {
	switch {
	case at.style&yaml.LiteralStyle != 0:
		line := at.line + i.line
		if line > len(c.lines) {
			return at
		}
		indent := len(c.lines[line-1]) - len(bytes.TrimLeft(c.lines[line-1], " "))
		return place{line: line, column: indent + i.column}
	case at.style&yaml.FoldedStyle != 0 || strings.Contains(text, "\n"):
		return at
	case at.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return place{line: at.line, column: at.column + i.column}
	}
	return place{line: at.line, column: at.column + i.column - 1}
}
