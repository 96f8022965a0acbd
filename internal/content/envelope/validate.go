package envelope

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/tracecontext"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Validate checks every field against the rules and limits of this package, but not the size of the whole, which [Seal]
// checks. The error is a [refusal.Error] that names the field and says what to do.
func (e *Envelope) Validate() error {
	if err := e.checkFields(); err != nil {
		return err
	}
	return e.checkFreeJSON()
}

// checkFields checks everything but the content of free JSON.
func (e *Envelope) checkFields() error {
	var c checker
	e.checkFrame(&c)
	e.Handoff.check(&c)
	e.TextBy.check(&c)
	e.Task.check(&c)
	c.text("conversation_summary", e.ConversationSummary, MaxText)
	c.items("key_facts", e.KeyFacts)
	c.items("decisions", e.Decisions)
	c.texts("open_questions", e.OpenQuestions, MaxItems, MaxItemText)
	e.checkHistory(&c)
	e.checkConstraints(&c)
	e.ExpectedOutput.check(&c)
	e.checkRefs(&c)
	return c.err
}

// checkFreeJSON checks the content of free JSON. Seal finds the same faults by itself and calls this for their place.
func (e *Envelope) checkFreeJSON() error {
	var c checker
	c.json("task.data", e.Task.Data)
	c.json("expected_output.schema", e.ExpectedOutput.Schema)
	if !e.hasExtra() {
		return c.err
	}
	for _, p := range e.parts() {
		for field, raw := range *p.extra {
			c.json(p.path(field), raw)
		}
	}
	return c.err
}

func (e *Envelope) checkFrame(c *checker) {
	if e.Version != "" {
		if _, err := checkVersion(e.Version); err != nil {
			c.fail(err)
		}
	}
	if raw, err := hex.DecodeString(e.Salt); e.Salt != "" &&
		(err != nil || !isLowerHex(e.Salt) || len(raw) < MinSalt || len(raw) > MaxSalt) {
		c.invalid("salt", "omit it: the server sets it", "is not %d to %d bytes in lower-case hex", MinSalt, MaxSalt)
	}
	if e.Parent != "" && !ValidDigest(e.Parent) {
		c.invalid("parent", "give the digest of the earlier envelope, sha256:…", "%.80q is not a digest", e.Parent)
	}
	c.time("created_at", e.CreatedAt)
	c.time("expires_at", e.ExpiresAt)
	c.time("task.deadline", e.Task.Deadline)
	if !e.ExpiresAt.IsZero() && !micro(e.ExpiresAt).After(micro(e.CreatedAt)) {
		c.invalid("expires_at", "choose a later time or omit it", "is not after created_at")
	}
	c.member("priority", new(event.Priority), string(e.Priority))
	c.between("hops", e.Hops, MaxHops)
	if f := e.Confidence; f != nil && !(*f >= 0 && *f <= 1) { // also refuses NaN
		c.invalid("confidence", "give a number from 0 to 1 or omit it", "%v is out of range", *f)
	}
	if p := e.Trace.Parent; p != "" && !tracecontext.ValidParent(p) {
		c.invalid("trace.traceparent", "omit it or send W3C trace context", "%.80q is not a traceparent", p)
	}
	if !tracecontext.ValidState(e.Trace.State) {
		c.invalid("trace.tracestate", "omit it or send W3C trace context", "is not at most 512 printable ASCII characters")
	}
}

func (a *Authors) check(c *checker) {
	c.optionalName("text_by.ask", a.Ask)
	c.optionalName("text_by.state", a.State)
	c.optionalName("text_by.data", a.Data)
	c.optionalName("text_by.conversation_summary", a.Summary)
	c.optionalName("text_by.open_questions", a.Questions)
	c.optionalName("text_by.notes", a.Notes)
}

func (h *Header) check(c *checker) {
	c.name("handoff.task_id", h.TaskID)
	c.optionalName("handoff.handoff_id", h.HandoffID)
	c.name("handoff.from", h.From)
	c.names("handoff.to", h.To, MaxTo)
	c.member("handoff.reason", new(event.Reason), string(h.Reason))
	c.text("handoff.detail", h.Detail, MaxItemText)
	c.member("handoff.kind", new(event.Kind), string(h.Kind))
	c.between("handoff.timeout_seconds", h.TimeoutSeconds, MaxTimeoutSeconds)
	c.names("handoff.permissions", h.Permissions, MaxRefs)
	c.names("handoff.dependencies", h.Dependencies, MaxRefs)
	c.text("handoff.notes", h.Notes, MaxText)
	c.optionalName("handoff.part_of", h.PartOf)
	c.optionalName("handoff.result_to", h.ResultTo)
	c.text("handoff.part_for", h.PartFor, MaxPartFor)
	c.optionalName("handoff.by", h.By)
}

