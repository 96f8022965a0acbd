package figure

import "strings"

// Type is the type of an instrument. The set is closed.
type Type string

// The types of instruments.
const (
	Counter   Type = "counter"   // only increases, except when entries are counted again after a restart
	Gauge     Type = "gauge"     // a state
	Histogram Type = "histogram" // a distribution, counted in buckets
)

// Origin says what a figure is taken from. The set is closed.
type Origin string

// The origins of figures.
const (
	Record  Origin = "record"  // counted from the ledger: right after a restart, too
	Views   Origin = "views"   // the present state, read from the views when it is asked for
	Process Origin = "process" // of the running process: begins at 0 with each start
)

// Units of instruments, as UCUM writes them.
const (
	Seconds = "s"
	Bytes   = "By"
	Ratio   = "1"
)

// Instrument is one figure with its labels.
type Instrument struct {
	Name    string // as OpenTelemetry writes it; see [Instrument.Prometheus]
	Type    Type
	Unit    string // [Seconds], [Bytes], [Ratio], or the things counted in braces
	Origin  Origin
	Labels  []string  // see [Labels]
	Bounds  []float64 // upper bounds of a histogram's buckets, inclusive
	Meaning string
	Behind  string // the command that shows what is behind it, such as handoffs; empty: nothing, as of a process
}

// Labels has the meaning of each label. Where its values are of a closed set, they are listed there.
var Labels = map[string]string{
	"workspace": "The workspace.",
	"agent":     "The agent. Past the configured number of names, `other`; one whose own name is `other` is `agent/other`. Empty: no agent was reached.",
	"kind":      "The kind of the handoff, or of the ticket.",
	"reason":    "The reason of the handoff.",
	"outcome":   "How it ended: `transferred`, `rejected`, `expired`, `failed`, `parked`, `cancelled` or `at_desk`.",
	"scope":     "Whose handoffs a circuit stops: those of all senders, `shared`, or of one, `pair`.",
	"state":     "The state.",
	"severity":  "The severity of the alert: `warning` or `critical`.",
	"event":     "What happened to an offer: `made`, `seen`, `accepted`, `rejected`, `expired`, `unanswered` or `shed`.",
	"cause":     "Why tasks went to the dead letters.",
	"readiness": "What the agents say of themselves: `ready`, `busy`, `draining` or `offline`.",
	"age":       "How long a ticket has been open, at most: `1h`, `8h`, `24h`, or `older`.",
	"method":    "The method of the call; `other` if HTTP does not define it.",
	"route":     "The pattern of the route, such as `/v1/tasks/{id}`; `other` if none matches.",
	"code":      "The status code of the answer.",
}

// Commands that show what is behind a figure. AGENT stands for the value of the label.
const (
	inStats       = "trapeze stats --span 24h"
	ofAgent       = "trapeze stats --span 24h --by agent --only AGENT"
	byReason      = "trapeze stats --span 24h --by reason"
	liveTasks     = "trapeze task list --live"
	lateTasks     = "trapeze task list --since 24h"
	deadTasks     = "trapeze dead list"
	openTickets   = "trapeze ticket list"
	allTickets    = "trapeze ticket list --all"
	anInbox       = "trapeze inbox --of AGENT"
	aCircuit      = "trapeze alerts show circuit-open:AGENT"
	failuresInRow = "trapeze alerts show agent-fails:AGENT"
	uncovered     = "trapeze alerts show audit-incomplete"
	disagreeing   = "trapeze alerts show views-disagree"
	allAgents     = "trapeze agent list"
)

// Bounds of the buckets.
var (
	handoffBounds = []float64{0.01, 0.1, 0.5, 2, 10, 60, 300, 1800, 7200, 86400}
	callBounds    = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60}
	commitBounds  = []float64{0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 2}
	hopBounds     = []float64{0, 1, 2, 3, 5, 8, 13, 21}
	tokenBounds   = []float64{250, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000}
	ratioBounds   = []float64{0.25, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999}
)

