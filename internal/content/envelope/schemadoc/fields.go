package main

import "github.com/trapezehq/trapeze/internal/content/envelope"

// limits are keywords of JSON Schema. Lengths there count characters, ours bytes: what the schema takes may still be too
// long.
type limits map[string]any

func chars(n int) limits   { return limits{"maxLength": n} }
func entries(n int) limits { return limits{"maxItems": n} }
func upTo(n int) limits    { return limits{"minimum": 0, "maximum": n} }

var (
	word     = limits{"minLength": 1, "maxLength": envelope.MaxName, "pattern": `^\S+$`}
	words    = func(n int) limits { return limits{"maxItems": n, "items": withType("string", word)} }
	text     = chars(envelope.MaxText)
	itemText = limits{"minLength": 1, "maxLength": envelope.MaxItemText}
	share    = limits{"minimum": 0, "maximum": 1}
	digest   = limits{"pattern": "^sha256:[0-9a-f]{64}$"}
	count    = upTo(1<<31 - 1)
)

func withType(name string, l limits) limits {
	out := limits{"type": name}
	for k, v := range l {
		out[k] = v
	}
	return out
}

// field is what the page and the schema say of one field.
type field struct {
	doc    string
	limits limits
	since  string // the version that brought it, if that is not 1.0
}

const v11 = "1.1"

