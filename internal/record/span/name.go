package span

// Type is the type of an attribute. The set is closed.
type Type string

// The types of attributes.
const (
	Text    Type = "text"
	Integer Type = "integer"
	Number  Type = "number"
	Truth   Type = "true or false"
)

// Attribute is an attribute of spans.
type Attribute struct {
	Name    string // as OpenTelemetry writes it
	Type    Type
	Meaning string
}

// The attributes of Trapeze's own.
var (
	Workspace    = &Attribute{"trapeze.workspace", Text, "The workspace."}
	TaskAttr     = &Attribute{"trapeze.task.id", Text, "The task."}
	ParentTask   = &Attribute{"trapeze.task.parent_id", Text, "The task that a child task works for."}
	TaskState    = &Attribute{"trapeze.task.state", Text, "How the task ended: `completed`, `failed` or `cancelled`."}
	ChildTask    = &Attribute{"trapeze.child.id", Text, "The child task."}
	HandoffAttr  = &Attribute{"trapeze.handoff.id", Text, "The handoff."}
	Kind         = &Attribute{"trapeze.handoff.kind", Text, "The kind of the handoff: `warm`, `cold`, `supervised`, `broadcast` or `delegation`."}
	Reason       = &Attribute{"trapeze.handoff.reason", Text, "The reason of the handoff."}
	Claim        = &Attribute{"trapeze.handoff.claim", Truth, "The handoff is offered to several agents, and the first to accept gets it."}
	Recovery     = &Attribute{"trapeze.handoff.recovery", Truth, "The handoff replaces an owner that was lost or stuck."}
	From         = &Attribute{"trapeze.handoff.from", Text, "The principal that hands off, such as `agent/coder`."}
	To           = &Attribute{"trapeze.handoff.to", Text, "The agent that received the task, or was reached last."}
	Outcome      = &Attribute{"trapeze.handoff.outcome", Text, "How the handoff ended: `transferred`, `rejected`, `expired`, `failed`, `parked`, `cancelled` or `at_desk`."}
	Retries      = &Attribute{"trapeze.handoff.retries", Integer, "Offers that were made again to the same receiver."}
	Offer        = &Attribute{"trapeze.offer.number", Integer, "The number of the offer in its handoff."}
	Rejection    = &Attribute{"trapeze.rejection", Text, "Why a receiver rejected the offer: a term of a closed set."}
	Automatic    = &Attribute{"trapeze.confirm.automatic", Truth, "The source confirmed by default."}
	Approved     = &Attribute{"trapeze.approved", Truth, "The handoff was approved, or denied."}
	ParkCause    = &Attribute{"trapeze.park.cause", Text, "Why the task is in the dead letters: a term of a closed set."}
	TicketKind   = &Attribute{"trapeze.ticket.kind", Text, "What people are asked: `question` or `takeover`."}
	TicketEnd    = &Attribute{"trapeze.ticket.outcome", Text, "How the ticket ended."}
	Tokens       = &Attribute{"trapeze.envelope.tokens", Integer, "Tokens of the envelope as it was packed for the receiver."}
	Completeness = &Attribute{"trapeze.envelope.completeness", Number, "Share of the references in the envelope that could be resolved, from 0 to 1."}
	Actor        = &Attribute{"trapeze.actor", Text, "The principal that caused the step, such as `agent/coder` or `system/courier`."}
	Since        = &Attribute{"trapeze.audit.first", Integer, "Position in the record of the entry that begins the span."}
	Until        = &Attribute{"trapeze.audit.last", Integer, "Position in the record of the entry that ends the span: `trapeze audit show` has it."}
)

// The attributes of the semantic conventions of OpenTelemetry. Those for generative AI and MCP are not stable yet: they are named here alone.
var (
	Operation     = &Attribute{"gen_ai.operation.name", Text, "`invoke_agent` of an agent that owns a task, `execute_tool` of a call of a tool."}
	AgentName     = &Attribute{"gen_ai.agent.name", Text, "The agent that owns the task, or that calls."}
	Conversation  = &Attribute{"gen_ai.conversation.id", Text, "The conversation that the task belongs to."}
	ToolName      = &Attribute{"gen_ai.tool.name", Text, "The tool."}
	MCPMethod     = &Attribute{"mcp.method.name", Text, "`tools/call`."}
	Transport     = &Attribute{"network.transport", Text, "Of the MCP session: `tcp`, over HTTP, or `pipe`, over standard input and output, which is `trapeze mcp`."}
	RequestMethod = &Attribute{"http.request.method", Text, "The method; `_OTHER` if HTTP does not define it."}
	Route         = &Attribute{"http.route", Text, "The pattern of the route, such as `/v1/tasks/{id}`."}
	StatusCode    = &Attribute{"http.response.status_code", Integer, "The status code of the answer."}
	ErrorType     = &Attribute{"error.type", Text, "Why the span failed: the outcome, the code of a refusal, or the status code. Such a span has the status Error."}
)

// Values of attributes.
const (
	InvokeAgent = "invoke_agent"
	ExecuteTool = "execute_tool"
	ToolsCall   = "tools/call"
	OtherMethod = "_OTHER"
	TCP         = "tcp"
	Pipe        = "pipe"
)

// Step is a kind of spans.
type Step struct {
	Name       string // of its spans; some have a name behind it
	Extent     string // what the span lasts from and until
	Parent     string
	Attributes []*Attribute // beside those that all have
}

var ofHandoff = []*Attribute{HandoffAttr, Kind, Reason, Claim, Recovery, From}

const (
	inHandoff = "The handoff."
	inOwner   = "The ownership; of a task without an owner, the task."
	inCall    = "The call that caused it, if that call is in the trace of the task. Otherwise what the caller did for the task: see [Parents](#parents)."
)