// The instruments that are counted from the record.
var (
	HandoffsRequested = &Instrument{
		Name: "trapeze.handoffs.requested", Type: Counter, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace", "kind", "reason"}, Behind: lateTasks,
		Meaning: "Handoffs that were requested.",
	}
	HandoffsEnded = &Instrument{
		Name: "trapeze.handoffs.ended", Type: Counter, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace", "kind", "reason", "outcome"}, Behind: inStats,
		Meaning: "Handoffs that ended, by outcome.",
	}
	HandoffsFailed = &Instrument{
		Name: "trapeze.handoffs.failed", Type: Counter, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace", "kind", "reason"}, Behind: inStats,
		Meaning: "Handoffs that used up all receivers and retries: their outcome is rejected, expired, failed or parked, and no approver denied them. Divided by those that ended, the failure rate: healthy below 0.5 %, systemic above 2 %.",
	}
	FailedExcess = &Instrument{
		Name: "trapeze.handoffs.failed.excess", Type: Gauge, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace", "severity"}, Behind: inStats,
		Meaning: "Of the handoffs of the last hour that failed, those that the alert of that severity leaves out. Critical: by how many more one agent sent than all other senders together, or was to receive than all other receivers; 0 if none did. A child is sent by the owner of its parent. An offer that had less time than by default and got no answer counts as that of the principal that allowed no more, unless that was a minute, and twice what its receiver needs; one that got no answer from an agent that answers nobody's any more, and did in the week before, as no sender's. What one agent does is no fault of the system. Of both severities: those of one agent, if only all others are beyond the threshold.",
	}
	EndedExcess = &Instrument{
		Name: "trapeze.handoffs.ended.excess", Type: Gauge, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace", "severity"}, Behind: inStats,
		Meaning: "Of the handoffs that ended in the last hour, those that the alert of that severity leaves out: those that it leaves out of the failed, and all others of that agent, if it is beyond the threshold without them alone.",
	}
	HandoffsOpen = &Instrument{
		Name: "trapeze.handoffs.open", Type: Gauge, Unit: "{handoff}", Origin: Record, Labels: []string{"workspace"}, Behind: liveTasks,
		Meaning: "Handoffs that were requested and have not ended.",
	}
	HandoffDelivery = &Instrument{
		Name: "trapeze.handoff.delivery.duration", Type: Histogram, Unit: Seconds, Origin: Record, Labels: []string{"workspace", "agent", "kind"}, Bounds: handoffBounds, Behind: ofAgent,
		Meaning: "Time from the request of a handoff until the first receiver has seen its offer, accepted or rejected it.",
	}
	HandoffAcceptance = &Instrument{
		Name: "trapeze.handoff.acceptance.duration", Type: Histogram, Unit: Seconds, Origin: Record, Labels: []string{"workspace", "agent", "kind"}, Bounds: handoffBounds, Behind: ofAgent,
		Meaning: "Time from the request of a handoff until a receiver has accepted it, with all retries and fallbacks before.",
	}
	ReasonDelivery = &Instrument{
		Name: "trapeze.handoff.delivery.by_reason.duration", Type: Histogram, Unit: Seconds, Origin: Record, Labels: []string{"workspace", "kind", "reason"}, Bounds: handoffBounds, Behind: byReason,
		Meaning: "The same as the time until delivery, by reason instead of agent.",
	}
	ReasonAcceptance = &Instrument{
		Name: "trapeze.handoff.acceptance.by_reason.duration", Type: Histogram, Unit: Seconds, Origin: Record, Labels: []string{"workspace", "kind", "reason"}, Bounds: handoffBounds, Behind: byReason,
		Meaning: "The same as the time until acceptance, by reason instead of agent.",
	}
	Offers = &Instrument{
		Name: "trapeze.offers", Type: Counter, Unit: "{offer}", Origin: Record, Labels: []string{"workspace", "event"}, Behind: inStats,
		Meaning: "Events of offers. One offer can be seen and rejected by many, if they have it at the same time.",
	}
	Retries = &Instrument{
		Name: "trapeze.retries", Type: Counter, Unit: "{retry}", Origin: Record, Labels: []string{"workspace"}, Behind: inStats,
		Meaning: "Offers that were scheduled again for the same receiver after a pause.",
	}
	LeasesLost = &Instrument{
		Name: "trapeze.leases.lost", Type: Counter, Unit: "{lease}", Origin: Record, Labels: []string{"workspace"}, Behind: inStats,
		Meaning: "Owners that sent no sign of life in time.",
	}
	OwnersStuck = &Instrument{
		Name: "trapeze.owners.stuck", Type: Counter, Unit: "{owner}", Origin: Record, Labels: []string{"workspace"}, Behind: inStats,
		Meaning: "Owners that were alive and made no progress in time, or were reported as stuck.",
	}
	AgentTasksEnded = &Instrument{
		Name: "trapeze.agent.tasks.ended", Type: Counter, Unit: "{task}", Origin: Record, Labels: []string{"workspace", "agent"}, Behind: ofAgent,
		Meaning: "Tasks of others that agents accepted and completed, handed on, failed, or lost by their silence or for lack of progress.",
	}
	AgentTasksFailed = &Instrument{
		Name: "trapeze.agent.tasks.failed", Type: Counter, Unit: "{task}", Origin: Record, Labels: []string{"workspace", "agent"}, Behind: ofAgent,
		Meaning: "Those of them that the agents failed or lost.",
	}
	TasksCreated = &Instrument{
		Name: "trapeze.tasks.created", Type: Counter, Unit: "{task}", Origin: Record, Labels: []string{"workspace"}, Behind: lateTasks,
		Meaning: "Tasks that were created, child tasks included.",
	}
	TasksEnded = &Instrument{
		Name: "trapeze.tasks.ended", Type: Counter, Unit: "{task}", Origin: Record, Labels: []string{"workspace", "state"}, Behind: lateTasks,
		Meaning: "Tasks that ended: `completed`, `failed` or `cancelled`; a dead letter that is discarded is cancelled.",
	}
	TasksOpen = &Instrument{
		Name: "trapeze.tasks.open", Type: Gauge, Unit: "{task}", Origin: Record, Labels: []string{"workspace"}, Behind: liveTasks,
		Meaning: "Tasks that have not ended. Dead letters are among them.",
	}
	TaskHops = &Instrument{
		Name: "trapeze.task.hops", Type: Histogram, Unit: "{hop}", Origin: Record, Labels: []string{"workspace"}, Bounds: hopBounds, Behind: inStats,
		Meaning: "Hops of tasks that ended: changes of owner that count against the hop limit.",
	}
	DeadLetters = &Instrument{
		Name: "trapeze.dead_letters", Type: Gauge, Unit: "{task}", Origin: Record, Labels: []string{"workspace"}, Behind: deadTasks,
		Meaning: "Tasks in the dead letters.",
	}
	DeadLettersAdded = &Instrument{
		Name: "trapeze.dead_letters.added", Type: Counter, Unit: "{task}", Origin: Record, Labels: []string{"workspace", "cause"}, Behind: lateTasks,
		Meaning: "Tasks that went to the dead letters, by cause.",
	}
	EnvelopeTokens = &Instrument{
		Name: "trapeze.envelope.tokens", Type: Histogram, Unit: "{token}", Origin: Record, Labels: []string{"workspace"}, Bounds: tokenBounds, Behind: inStats,
		Meaning: "Tokens of envelopes as packed for their receivers. Envelopes for receivers without a known context window are not packed, and not counted.",
	}
	EnvelopeUtilisation = &Instrument{
		Name: "trapeze.envelope.utilisation", Type: Histogram, Unit: Ratio, Origin: Record, Labels: []string{"workspace"}, Bounds: ratioBounds, Behind: inStats,
		Meaning: "Tokens of packed envelopes, divided by the token budget that they were packed for: the sender's or, if it gave none, half of the receiver's context window. Those without a budget are not counted.",
	}
	EnvelopeFullness = &Instrument{
		Name: "trapeze.envelope.fullness", Type: Histogram, Unit: Ratio, Origin: Record, Labels: []string{"workspace"}, Bounds: ratioBounds, Behind: inStats,
		Meaning: "The same as the utilisation, but 1 if the budget had no room for a part, however little room was left: parts are packed whole.",
	}
	EnvelopeCompleteness = &Instrument{
		Name: "trapeze.envelope.completeness", Type: Histogram, Unit: Ratio, Origin: Record, Labels: []string{"workspace"}, Bounds: ratioBounds, Behind: inStats,
		Meaning: "References of packed envelopes that could be resolved, divided by those that were asked for. Investigate averages below 0.95; below 0.8 is critical.",
	}
	LostExcess = &Instrument{
		Name: "trapeze.envelope.lost.excess", Type: Gauge, Unit: "{envelope}", Origin: Record, Labels: []string{"workspace", "severity"}, Behind: inStats,
		Meaning: "Of the packed envelopes of the last hour whose references could not be resolved (of one that lost a part, that part), those that the alert of that severity leaves out. Critical: by how many more one agent sent than all other senders together; 0 if none did. What a task or its parent has lost before counts as the first sender's who lost something of it; a memory item that was forgotten counts as that of the one that forgot it, and as that sender's. Of both severities: those of one agent, if only all others are beyond the threshold.",
	}
	PackedExcess = &Instrument{
		Name: "trapeze.envelope.packed.excess", Type: Gauge, Unit: "{envelope}", Origin: Record, Labels: []string{"workspace", "severity"}, Behind: inStats,
		Meaning: "Of the packed envelopes of the last hour, those that the alert of that severity leaves out: those that it leaves out of the lost, and all others of that agent, if it is beyond the threshold without them alone.",
	}
	CircuitsOpened = &Instrument{
		Name: "trapeze.circuits.opened", Type: Counter, Unit: "{circuit}", Origin: Record, Labels: []string{"workspace", "agent"}, Behind: aCircuit,
		Meaning: "Circuits that opened: too many failures in a row, or a probe that failed.",
	}
	TicketsOpened = &Instrument{
		Name: "trapeze.tickets.opened", Type: Counter, Unit: "{ticket}", Origin: Record, Labels: []string{"workspace", "kind"}, Behind: allTickets,
		Meaning: "Tickets that were opened, those of approvals included.",
	}
	AuditCoverage = &Instrument{
		Name: "trapeze.audit.coverage", Type: Gauge, Unit: Ratio, Origin: Record, Labels: []string{"workspace"}, Behind: uncovered,
		Meaning: "Handoffs that moved a task and whose whole handshake is in the record (request, acknowledgment, confirm, complete, without a missing entry of the task), divided by all that moved one. Below 1 is critical.",
	}
)