// fields explains every field, by the Go type and the name in JSON.
var fields = map[string]field{
	"Envelope.version":              {doc: "The document's version, major.minor. Fields of a newer minor are kept and passed on; another major is refused.", limits: limits{"pattern": `^1\.(0|[1-9][0-9]*)$`}},
	"Envelope.salt":                 {doc: "16 to 64 random bytes in lower-case hex, so that the digest gives nothing away. Every sealed envelope has it; the server sets it.", limits: limits{"pattern": "^([0-9a-f]{2}){16,64}$"}},
	"Envelope.parent":               {doc: "The digest of the envelope that this one follows. A task's first has none.", limits: digest},
	"Envelope.created_at":           {doc: "When the envelope was made: UTC, to the microsecond."},
	"Envelope.expires_at":           {doc: "When its content is stale; later than created_at."},
	"Envelope.priority":             {doc: "The task's priority."},
	"Envelope.hops":                 {doc: "How often the task changed its owner before this envelope.", limits: upTo(envelope.MaxHops)},
	"Envelope.trace":                {doc: "The W3C trace context of the request that made the envelope."},
	"Envelope.handoff":              {doc: "Which handoff the envelope belongs to."},
	"Envelope.task":                 {doc: "What is wanted, and where the work stands."},
	"Envelope.conversation_summary": {doc: "What was said so far, condensed.", limits: text},
	"Envelope.key_facts":            {doc: "What is known. Ids are unique within the list, so that envelopes can be compared.", limits: entries(envelope.MaxItems)},
	"Envelope.decisions":            {doc: "What was decided, with ids like the facts.", limits: entries(envelope.MaxItems)},
	"Envelope.open_questions":       {doc: "What is still open. Never cut when the envelope is packed.", limits: limits{"maxItems": envelope.MaxItems, "items": withType("string", itemText)}},
	"Envelope.confidence":           {doc: "How sure the sender is of its work, 0 to 1. Left out: it did not say.", limits: share},
	"Envelope.history":              {doc: "Who did what, decided what, and why; oldest first.", limits: entries(envelope.MaxHistory)},
	"Envelope.constraints":          {doc: "What the receiver must keep to. Every later envelope of the task has them, and of its child tasks; they are only ever tightened. Never cut.", limits: entries(envelope.MaxConstraints)},
	"Envelope.expected_output":      {doc: "What the result must look like."},
	"Envelope.memory":               {doc: "Memory items that the receiver can fetch; the text of some came along.", limits: entries(envelope.MaxMemory), since: v11},
	"Envelope.artifacts":            {doc: "Files and patches, by content.", limits: entries(envelope.MaxArtifacts), since: v11},
	"Envelope.conversation":         {doc: "The raw conversation, oldest first. Usually left out in favour of its summary.", limits: entries(envelope.MaxTurns), since: v11},
	"Envelope.omissions":            {doc: "What was left out of this envelope, and why.", limits: entries(envelope.MaxOmissions), since: v11},
	"Envelope.gaps":                 {doc: "What was asked for and could not be had.", limits: entries(envelope.MaxGaps), since: v11},
	"Envelope.packing":              {doc: "How the envelope was fitted to its receiver's token budget.", since: v11},

	"Header.task_id":         {doc: "The task.", limits: word},
	"Header.handoff_id":      {doc: "The handoff. Left out when content is shared without moving ownership.", limits: word},
	"Header.from":            {doc: "The sender, always from its credential.", limits: word},
	"Header.to":              {doc: "The receivers it was offered to.", limits: words(envelope.MaxTo)},
	"Header.reason":          {doc: "Why the task moves."},
	"Header.detail":          {doc: "The sender's own words on the reason.", limits: chars(envelope.MaxItemText)},
	"Header.kind":            {doc: "What sort of handoff it is."},
	"Header.timeout_seconds": {doc: "How long the receiver has to answer. Left out: the server's default.", limits: upTo(envelope.MaxTimeoutSeconds)},
	"Header.permissions":     {doc: "What the receiver may do for this task. They only narrow from hop to hop. Left out: it is not restricted. Empty, since version 1.2: none.", limits: words(envelope.MaxRefs)},
	"Header.dependencies":    {doc: "Ids of tasks that this one waits for.", limits: words(envelope.MaxRefs)},
	"Header.notes":           {doc: "What the sender adds for the receiver, with its request or with its confirm.", limits: text},

	"Task.intent": {doc: "The original request, word for word, in every envelope of the task. Never cut.", limits: limits{"minLength": 1, "maxLength": envelope.MaxText}},
	"Task.state":  {doc: "Where the work stands now.", limits: text},
	"Task.ask":    {doc: "What the receiver must accomplish. Never cut.", limits: text},
	"Task.data":   {doc: "Any JSON, at most 768 KiB and 64 levels deep. Whole numbers that do not survive as IEEE 754 doubles are refused: send them as text."},

	"Item.id":         {doc: "Its id, unique within its list.", limits: word},
	"Item.text":       {doc: "What is known or decided.", limits: itemText},
	"Item.supersedes": {doc: "The id of the earlier entry that this one replaces.", limits: word},
	"Item.reasoning":  {doc: "What led to it.", limits: chars(envelope.MaxItemText), since: v11},

	"Step.time":   {doc: "When."},
	"Step.agent":  {doc: "Who did it.", limits: word},
	"Step.action": {doc: "What was done.", limits: itemText},
	"Step.detail": {doc: "How, or why.", limits: chars(envelope.MaxItemText)},
	"Step.tool":   {doc: "The tool that was called, if the step is a call of one.", limits: word, since: v11},

	"Constraint.id":     {doc: "Its id, unique within the list.", limits: word},
	"Constraint.kind":   {doc: "What it is about."},
	"Constraint.text":   {doc: "What must hold, in words.", limits: limits{"minLength": 1, "maxLength": envelope.MaxConstraintText}},
	"Constraint.hard":   {doc: "Whether it must hold. Others should."},
	"Constraint.origin": {doc: "The principal that set it.", limits: word},
	"Constraint.max":    {doc: "The most that is allowed, in the unit that the text names. Tighter is smaller."},
	"Constraint.allow":  {doc: "What is allowed, and nothing else is. Tighter is fewer. Left out: anything. Empty, since version 1.2: nothing.", limits: words(envelope.MaxAllow)},

	"Expected.format":    {doc: "A short name such as markdown or json.", limits: word},
	"Expected.max_bytes": {doc: "The most bytes of UTF-8 that the result may have.", limits: count},
	"Expected.criteria":  {doc: "What a good result fulfils, in words, for a reviewer.", limits: limits{"maxItems": envelope.MaxCriteria, "items": withType("string", itemText)}},
	"Expected.schema":    {doc: "A JSON Schema, at most 64 KiB, that refers to nothing but itself.", limits: limits{"type": "object"}},

	"Trace.traceparent": {doc: "W3C traceparent.", limits: limits{"pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"}},
	"Trace.tracestate":  {doc: "W3C tracestate.", limits: limits{"maxLength": 512, "pattern": "^[ -~]*$"}},

	"MemoryRef.id":      {doc: "The item's id, to fetch it by.", limits: word},
	"MemoryRef.version": {doc: "Its version when this was sealed.", limits: count},
	"MemoryRef.digest":  {doc: "Its digest then, so that a later change is visible.", limits: digest},
	"MemoryRef.title":   {doc: "Its title.", limits: chars(envelope.MaxTitle)},
	"MemoryRef.author":  {doc: "Who wrote it.", limits: word},
	"MemoryRef.text":    {doc: "The item itself. Left out of a lazy reference.", limits: text},
	"MemoryRef.tokens":  {doc: "The tokens of the text, as the receiver counts.", limits: count},

	"Weight.pinned":     {doc: "Kept before everything that is not, when the budget is short.", since: v11},
	"Weight.importance": {doc: "How much it matters, 0 to 1.", limits: share, since: v11},

	"Artifact.digest":     {doc: "The hash of the content.", limits: digest},
	"Artifact.name":       {doc: "A name for people.", limits: chars(envelope.MaxTitle)},
	"Artifact.media_type": {doc: "Its media type, like text/x-diff.", limits: word},
	"Artifact.bytes":      {doc: "The content's length.", limits: upTo(1 << 53)},

	"Turn.time":  {doc: "When."},
	"Turn.agent": {doc: "Who spoke.", limits: word},
	"Turn.role":  {doc: "As what: user, assistant. Left out for the agent itself.", limits: word},
	"Turn.text":  {doc: "What was said.", limits: limits{"minLength": 1, "maxLength": envelope.MaxText}},

	"Omission.kind":   {doc: "What sort of part it is."},
	"Omission.id":     {doc: "The part's id; of a step, its place in the history from 1.", limits: word},
	"Omission.count":  {doc: "How many parts this stands for, if it is not one.", limits: count},
	"Omission.tokens": {doc: "What it would have taken, as the receiver counts.", limits: count},
	"Omission.reason": {doc: "Why it was left out."},
	"Omission.pinned": {doc: "Whether it is pinned all the same."},

	"Gap.kind":   {doc: "What sort of part it is."},
	"Gap.id":     {doc: "The part's id.", limits: word},
	"Gap.reason": {doc: "Why it could not be had."},

	"Packing.strategy":     {doc: "How it was packed."},
	"Packing.budget":       {doc: "The most tokens that the rendered prompt may have. Left out: there was no limit.", limits: count},
	"Packing.tokens":       {doc: "The tokens that it has.", limits: count},
	"Packing.tokenizer":    {doc: "What counted them.", limits: word},
	"Packing.estimate":     {doc: "Whether the counts are upper bounds, because the receiver's tokenizer is not known."},
	"Packing.utilisation":  {doc: "Tokens by budget, 0 to 1.", limits: share},
	"Packing.completeness": {doc: "References resolved by references requested, 0 to 1; 1 if none were.", limits: share},
	"Packing.listing":      {doc: "How the prompt shows what was left out. Left out: each."},
}
