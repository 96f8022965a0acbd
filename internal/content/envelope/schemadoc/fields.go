package main

import (
	"maps"
	"strings"
	"sync"
	"unicode"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/event/idform"
)

// limits are keywords of JSON Schema. Lengths there count characters, the limits of the server bytes: a text that the schema
// accepts may still be too long.
type limits map[string]any

func chars(n int) limits   { return limits{"maxLength": n} }
func entries(n int) limits { return limits{"maxItems": n} }

// saying is a text of at most n characters that is not blank.
func saying(n int) limits {
	return limits{"minLength": 1, "maxLength": n, "pattern": "[^" + blank + "]"}
}

// distinct is a list whose entries have ids of their own. JSON Schema can only say that no entry is there twice.
func distinct(n int) limits { return limits{"maxItems": n, "uniqueItems": true} }
func upTo(n int) limits     { return limits{"minimum": 0, "maximum": n} }

func between(least, most float64) limits { return limits{"minimum": least, "maximum": most} }

var (
	word     = limits{"minLength": 1, "maxLength": envelope.MaxName, "not": limits{"pattern": "[" + noName() + "]"}}
	words    = func(n int) limits { return limits{"maxItems": n, "items": withType("string", word)} }
	text     = chars(envelope.MaxText)
	itemText = saying(envelope.MaxItemText)
	share    = limits{"minimum": 0, "maximum": 1}
	digest   = limits{"pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71}
	count    = upTo(1<<31 - 1)
)

// blank are the characters that are white space in Unicode, as the inside of a class of a regular expression. What \s means differs between
// the languages of validators, and so do anchors: a class without either means the same in all.
const blank = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

// class are the characters of which a function is true, as the inside of a class.
func class(of func(rune) bool) string {
	var b strings.Builder
	write := func(r rune) {
		if strings.ContainsRune(`\]^-[`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	first := rune(-1)
	for r := rune(0); r <= unicode.MaxRune+1; r++ {
		switch in := r <= unicode.MaxRune && of(r); {
		case in && first < 0:
			first = r
		case !in && first >= 0:
			write(first)
			if last := r - 1; last > first {
				b.WriteByte('-')
				write(last)
			}
			first = -1
		}
	}
	return b.String()
}

// noName are the characters that ids and names must not have: white space, control and format characters, others that cannot be seen,
// and those of private use. The characters that Unicode has not assigned yet are not among them, since each of its versions assigns more.
var noName = sync.OnceValue(func() string {
	return class(func(r rune) bool {
		return unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co) || idform.Invisible(r)
	})
})

// permission is a permission of a new task: see [event.CheckNewLabels]. None can be named none, in any case, as readers are shown that for an
// empty list.
func permission() limits {
	return label(class(func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(noLabel, r) }), limits{"pattern": "^[Nn][Oo][Nn][Ee]$"})
}

// allowed is an allowed value of a constraint, as [event.Constraint.CheckNew] takes it.
func allowed() limits {
	return label(noName() + class(func(r rune) bool { return strings.ContainsRune(noLabel+event.NotAllowed, r) }))
}

// label is a label without the characters of a class, and that is none of others.
func label(without string, others ...any) limits {
	no := append([]any{limits{"pattern": "[" + without + "]"}, limits{"enum": []string{".", ".."}}}, others...)
	return limits{"minLength": 1, "maxLength": event.MaxName, "not": limits{"anyOf": no}}
}

// noLabel are the printable characters that labels must not have.
const noLabel = `/\*>"'`

// labels is a list of at most n, each once.
func labels(n int, of limits) limits {
	return limits{"maxItems": n, "uniqueItems": true, "items": withType("string", of)}
}

// seen is a text of at most n characters, some of which can be seen.
func seen(n int) limits {
	unseen := class(func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || idform.Invisible(r) })
	return limits{"minLength": 1, "maxLength": n, "pattern": "[^" + unseen + "]"}
}

func withType(name string, l limits) limits {
	out := limits{"type": name}
	maps.Copy(out, l)
	return out
}