// The instruments that are read from the views.
var (
	InboxItems = &Instrument{
		Name: "trapeze.inbox.items", Type: Gauge, Unit: "{item}", Origin: Views, Labels: []string{"workspace", "agent"}, Behind: anInbox,
		Meaning: "Items that wait in inboxes. The inbox without an agent is that of the operators.",
	}
	InboxAge = &Instrument{
		Name: "trapeze.inbox.age", Type: Gauge, Unit: Seconds, Origin: Views, Labels: []string{"workspace", "agent"}, Behind: anInbox,
		Meaning: "Time that the oldest item of an inbox has waited for its reader to do something. Notices do not count, such as that a task is completed, or was cancelled, and shares of tasks that have ended; nor do the inboxes of agents that were removed, which nobody can read.",
	}
	TicketsOpen = &Instrument{
		Name: "trapeze.tickets.open", Type: Gauge, Unit: "{ticket}", Origin: Views, Labels: []string{"workspace", "kind", "age"}, Behind: openTickets,
		Meaning: "Tickets that wait for people, by age.",
	}
	Circuits = &Instrument{
		Name: "trapeze.circuits", Type: Gauge, Unit: "{circuit}", Origin: Views, Labels: []string{"workspace", "scope", "state"}, Behind: allAgents,
		Meaning: "Circuits of agents by state: `closed`, `open` or `half_open`. Each agent has one for all senders, and one for each sender whose handoffs failed lately.",
	}
	AgentFailures = &Instrument{
		Name: "trapeze.agent.failures", Type: Gauge, Unit: "{failure}", Origin: Views, Labels: []string{"workspace", "agent"}, Behind: failuresInRow,
		Meaning: "Failures in a row of agents, by the count of their circuits: of the shared one, or of that of one sender if it has more; or the offers in a row, of a minute or more, that ended before it looked at them, if those are more. 0 after a success.",
	}
	Agents = &Instrument{
		Name: "trapeze.agents", Type: Gauge, Unit: "{agent}", Origin: Views, Labels: []string{"workspace", "readiness"}, Behind: allAgents,
		Meaning: "Registered agents by readiness.",
	}
	ViewConsistency = &Instrument{
		Name: "trapeze.view.consistency", Type: Gauge, Unit: Ratio, Origin: Views, Labels: []string{"workspace"}, Behind: disagreeing,
		Meaning: "Agreement of the views with the ledger at the same position: open tasks and dead letters in all counts, divided by the greatest count; or the share of open tasks whose rows, such as items of inboxes and tickets, are right, if that is less: each time alerts are judged, those of ten open tasks are compared, others each time, and those that were wrong until they are right. So are twenty rows, and those of the streams of twenty entries, of any task, agent, channel or token, all in turn: one that should not be there or is missing, also of a task that has ended, is found when it is its turn. Files, workspaces, memory and conversations are not compared; `trapeze verify` compares all. Below 1 is critical: build the views again, with `trapeze serve --rebuild-views`.",
	}
	ViewLag = &Instrument{
		Name: "trapeze.view.lag", Type: Gauge, Unit: "{entry}", Origin: Views,
		Meaning: "Entries of the ledger that the views do not have yet.",
	}
)

