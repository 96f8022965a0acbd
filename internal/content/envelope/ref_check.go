package envelope

import (
	"encoding"
	"slices"
	"strconv"
)

// checkRefs checks what version 1.1 brought.
func (e *Envelope) checkRefs(c *checker) {
	checkList(c, "memory", e.Memory, MaxMemory, (*MemoryRef).check)
	checkList(c, "artifacts", e.Artifacts, MaxArtifacts, (*Artifact).check)
	checkList(c, "conversation", e.Conversation, MaxTurns, (*Turn).check)
	checkList(c, "omissions", e.Omissions, MaxOmissions, (*Omission).check)
	checkList(c, "gaps", e.Gaps, MaxGaps, (*Gap).check)
	e.Packing.check(c)
	if len(e.Memory) > 0 {
		seen := make(map[string]bool, len(e.Memory))
		for i := range e.Memory {
			if id := e.Memory[i].ID; seen[id] {
				c.invalid("memory["+strconv.Itoa(i)+"].id", "refer to every item once", "%.40q is used twice", id)
			}
			seen[e.Memory[i].ID] = true
		}
	}
	if _, minor, ok := splitVersion(e.Version); ok && minor < 1 {
		if field := e.sinceMinor1(); field != "" {
			c.invalid(field, `set version to "`+Version+`"`, "is not a field of version %s", e.Version)
		}
	}
}

// sinceMinor1 names a part that version 1.0 did not have, if there is one.
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

func checkList[T any](c *checker, field string, list []T, most int, check func(*T, *checker)) {
	c.count(field, len(list), most)
	for i := range list {
		if c.err != nil {
			return
		}
		c.at = element{field, i}
		check(&list[i], c)
		c.at = element{}
	}
}

func (w Weight) checkWeight(c *checker) { c.share(".importance", w.Importance) }

func (m *MemoryRef) check(c *checker) {
	c.name(".id", m.ID)
	c.between(".version", m.Version, maxCount)
	if m.Digest != "" {
		c.digest(".digest", m.Digest)
	}
	c.text(".title", m.Title, MaxTitle)
	c.optionalName(".author", m.Author)
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
	c.word(".kind", new(PartKind), string(o.Kind))
	c.optionalName(".id", o.ID)
	c.between(".count", o.Count, maxCount)
	if o.ID != "" && o.Count > 1 {
		c.invalid(".count", "name one part, or count several", "is set beside an id")
	}
	c.between(".tokens", o.Tokens, maxCount)
	c.word(".reason", new(OmissionReason), string(o.Reason))
}

func (g *Gap) check(c *checker) {
	c.word(".kind", new(PartKind), string(g.Kind))
	c.name(".id", g.ID)
	c.word(".reason", new(GapReason), string(g.Reason))
}

func (p *Packing) check(c *checker) {
	if p.IsZero() {
		return
	}
	c.word("packing.strategy", new(Strategy), string(p.Strategy))
	c.between("packing.budget", p.Budget, maxCount)
	c.between("packing.tokens", p.Tokens, maxCount)
	if p.Budget > 0 && p.Tokens > p.Budget {
		c.invalid("packing.tokens", "pack it to its budget", "%d is over the budget of %d", p.Tokens, p.Budget)
	}
	c.name("packing.tokenizer", p.Tokenizer)
	c.share("packing.utilisation", p.Utilisation)
	c.share("packing.completeness", p.Completeness)
	c.member("packing.listing", new(Listing), string(p.Listing))
}

// word checks a value of a closed set that must be given.
func (c *checker) word(field string, set encoding.TextUnmarshaler, s string) {
	if s == "" {
		c.invalid(field, "see the envelope's schema for the values", "is missing")
	}
	c.member(field, set, s)
}

func (c *checker) digest(field, s string) {
	if !ValidDigest(s) {
		c.invalid(field, "give the digest of the content, sha256:…", "%.80q is not a digest", s)
	}
}

func (c *checker) share(field string, f float64) {
	if !(f >= 0 && f <= 1) { // also refuses NaN
		c.invalid(field, "give a number from 0 to 1 or leave it out", "%v is out of range", f)
	}
}