// The spans that are made from the record.
var (
	TaskStep     = &Step{"task", "From the creation of the task until its end.", "The call that created it; of a child task, the delegation.", []*Attribute{ParentTask, TaskState, Conversation, ErrorType}}
	OwnerStep    = &Step{InvokeAgent, "While one agent owns the task. Its name is behind that of the span.", "The handoff that gave it the task, or the task.", []*Attribute{Operation, AgentName, Conversation}}
	HandoffStep  = &Step{"handoff", "From the request of the handoff until its end.", inCall, append([]*Attribute{To, Outcome, Retries, Tokens, Completeness, ErrorType}, ofHandoff...)}
	RequestStep  = &Step{"handoff request", "A moment.", inHandoff, ofHandoff}
	ApprovalStep = &Step{"handoff approval", "From the question to the approver until its answer.", inHandoff, []*Attribute{HandoffAttr, Approved, Actor}}
	SeenStep     = &Step{"handoff seen", "From an offer until a receiver has seen it.", inHandoff, []*Attribute{HandoffAttr, Offer, To, Actor}}
	AcceptStep   = &Step{"handoff accept", "From when the receiver had seen the offer until it accepted: the acknowledgment.", inHandoff, []*Attribute{HandoffAttr, Offer, To, Actor}}
	RejectStep   = &Step{"handoff reject", "From when the receiver had seen the offer until it rejected.", inHandoff, []*Attribute{HandoffAttr, Offer, To, Rejection, Actor}}
	ExpireStep   = &Step{"handoff expire", "From an offer until its time was over, with no receiver that had seen it, or none that answered.", inHandoff, []*Attribute{HandoffAttr, Offer, To, ErrorType, Actor}}
	ShedStep     = &Step{"handoff shed", "From an offer until it was withdrawn from an agent with too much to do.", inHandoff, []*Attribute{HandoffAttr, Offer, To, Actor}}
	RetryStep    = &Step{"handoff retry", "The pause before another offer to the same receiver.", inHandoff, []*Attribute{HandoffAttr, Offer, To}}
	ConfirmStep  = &Step{"handoff confirm", "From the acceptance until the source lets go.", inHandoff, []*Attribute{HandoffAttr, Automatic, Actor}}
	CompleteStep = &Step{"handoff complete", "From the confirmation until ownership has moved.", inHandoff, []*Attribute{HandoffAttr, To, Actor}}
	ReturnStep   = &Step{"handoff return", "The moment when the task is back with its source.", inHandoff, []*Attribute{HandoffAttr, Outcome, ErrorType, Actor}}
	LostStep     = &Step{"lease lost", "The moment when an owner sent no sign of life in time.", inOwner, []*Attribute{AgentName, ErrorType}}
	StuckStep    = &Step{"owner stuck", "The moment when an owner had made no progress in time, or was reported as stuck.", inOwner, []*Attribute{AgentName, ErrorType, Actor}}
	ParkStep     = &Step{"task park", "The moment when the task went to the dead letters.", inOwner, []*Attribute{ParkCause, ErrorType, Actor}}
	ReplayStep   = &Step{"task replay", "The time in the dead letters, until an operator replayed the task.", inOwner, []*Attribute{Actor}}
	TicketStep   = &Step{"ticket", "From the question to people until its end.", inOwner, []*Attribute{TicketKind, TicketEnd, Actor}}
	ChildStep    = &Step{"delegation", "From the request of a child task until its result is back.", inOwner, []*Attribute{ChildTask, TaskState, ErrorType}}
)

// Steps lists the kinds of spans that are made from the record.
func Steps() []*Step {
	return []*Step{
		TaskStep, OwnerStep, HandoffStep, RequestStep, ApprovalStep, SeenStep, AcceptStep, RejectStep, ExpireStep, ShedStep, RetryStep, ConfirmStep, CompleteStep,
		ReturnStep, LostStep, StuckStep, ParkStep, ReplayStep, TicketStep, ChildStep,
	}
}

// Common lists the attributes that all spans from the record have.
func Common() []*Attribute { return []*Attribute{Workspace, TaskAttr, Since, Until} }

const inClient = "The span of the client, if the call has a trace context. Otherwise, of a call about a task: see [Parents](#parents)."

// The spans of calls.
var (
	CallStep = &Step{"call", "A call of the HTTP API. Its name is the method and the pattern of the route. If a tool of `trapeze mcp` makes it, it names the tool.", inClient + " If a tool of `trapeze mcp` with spans of its own makes it, that of the tool.", []*Attribute{RequestMethod, Route, StatusCode, MCPMethod, ToolName, Transport, AgentName, Workspace, TaskAttr, ErrorType}}
	ToolStep = &Step{ToolsCall, "A call of an MCP tool. The tool is behind the name.", inClient, []*Attribute{MCPMethod, Operation, ToolName, Transport, AgentName, Workspace, TaskAttr, ErrorType}}
)

// Calls lists the kinds of spans of calls.
func Calls() []*Step { return []*Step{CallStep, ToolStep} }

// Attributes lists every attribute.
func Attributes() []*Attribute {
	return []*Attribute{
		Workspace, TaskAttr, ParentTask, TaskState, ChildTask, HandoffAttr, Kind, Reason, Claim, Recovery, From, To, Outcome, Retries, Offer, Rejection, Automatic, Approved,
		ParkCause, TicketKind, TicketEnd, Tokens, Completeness, Actor, Since, Until, Operation, AgentName, Conversation, ToolName, MCPMethod, Transport, RequestMethod, Route, StatusCode, ErrorType,
	}
}