// The instruments of the process.
var (
	FigureLag = &Instrument{
		Name: "trapeze.figures.lag", Type: Gauge, Unit: "{entry}", Origin: Process,
		Meaning: "Entries of the ledger that the figures do not have yet. After a start, the figures of the record and of the views are left out until they have all.",
	}
	RecordIntegrity = &Instrument{
		Name: "trapeze.record.integrity", Type: Gauge, Unit: Ratio, Origin: Process,
		Meaning: "1 while the record agrees with its Merkle tree as far as they were compared: the newest entries at the start, all entries after it. 0 is critical: an entry or the tree was changed, or entries are missing; see docs/proofs.md.",
	}
	RecordWitnessed = &Instrument{
		Name: "trapeze.record.witnessed", Type: Gauge, Unit: Ratio, Origin: Process,
		Meaning: "1 while no witness refuses the record, or there are none. 0 is critical: a witness has cosigned a longer record than this one, or another; see docs/proofs.md.",
	}
	CertificateCurrent = &Instrument{
		Name: "trapeze.certificate.current", Type: Gauge, Unit: Ratio, Origin: Process,
		Meaning: "1 while the certificate of the server is the one in its files and has at least a tenth of its time left, or there is none. 0: the files cannot be used, or the certificate has not been renewed; see docs/operate.md.",
	}
	LedgerEntries = &Instrument{
		Name: "trapeze.ledger.entries", Type: Counter, Unit: "{entry}", Origin: Process,
		Meaning: "Entries that were committed. Divided by the commits, the entries per fsync.",
	}
	LedgerCommit = &Instrument{
		Name: "trapeze.ledger.commit.duration", Type: Histogram, Unit: Seconds, Origin: Process, Bounds: commitBounds,
		Meaning: "Time of each commit of the ledger, which is one fsync of the write-ahead log. The count of it is the number of commits.",
	}
	LedgerLog = &Instrument{
		Name: "trapeze.ledger.wal.size", Type: Gauge, Unit: Bytes, Origin: Process,
		Meaning: "Size of the file of the write-ahead log.",
	}
	Calls = &Instrument{
		Name: "trapeze.http.calls", Type: Counter, Unit: "{call}", Origin: Process, Labels: []string{"method", "route", "code"},
		Meaning: "Calls of the HTTP API by route and status code. A call of MCP is counted as such and as the calls of the API that it makes.",
	}
	CallTime = &Instrument{
		Name: "trapeze.http.call.duration", Type: Histogram, Unit: Seconds, Origin: Process, Labels: []string{"route"}, Bounds: callBounds,
		Meaning: "Time of calls, those included that wait for an event.",
	}
	Connections = &Instrument{
		Name: "trapeze.http.connections", Type: Gauge, Unit: "{connection}", Origin: Process,
		Meaning: "Open connections of clients.",
	}
	ProcessorTime = &Instrument{
		Name: "trapeze.process.cpu.time", Type: Counter, Unit: Seconds, Origin: Process,
		Meaning: "Processor time of the process, of the user and the system. 0 where the system does not tell.",
	}
	Memory = &Instrument{
		Name: "trapeze.process.memory", Type: Gauge, Unit: Bytes, Origin: Process,
		Meaning: "Memory that the Go runtime holds.",
	}
	Goroutines = &Instrument{
		Name: "trapeze.process.goroutines", Type: Gauge, Unit: "{goroutine}", Origin: Process,
		Meaning: "Goroutines.",
	}
)