func (t *Task) check(c *checker) {
	c.required("task.intent", t.Intent, MaxText)
	c.text("task.state", t.State, MaxText)
	c.text("task.ask", t.Ask, MaxText)
	c.size("task.data", t.Data, MaxData)
}

func (e *Envelope) checkHistory(c *checker) {
	c.count("history", len(e.History), MaxHistory)
	for i := range e.History {
		s := &e.History[i]
		if c.err != nil {
			return
		}
		c.at = element{"history", i}
		c.time(".time", s.Time)
		c.name(".agent", s.Agent)
		c.required(".action", s.Action, MaxItemText)
		c.text(".detail", s.Detail, MaxItemText)
		c.optionalName(".tool", s.Tool)
		s.checkWeight(c)
		c.at = element{}
	}
}

func (e *Envelope) checkConstraints(c *checker) {
	c.count("constraints", len(e.Constraints), MaxConstraints)
	seen := make(map[string]bool, len(e.Constraints))
	for i := range e.Constraints {
		k := &e.Constraints[i]
		if c.err != nil {
			return
		}
		c.at = element{"constraints", i}
		c.name(".id", k.ID)
		c.member(".kind", new(event.ConstraintKind), string(k.Kind))
		if k.Kind == "" {
			c.invalid(".kind", "use "+event.OneOf(event.ConstraintKinds.Values()), "is missing")
		}
		c.required(".text", k.Text, MaxConstraintText)
		c.optionalName(".origin", k.Origin)
		c.optionalName(".text_by", k.TextBy)
		c.optionalName(".hard_by", k.HardBy)
		c.optionalName(".max_by", k.MaxBy)
		c.optionalName(".allow_by", k.AllowBy)
		if k.Max != nil && (math.IsNaN(*k.Max) || math.IsInf(*k.Max, 0)) {
			c.invalid(".max", "give a finite number or omit it", "%v is not a number", *k.Max)
		}
		c.names(".allow", k.Allow, MaxAllow)
		if seen[k.ID] {
			c.invalid(".id", "give every constraint an id of its own", "%.40q is used twice", k.ID)
		}
		seen[k.ID] = true
		c.at = element{}
	}
}

func (x *Expected) check(c *checker) {
	c.optionalName("expected_output.format", x.Format)
	c.between("expected_output.max_bytes", x.MaxBytes, 1<<31-1)
	c.texts("expected_output.criteria", x.Criteria, MaxCriteria, MaxItemText)
	c.size("expected_output.schema", x.Schema, MaxSchema)
	if s := strings.TrimLeft(string(x.Schema), " \t\r\n"); s != "" && s[0] != '{' {
		c.invalid("expected_output.schema", "give a JSON Schema", "is not a JSON object")
	}
}

func (c *checker) items(field string, list []Item) {
	c.count(field, len(list), MaxPoints)
	seen := make(map[string]bool, len(list))
	for i := range list {
		if c.err != nil {
			return
		}
		item := &list[i]
		c.at = element{field, i}
		c.name(".id", item.ID)
		c.required(".text", item.Text, MaxItemText)
		c.optionalName(".supersedes", item.Supersedes)
		c.names(".lineage", item.Lineage, MaxLineage)
		c.text(".reasoning", item.Reasoning, MaxItemText)
		c.optionalName(".by", item.By)
		c.optionalName(".was_by", item.WasBy)
		c.names(".earlier_by", item.EarlierBy, MaxEarlier)
		c.between(".earlier_more", item.EarlierMore, maxCount)
		c.text(".original", item.Original, MaxItemText)
		c.optionalName(".original_by", item.OriginalBy)
		item.checkWeight(c)
		if seen[item.ID] {
			c.invalid(".id", "give every entry an id of its own", "%.40q is used twice", item.ID)
		}
		if item.Supersedes == item.ID {
			c.invalid(".supersedes", "name the earlier entry", "is the entry itself")
		}
		seen[item.ID] = true
		c.at = element{}
	}
}

