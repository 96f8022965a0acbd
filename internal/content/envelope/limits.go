package envelope

// Limits of a document. Lengths are in bytes of UTF-8.
const (
	// MaxSize is the greatest size of a sealed envelope.
	MaxSize = 1 << 20
	// MaxDepth is the greatest nesting depth of free JSON: data, schema, fields of newer versions.
	MaxDepth = 64
	// MaxText is the length of a long text: intent, state, ask, summary, notes.
	MaxText = 256 << 10
	// MaxItemText is the length of one fact, decision, question, criterion, action or detail.
	MaxItemText = 16 << 10
	// MaxConstraintText is the length of one constraint. Every envelope of a task carries all its constraints; with
	// MaxConstraints they take a small share of it.
	MaxConstraintText = 2 << 10
	// MaxData and MaxSchema are the sizes of the free JSON.
	MaxData   = 768 << 10
	MaxSchema = 64 << 10
	// MaxPartFor is the length of what the task is for that this one is a part of.
	MaxPartFor = 300
	// MaxName is the length of an id, a name or a permission.
	MaxName = 200
	// MaxHistory, MaxItems (facts of one author; decisions of one author; open questions), MaxConstraints, MaxCriteria, MaxAllow, MaxTo and MaxRefs are counts.
	MaxHistory     = 1000
	MaxPoints      = 1000 // facts; decisions
	MaxItems       = 500
	MaxLineage     = 8 // ids of one fact or decision
	MaxEarlier     = 8 // authors of one fact or decision
	MaxConstraints = 64
	MaxCriteria    = 64
	MaxAllow       = 128
	MaxTo          = 1200
	MaxRefs        = 200
	// MaxTitle is the length of a title or a file's name.
	MaxTitle = 1000
	// MaxMemory, MaxArtifacts, MaxTurns, MaxOmissions and MaxGaps are counts.
	MaxMemory    = 500
	MaxArtifacts = 200
	MaxTurns     = 1000
	MaxOmissions = 1000
	MaxGaps      = 500
	// MaxDropped is how many counts of dropped entries there are.
	MaxDropped = 64
	// MaxHops bounds the hop count; a task's own limit is much lower.
	MaxHops = 10_000
	// MaxTimeoutSeconds is 30 days.
	MaxTimeoutSeconds = 30 * 24 * 60 * 60
	// MinSalt and MaxSalt are numbers of random bytes.
	MinSalt = 16
	MaxSalt = 64
)

// maxCount bounds tokens, versions and counts.
const maxCount = 1<<31 - 1

// slack is the number of levels of a document above its free JSON.
const slack = 2