// Instruments lists every instrument, in the order of the documentation.
func Instruments() []*Instrument {
	return []*Instrument{
		HandoffsRequested, HandoffsEnded, HandoffsFailed, FailedExcess, EndedExcess, HandoffsOpen, HandoffDelivery, HandoffAcceptance, ReasonDelivery, ReasonAcceptance, Offers, Retries, LeasesLost, OwnersStuck, AgentTasksEnded, AgentTasksFailed,
		TasksCreated, TasksEnded, TasksOpen, TaskHops, DeadLetters, DeadLettersAdded, EnvelopeTokens, EnvelopeUtilisation, EnvelopeFullness, EnvelopeCompleteness, LostExcess, PackedExcess,
		CircuitsOpened, TicketsOpened, AuditCoverage,
		InboxItems, InboxAge, TicketsOpen, Circuits, AgentFailures, Agents, ViewConsistency, ViewLag,
		FigureLag, RecordIntegrity, RecordWitnessed, CertificateCurrent, LedgerEntries, LedgerCommit, LedgerLog, Calls, CallTime, Connections, ProcessorTime, Memory, Goroutines,
	}
}

// Prometheus is the name of the instrument in Prometheus: words joined by underscores, the unit at the end, and then _total for a counter.
func (i *Instrument) Prometheus() string {
	name := strings.ReplaceAll(i.Name, ".", "_")
	switch i.Unit {
	case Seconds:
		name += "_seconds"
	case Bytes:
		name += "_bytes"
	case Ratio:
		if i.Type == Gauge {
			name += "_ratio"
		}
	}
	if i.Type == Counter {
		name += "_total"
	}
	return name
}