// checkRefs checks the parts added in version 1.1.
func (e *Envelope) checkRefs(c *checker) {
	checkList(c, "memory", e.Memory, MaxMemory, (*MemoryRef).check)
	checkList(c, "artifacts", e.Artifacts, MaxArtifacts, (*Artifact).check)
	checkList(c, "conversation", e.Conversation, MaxTurns, (*Turn).check)
	checkList(c, "omissions", e.Omissions, MaxOmissions, (*Omission).check)
	checkList(c, "gaps", e.Gaps, MaxGaps, (*Gap).check)
	checkList(c, "dropped", e.Dropped, MaxDropped, (*Dropped).check)
	e.Packing.check(c)
	if len(e.Memory) > 0 {
		seen := make(map[string]bool, len(e.Memory))
		for i := range e.Memory {
			if id := e.Memory[i].ID; seen[id] {
				c.invalid("memory["+strconv.Itoa(i)+"].id", "refer to each item once", "%.40q is used twice", id)
			}
			seen[e.Memory[i].ID] = true
		}
	}
	_, minor, ok := splitVersion(e.Version)
	if ok && minor < 1 {
		if field := e.sinceMinor1(); field != "" {
			c.invalid(field, `set version to "`+Version+`"`, "is not a field of version %s", e.Version)
		}
	}
	if ok && minor < 2 {
		if field := e.sinceMinor2(); field != "" {
			c.invalid(field, `set version to "`+Version+`" if it means that nothing is allowed, or omit it if there is no restriction`,
				"is an empty list, which version %s does not define", e.Version)
		}
	}
	for i, since := range [...]func() string{e.sinceMinor3, e.sinceMinor4} {
		if field := since(); ok && minor < 3+i && field != "" {
			c.invalid(field, `set version to "`+Version+`"`, "is not a field of version %s", e.Version)
		}
	}
}

// sinceMinor4 returns the name of a field that came with version 1.4, if the document has one.
func (e *Envelope) sinceMinor4() string {
	if !e.Task.Deadline.IsZero() {
		return "task.deadline"
	}
	if e.Handoff.PartOf+e.Handoff.ResultTo+e.Handoff.PartFor+e.Handoff.By != "" {
		return "handoff.part_of, result_to, part_for, by"
	}
	for _, list := range []struct {
		name  string
		items []Item
	}{{"key_facts", e.KeyFacts}, {"decisions", e.Decisions}} {
		if i := slices.IndexFunc(list.items, func(i Item) bool {
			return i.By+i.WasBy+i.Original+i.OriginalBy != "" || len(i.Lineage)+len(i.EarlierBy)+i.EarlierMore > 0
		}); i >= 0 {
			return list.name + "[" + strconv.Itoa(i) + "].by, was_by, earlier_by, earlier_more, lineage, original, original_by"
		}
	}
	if a := e.TextBy; a.Ask+a.State+a.Data+a.Summary+a.Questions+a.Notes != "" {
		return "text_by"
	}
	if slices.ContainsFunc(slices.Concat(e.KeyFacts, e.Decisions), func(i Item) bool { return i.Ruled }) {
		return "ruled"
	}
	if i := slices.IndexFunc(e.Memory, func(m MemoryRef) bool { return m.PinnedBy != "" }); i >= 0 {
		return "memory[" + strconv.Itoa(i) + "].pinned_by"
	}
	if i := slices.IndexFunc(e.Omissions, func(o Omission) bool { return o.Important || o.Reason == OverShare || o.By+o.WasBy != "" }); i >= 0 {
		return "omissions[" + strconv.Itoa(i) + "].important, by, was_by, reason share"
	}
	if i := slices.IndexFunc(e.Gaps, func(g Gap) bool { return g.Reason == GapReplaced }); i >= 0 {
		return "gaps[" + strconv.Itoa(i) + "].reason replaced"
	}
	if i := slices.IndexFunc(e.History, func(s Step) bool { return s.Recorded }); i >= 0 {
		return "history[" + strconv.Itoa(i) + "].recorded"
	}
	if len(e.Dropped) > 0 {
		return "dropped"
	}
	return ""
}

// sinceMinor3 returns the name of a constraint that says who set what, if the document has one: earlier versions cannot.
func (e *Envelope) sinceMinor3() string {
	for i, k := range e.Constraints {
		if k.Added || k.TextBy+k.HardBy+k.MaxBy+k.AllowBy != "" {
			return "constraints[" + strconv.Itoa(i) + "].*_by, added"
		}
	}
	return ""
}

// sinceMinor2 returns the name of a list that is empty but not nil, which says that nothing is allowed, if the document has
// one. Earlier versions cannot say so.
func (e *Envelope) sinceMinor2() string {
	none := func(list []string) bool { return list != nil && len(list) == 0 }
	if none(e.Handoff.Permissions) {
		return "handoff.permissions"
	}
	if i := slices.IndexFunc(e.Constraints, func(c Constraint) bool { return none(c.Allow) }); i >= 0 {
		return "constraints[" + strconv.Itoa(i) + "].allow"
	}
	return ""
}