// field is the description of one field in the page and the schema.
type field struct {
	doc    string
	limits limits
	since  string // the version that added it, if that is not 1.0
}

const v11 = "1.1"

// fields explains every field, by the Go type and the name in JSON.
var fields = map[string]field{
	"Envelope.version":              {doc: "The document's version, major.minor. Fields of a newer minor are kept and passed on; another major is refused.", limits: limits{"pattern": `^1\.(0|[1-9][0-9]{0,17})$`, "maxLength": 20}},
	"Envelope.salt":                 {doc: "16 to 64 random bytes in lower-case hex, so that the digest reveals nothing. Every sealed envelope has it; the server sets it.", limits: limits{"pattern": "^([0-9a-f]{2}){16,64}$", "maxLength": 2 * envelope.MaxSalt}},
	"Envelope.parent":               {doc: "The digest of the envelope that this one follows. The first envelope of a task has none.", limits: digest},
	"Envelope.created_at":           {doc: "The time at which the envelope was made: UTC, to the microsecond."},
	"Envelope.expires_at":           {doc: "The time at which its content is stale; later than created_at."},
	"Envelope.priority":             {doc: "The task's priority."},
	"Envelope.hops":                 {doc: "The number of changes of owner before this envelope.", limits: upTo(envelope.MaxHops)},
	"Envelope.trace":                {doc: "The W3C trace context of the request that made the envelope."},
	"Envelope.handoff":              {doc: "The handoff that the envelope belongs to."},
	"Envelope.task":                 {doc: "The request, and the state of the work."},
	"Envelope.conversation_summary": {doc: "The conversation so far, condensed.", limits: text},
	"Envelope.key_facts":            {doc: "The facts so far. Ids are unique within the list, so that envelopes can be compared.", limits: distinct(envelope.MaxPoints)},
	"Envelope.decisions":            {doc: "The decisions so far, with ids like the facts.", limits: distinct(envelope.MaxPoints)},
	"Envelope.open_questions":       {doc: "The questions that are still open. Never cut when the envelope is packed.", limits: limits{"maxItems": envelope.MaxItems, "items": withType("string", itemText)}},
	"Envelope.text_by":              {doc: "The authors of the texts that come from an earlier sender: agents by name, others as role/name. A text that it does not name is the sender's. Since version 1.4."},
	"Envelope.confidence":           {doc: "How sure the sender is of its work, 0 to 1. Omitted if it is not given.", limits: share},
	"Envelope.history":              {doc: "The steps and decisions so far, with agents and reasons; oldest first.", limits: entries(envelope.MaxHistory)},
	"Envelope.constraints":          {doc: "The rules that the receiver must follow. Every later envelope of the task and of its child tasks has them; they can only be tightened. Never cut.", limits: distinct(envelope.MaxConstraints)},
	"Envelope.expected_output":      {doc: "The result that is expected."},
	"Envelope.memory":               {doc: "Memory items that the receiver can fetch; some carry their text.", limits: distinct(envelope.MaxMemory), since: v11},
	"Envelope.artifacts":            {doc: "Files and patches, by content.", limits: entries(envelope.MaxArtifacts), since: v11},
	"Envelope.conversation":         {doc: "The raw conversation, oldest first. Usually omitted in favour of its summary.", limits: entries(envelope.MaxTurns), since: v11},
	"Envelope.omissions":            {doc: "The parts that this envelope omits, with reasons.", limits: entries(envelope.MaxOmissions), since: v11},
	"Envelope.gaps":                 {doc: "The references that could not be resolved.", limits: entries(envelope.MaxGaps), since: v11},
	"Envelope.dropped":              {doc: "What was not taken over from earlier envelopes, or not from the record of the task, for a bound, and what a cold handoff left out. Never omitted. Since version 1.4.", limits: entries(envelope.MaxDropped)},
	"Envelope.packing":              {doc: "How the envelope was fitted to its receiver's token budget.", since: v11},

	"Header.task_id":         {doc: "The task.", limits: word},
	"Header.handoff_id":      {doc: "The handoff. Omitted if content is shared without moving ownership.", limits: word},
	"Header.from":            {doc: "The sender, always from its credential.", limits: word},
	"Header.to":              {doc: "The receivers it was offered to.", limits: words(envelope.MaxTo)},
	"Header.reason":          {doc: "Why the task moves."},
	"Header.detail":          {doc: "The reason in the sender's words.", limits: chars(envelope.MaxItemText)},
	"Header.kind":            {doc: "The kind of the handoff."},
	"Header.timeout_seconds": {doc: "The time that the receiver has to answer. If omitted: the server's default.", limits: upTo(envelope.MaxTimeoutSeconds)},
	"Header.permissions":     {doc: "The permissions of the receiver for this task. They only narrow from hop to hop. Left out: it is not restricted. Empty, since version 1.2: none.", limits: labels(event.MaxPermissions, permission())},
	"Header.dependencies":    {doc: "Ids of tasks that this one waits for.", limits: words(envelope.MaxRefs)},
	"Header.notes":           {doc: "The sender's additions for the receiver, from its request or its confirmation.", limits: text},

	"Header.part_of":   {doc: "The task that this one is a part of. Omitted if it was not delegated. Since version 1.4.", limits: word},
	"Header.result_to": {doc: "The principal that delegated it and waits for the result, which goes to the owner of that task. Omitted if nobody waits. Since version 1.4.", limits: word},
	"Header.part_for":  {doc: "The beginning of the intent of the task that this one is a part of: what this one is for. Omitted if that is its own intent. Never cut further. Since version 1.4.", limits: chars(envelope.MaxPartFor)},
	"Header.by":        {doc: "The principal that asked for the handoff, or shared the content, and whose words are its detail and notes: an agent by name, any other as role/name. Omitted if it is the sender, or the server. Since version 1.4.", limits: word},

	"Task.intent":   {doc: "The original request, word for word, in every envelope of the task. Never cut.", limits: saying(event.MaxIntent)},
	"Task.deadline": {doc: "The task's deadline when the envelope was made. An approval since then has moved it, and a replay may have changed it: the task has the one in force."},
	"Task.state":    {doc: "The current state of the work.", limits: text},
	"Task.ask":      {doc: "What the receiver must accomplish. Never cut.", limits: text},
	"Task.data":     {doc: "Any JSON, at most 768 KiB and 64 levels deep. Whole numbers that an IEEE 754 double cannot hold are refused: send them as text."},

	"Item.id":         {doc: "Its id, unique within its list. A server gives and takes new ones of at most 64 ASCII letters, digits, dots, dashes and underscores alone, and quotes others in prompts.", limits: word},
	"Item.text":       {doc: "The fact or the decision.", limits: itemText},
	"Item.supersedes": {doc: "The id of the earlier entry that this one replaces.", limits: word},
	"Item.reasoning":  {doc: "The reasoning behind it.", limits: chars(envelope.MaxItemText), since: v11},

	"Item.by":           {doc: "Its author: an agent by name, any other principal as role/name. Omitted if it is not recorded. Since version 1.4.", limits: word},
	"Item.lineage":      {doc: "The ids of the earlier entries that it stands for beside that one, because those were replaced before: newest first. Since version 1.4.", limits: words(envelope.MaxLineage)},
	"Item.earlier_by":   {doc: "The authors of what was replaced before that, beside its own author and that of was_by: newest first. Of more than 8, those in the middle are left out, agents before others. Since version 1.4.", limits: words(envelope.MaxEarlier)},
	"Item.earlier_more": {doc: "How many authors earlier_by leaves out. Since version 1.4.", limits: upTo(1<<31 - 1)},
	"Item.original":     {doc: "What original_by said in place of the text. Of an entry that is pinned or has an importance of 0.9 or more, and of one that replaced words of a principal that is no agent. Since version 1.4.", limits: chars(envelope.MaxItemText)},
	"Item.original_by":  {doc: "The author whom the list of what was left out names beside the entry's own: whose words the entry stands for. Since version 1.4.", limits: word},
	"Item.was_by":       {doc: "The author of what it replaced: the entry that it supersedes, or one of its own id. Omitted if it replaced nothing, or if that is not recorded. Since version 1.4.", limits: word},

	"Item.ruled": {doc: "Whether the requester, or a principal that is no agent, has pinned it or given it an importance of 0.9 or more: it comes before what agents pin or find important. Since version 1.4."},

	"Step.time":   {doc: "When."},
	"Step.agent":  {doc: "The agent that did it.", limits: word},
	"Step.action": {doc: "The action.", limits: itemText},
	"Step.detail": {doc: "How, or why.", limits: chars(envelope.MaxItemText)},
	"Step.tool":   {doc: "The tool that was called, if the step is a tool call.", limits: word, since: v11},

	"Step.recorded": {doc: "Whether the server tells the step, from its record: the detail may have words of the agent, the action has none. Of any other step, all words are those of the agent. Since version 1.4."},

	"Constraint.id":       {doc: "Its id, unique within the list.", limits: word},
	"Constraint.kind":     {doc: "The kind of the constraint."},
	"Constraint.text":     {doc: "The constraint in words.", limits: seen(envelope.MaxConstraintText)},
	"Constraint.hard":     {doc: "Whether it must hold. Other constraints should hold."},
	"Constraint.origin":   {doc: "The principal that set it.", limits: word},
	"Constraint.max":      {doc: "The upper limit, in the unit that the text names. Tighter is smaller.", limits: between(event.ConstraintPreference.Range())},
	"Constraint.allow":    {doc: "What is allowed, and nothing else is. Tighter is fewer. Left out: anything. Empty, since version 1.2: nothing.", limits: labels(envelope.MaxAllow, allowed())},
	"Constraint.text_by":  {doc: "The principal whose text it is, if not the origin. Since version 1.3.", limits: word},
	"Constraint.hard_by":  {doc: "The principal that made it hard, if not the origin. Since version 1.3.", limits: word},
	"Constraint.max_by":   {doc: "The principal that set the limit, if not the origin. Since version 1.3.", limits: word},
	"Constraint.allow_by": {doc: "The principal that set what is allowed, if not the origin. Since version 1.3.", limits: word},
	"Constraint.added":    {doc: "Whether an agent set it that was not the requester. What the requester and operators set wins. Since version 1.3."},

	"Expected.format":    {doc: "A short name such as markdown or json.", limits: word},
	"Expected.max_bytes": {doc: "The greatest length of the result, in bytes of UTF-8.", limits: count},
	"Expected.criteria":  {doc: "The conditions that a good result meets, in words, for a reviewer.", limits: limits{"maxItems": envelope.MaxCriteria, "items": withType("string", itemText)}},
	"Expected.schema":    {doc: "A JSON Schema, at most 64 KiB, that refers to nothing but itself.", limits: limits{"type": "object"}},

	"Authors.ask":                  {doc: "The author of the ask.", limits: word},
	"Authors.state":                {doc: "The author of the current state.", limits: word},
	"Authors.data":                 {doc: "The author of the data.", limits: word},
	"Authors.conversation_summary": {doc: "The author of the summary.", limits: word},
	"Authors.open_questions":       {doc: "The author of the open questions.", limits: word},
	"Authors.notes":                {doc: "The author of the notes. If it does not name one, they are those of the principal that asked for the handoff.", limits: word},

	"Trace.traceparent": {doc: "W3C traceparent.", limits: limits{"pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$", "maxLength": 55}},
	"Trace.tracestate":  {doc: "W3C tracestate.", limits: limits{"maxLength": 512, "not": limits{"pattern": "[^ -~]"}}},

	"MemoryRef.id":        {doc: "The item's id, to fetch it by.", limits: word},
	"MemoryRef.version":   {doc: "Its version when the envelope was sealed.", limits: count},
	"MemoryRef.digest":    {doc: "Its digest then, so that a later change is visible.", limits: digest},
	"MemoryRef.title":     {doc: "Its title.", limits: chars(envelope.MaxTitle)},
	"MemoryRef.author":    {doc: "The principal that wrote it.", limits: word},
	"MemoryRef.pinned_by": {doc: "The principal whose pin counts, if that is not the author. Since version 1.4.", limits: word},
	"MemoryRef.text":      {doc: "The text of the item. Omitted if it must be fetched.", limits: limits{"maxLength": envelope.MaxText, "pattern": "^$|[^" + blank + "]"}},
	"MemoryRef.tokens":    {doc: "The tokens of the text, by the receiver's tokenizer.", limits: count},

	"Weight.pinned":     {doc: "Kept before all parts that are not pinned, if the budget is short.", since: v11},
	"Weight.importance": {doc: "Its importance, 0 to 1.", limits: share, since: v11},

	"Artifact.digest":     {doc: "The hash of the content.", limits: digest},
	"Artifact.name":       {doc: "A name for people.", limits: chars(envelope.MaxTitle)},
	"Artifact.media_type": {doc: "Its media type, like text/x-diff.", limits: word},
	"Artifact.bytes":      {doc: "The content's length.", limits: upTo(1 << 53)},

	"Turn.time":  {doc: "When."},
	"Turn.agent": {doc: "The speaker.", limits: word},
	"Turn.role":  {doc: "The role, such as user or assistant. Omitted for the agent itself.", limits: word},
	"Turn.text":  {doc: "The message.", limits: saying(envelope.MaxText)},

	"Omission.kind":   {doc: "The kind of the part."},
	"Omission.id":     {doc: "The part's id; of a step, its place in the history from 1.", limits: word},
	"Omission.count":  {doc: "The number of parts, if it is not one.", limits: count},
	"Omission.tokens": {doc: "The tokens of the part, by the receiver's tokenizer.", limits: count},
	"Omission.reason": {doc: "The reason for omitting it."},
	"Omission.pinned": {doc: "Whether it is pinned."},

	"Omission.by":        {doc: "The author of a pinned or important fact or decision that replaced words of another. Since version 1.4.", limits: word},
	"Omission.was_by":    {doc: "Whose words it replaced: those of an operator come first. Since version 1.4.", limits: word},
	"Omission.important": {doc: "Whether its importance is 0.9 or more, and it is not pinned. Since version 1.4."},

	"Gap.kind":   {doc: "The kind of the part."},
	"Gap.id":     {doc: "The part's id.", limits: word},
	"Gap.reason": {doc: "The reason why it could not be resolved; replaced, since version 1.4, is that of a fact or decision that was replaced by the content that it was given in."},

	"Dropped.kind":  {doc: "The kind of the entries. Answers, notes and changes were never a step of an envelope. Those that begin with sent were given with a cold handoff, which leaves them out, and those that begin with cold were there before one that left them out."},
	"Dropped.count": {doc: "The number of them.", limits: limits{"minimum": 1, "maximum": 1<<31 - 1}},
	"Dropped.task":  {doc: "The task whose record has them.", limits: word},

	"Packing.strategy":     {doc: "The strategy with which it was packed."},
	"Packing.budget":       {doc: "The greatest number of tokens of the rendered prompt. Omitted if there was no limit.", limits: count},
	"Packing.tokens":       {doc: "The number of tokens that it has.", limits: count},
	"Packing.tokenizer":    {doc: "The tokenizer that counted them.", limits: word},
	"Packing.estimate":     {doc: "Whether tokens is an upper bound: the tokenizer is not built in, or the prompt has a line of blanks, which counts separately here and not with the receiver. Omitted if tokens is exact."},
	"Packing.utilisation":  {doc: "Tokens divided by budget, 0 to 1.", limits: share},
	"Packing.completeness": {doc: "The share of requested references that were resolved, 0 to 1; 1 if none were requested.", limits: share},
	"Packing.listing":      {doc: "The form in which the prompt lists omissions. If omitted: each."},
}
