package envelope_test

import (
	"math"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// faultsSince11 are the faults in what version 1.1 brought.
func faultsSince11() map[string]func(*envelope.Envelope) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	return map[string]func(*envelope.Envelope){
		"later: is not a field of version 1.4":         func(e *envelope.Envelope) { e.Extra = envelope.Extra{"later": nil} },
		"task.deadline: is not a field of version 1.3": func(e *envelope.Envelope) { e.Version, e.Task.Deadline = "1.3", e.CreatedAt },
		"memory: is not a field of version 1.0":        func(e *envelope.Envelope) { e.Version = "1.0" },
		"history[2].tool: is not a field of version 1.0": func(e *envelope.Envelope) {
			history := e.History
			*e = fullOf10()
			e.Version, e.History = "1.0", history
		},
		"handoff.permissions: is an empty list, which version 1.1": func(e *envelope.Envelope) {
			e.Version, e.Handoff.Permissions = "1.1", []string{}
		},
		"constraints[2].allow: is an empty list, which version 1.1": func(e *envelope.Envelope) {
			e.Version, e.Constraints[2].Allow = "1.1", []string{}
		},
		"constraints[0].*_by, added: is not a field of version 1.2": func(e *envelope.Envelope) {
			e.Version, e.Constraints[0].Added = "1.2", true
		},
		"constraints[1].*_by, added: is not a field of version 1.2": func(e *envelope.Envelope) { e.Version, e.Constraints[1].MaxBy = "1.2", "agent/x" },
		"handoff.part_for: ": func(e *envelope.Envelope) { e.Handoff.PartFor = strings.Repeat("x", envelope.MaxPartFor+1) },
		"handoff.part_of, result_to, part_for, by: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.Handoff.By = "1.3", "ann"
		},
		"handoff.by: \"a b\"": func(e *envelope.Envelope) { e.Handoff.By = "a b" },
		"decisions[0].by, was_by, earlier_by, earlier_more, lineage, original, original_by: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.Decisions[0].By = "1.3", "ann"
		},
		"key_facts[0].by, was_by, earlier_by, earlier_more, lineage, original, original_by: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.KeyFacts[0].WasBy = "1.3", "ann"
		},
		"decisions[0].by, was_by, earlier_by, earlier_more, lineage, original, original_by: is not a field of version": func(e *envelope.Envelope) {
			e.Version, e.Decisions[0].Lineage = "1.3", []string{"d0"}
		},
		"key_facts[1].by, was_by, earlier_by, earlier_more, lineage, original, original_by: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.KeyFacts[1].EarlierBy = "1.3", []string{"ann"}
		},
		"key_facts[0].original_by: \"a b\"":   func(e *envelope.Envelope) { e.KeyFacts[0].OriginalBy = "a b" },
		"key_facts[0].earlier_by[0]: \"a b\"": func(e *envelope.Envelope) { e.KeyFacts[0].EarlierBy = []string{"a b"} },
		"key_facts[0].lineage[1]: \"a b\"":    func(e *envelope.Envelope) { e.KeyFacts[0].Lineage = []string{"f0", "a b"} },
		"key_facts[0].lineage: has 9 entries, the limit is 8": func(e *envelope.Envelope) {
			e.KeyFacts[0].Lineage = slices.Repeat([]string{"f0"}, 9)
		},
		"key_facts[0].was_by: \"a b\"": func(e *envelope.Envelope) { e.KeyFacts[0].WasBy = "a b" },
		"memory[1].pinned_by: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.Memory[1].PinnedBy = "1.3", "operator/ann"
		},
		"gaps[1].reason replaced: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.Gaps = "1.3", []envelope.Gap{e.Gaps[0], {Kind: envelope.PartFact, ID: "f", Reason: envelope.GapReplaced}}
		},
		"omissions[0].important, by, was_by, reason share: is not a field of version 1.3": func(e *envelope.Envelope) {
			e.Version, e.Omissions[0].Important = "1.3", true
		},
		"key_facts[0].by: \"a b\"":       func(e *envelope.Envelope) { e.KeyFacts[0].By = "a b" },
		"handoff.part_of: \"a b\"":       func(e *envelope.Envelope) { e.Handoff.PartOf = "a b" },
		"constraints[1].max_by: \"a b\"": func(e *envelope.Envelope) { e.Constraints[1].MaxBy = "a b" },
		"memory: has":                    func(e *envelope.Envelope) { e.Memory = make([]envelope.MemoryRef, envelope.MaxMemory+1) },
		"memory[1].id: \"m1\"":           func(e *envelope.Envelope) { e.Memory[1].ID = "m1" },
		"memory[0].digest: ":             func(e *envelope.Envelope) { e.Memory[0].Digest = "md5:1" },
		"memory[0].text: ":               func(e *envelope.Envelope) { e.Memory[0].Text = " \n" },
		"memory[0].importance: ":         func(e *envelope.Envelope) { e.Memory[0].Importance = math.NaN() },
		"memory[1].tokens: ":             func(e *envelope.Envelope) { e.Memory[1].Tokens = -1 },
		"key_facts[1].importance: 2":     func(e *envelope.Envelope) { e.KeyFacts[1].Importance = 2 },
		"decisions[0].reasoning: ":       func(e *envelope.Envelope) { e.Decisions[0].Reasoning = long(envelope.MaxItemText) },
		"history[2].tool: \"a b\"":       func(e *envelope.Envelope) { e.History[2].Tool = "a b" },
		"artifacts[0].digest: ":          func(e *envelope.Envelope) { e.Artifacts[0].Digest = "" },
		"artifacts[0].bytes: ":           func(e *envelope.Envelope) { e.Artifacts[0].Bytes = -1 },
		"conversation[1].text: ":         func(e *envelope.Envelope) { e.Conversation[1].Text = "" },
		"omissions[0].kind: \"x\"":       func(e *envelope.Envelope) { e.Omissions[0].Kind = "x" },
		"omissions[1].reason: is":        func(e *envelope.Envelope) { e.Omissions[1].Reason = "" },
		"omissions[1].count: ":           func(e *envelope.Envelope) { e.Omissions[1].Count = 2 },
		"gaps[0].reason: \"lost\"":       func(e *envelope.Envelope) { e.Gaps[0].Reason = "lost" },
		"packing.strategy: \"luck\"":     func(e *envelope.Envelope) { e.Packing.Strategy = "luck" },
		"packing.tokens: 1001":           func(e *envelope.Envelope) { e.Packing.Tokens = 1001 },
		"packing.tokenizer: is":          func(e *envelope.Envelope) { e.Packing.Tokenizer = "" },
		"packing.completeness: ":         func(e *envelope.Envelope) { e.Packing.Completeness = -1 },
		"packing.listing: ":              func(e *envelope.Envelope) { e.Packing.Listing = "some" },
	}
}