// sinceMinor1 returns the name of a field that version 1.0 does not define, if the document has one.
func (e *Envelope) sinceMinor1() string {
	for _, list := range []struct {
		name string
		n    int
	}{
		{"memory", len(e.Memory)},
		{"artifacts", len(e.Artifacts)},
		{"conversation", len(e.Conversation)},
		{"omissions", len(e.Omissions)},
		{"gaps", len(e.Gaps)},
	} {
		if list.n > 0 {
			return list.name
		}
	}
	if !e.Packing.IsZero() {
		return "packing"
	}
	for i, item := range slices.Concat(e.KeyFacts, e.Decisions) {
		if field := since(item.Weight, "reasoning", item.Reasoning); field != "" {
			if i < len(e.KeyFacts) {
				return "key_facts[" + strconv.Itoa(i) + "]." + field
			}
			return "decisions[" + strconv.Itoa(i-len(e.KeyFacts)) + "]." + field
		}
	}
	for i := range e.History {
		if field := since(e.History[i].Weight, "tool", e.History[i].Tool); field != "" {
			return "history[" + strconv.Itoa(i) + "]." + field
		}
	}
	return ""
}

func since(w Weight, field, value string) string {
	switch {
	case value != "":
		return field
	case w.Pinned:
		return "pinned"
	case w.Importance != 0:
		return "importance"
	}
	return ""
}

func (w Weight) checkWeight(c *checker) { c.fraction(".importance", w.Importance) }

func (m *MemoryRef) check(c *checker) {
	c.name(".id", m.ID)
	c.between(".version", m.Version, maxCount)
	if m.Digest != "" {
		c.digest(".digest", m.Digest)
	}
	c.text(".title", m.Title, MaxTitle)
	c.optionalName(".author", m.Author)
	c.optionalName(".pinned_by", m.PinnedBy)
	c.text(".text", m.Text, MaxText)
	if m.Text != "" {
		c.required(".text", m.Text, MaxText)
	}
	c.between(".tokens", m.Tokens, maxCount)
	m.checkWeight(c)
}

func (a *Artifact) check(c *checker) {
	c.digest(".digest", a.Digest)
	c.text(".name", a.Name, MaxTitle)
	c.optionalName(".media_type", a.MediaType)
	c.between(".bytes", a.Bytes, 1<<53)
	a.checkWeight(c)
}

func (t *Turn) check(c *checker) {
	c.time(".time", t.Time)
	c.name(".agent", t.Agent)
	c.optionalName(".role", t.Role)
	c.required(".text", t.Text, MaxText)
}

func (o *Omission) check(c *checker) {
	c.requiredMember(".kind", new(PartKind), string(o.Kind))
	c.optionalName(".id", o.ID)
	c.optionalName(".by", o.By)
	c.optionalName(".was_by", o.WasBy)
	c.between(".count", o.Count, maxCount)
	if o.ID != "" && o.Count > 1 {
		c.invalid(".count", "name one part, or count several", "is given together with an id")
	}
	c.between(".tokens", o.Tokens, maxCount)
	c.requiredMember(".reason", new(OmissionReason), string(o.Reason))
}

func (g *Gap) check(c *checker) {
	c.requiredMember(".kind", new(PartKind), string(g.Kind))
	c.name(".id", g.ID)
	c.requiredMember(".reason", new(GapReason), string(g.Reason))
}

func (d *Dropped) check(c *checker) {
	c.requiredMember(".kind", new(DroppedKind), string(d.Kind))
	if d.Count < 1 {
		c.invalid(".count", "give a number from 1", "%d is not positive", d.Count)
	}
	c.between(".count", d.Count, maxCount)
	c.name(".task", d.Task)
}

func (p *Packing) check(c *checker) {
	if p.IsZero() {
		return
	}
	c.requiredMember("packing.strategy", new(event.Strategy), string(p.Strategy))
	c.between("packing.budget", p.Budget, maxCount)
	c.between("packing.tokens", p.Tokens, maxCount)
	if p.Budget > 0 && p.Tokens > p.Budget {
		c.invalid("packing.tokens", "pack it to its budget", "%d is over the budget of %d", p.Tokens, p.Budget)
	}
	c.name("packing.tokenizer", p.Tokenizer)
	c.fraction("packing.utilisation", p.Utilisation)
	c.fraction("packing.completeness", p.Completeness)
	c.member("packing.listing", new(Listing), string(p.Listing))
}

// ParseTrace returns the trace context of the headers traceparent and tracestate of a request: see [tracecontext.Parse].
func ParseTrace(traceparent, tracestate string) Trace {
	parent, state := tracecontext.Parse(traceparent, tracestate)
	return Trace{Parent: parent, State: state}
}
