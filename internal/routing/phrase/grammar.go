package phrase

import (
	"slices"
	"strings"
	"sync"
)

// macros are parts shared by many rules.
var macros = map[string]string{
	"who":     "{[the] AGENT [agent]|[the] agent AGENT}",
	"this":    "{this|that|it|this one|{this|the|my|our|that} [current|whole] <work>|[the|this] {task|job} TASK|TASK}",
	"work":    "{task|work|job|ticket|issue|case|request|conversation|thing|one}",
	"on":      "{of|for|on|about|regarding|with|in} <this>",
	"handoff": "{handoff|hand-off|hand off|handover|hand-over|hand over|transfer}",
	"many":    "{handoffs|hand-offs|handovers|hand-overs|transfers|hand offs}",
	"expert":  "{specialist|expert|professional}",
	"a":       "{a|an|some}",
	"field":   "{in|for|on|with|of} [the] [{area|field|domain|topic} of] CAP",
	"skilled": "{a|an|some} {<expert> [<field>]|CAP {<expert>|person|agent}}",
	"someone": "{someone|somebody|anyone|anybody|an agent|any agent|whoever} [{who|that}] [is] " +
		"{can do|can handle|can|does|handles|knows|knows about|skilled in|good at|with|specialized in|specialised in|capable of} CAP",
	"offto":   "{off|over|on|along|away|[off] over} to",
	"needs":   "{needs|need|requires|require|calls for|wants|is for|is a job for|is a case for|could use}",
	"context": "{[the|this|that|my|our|its|all|all the|all of the|full|the full|whole|the whole] [<work> ['s]] [current] context}",
	"show":    "{show|list|display|print|give|get|tell|see|view|read|i want to see|let me see|let us see}",
	"history": "[full|complete|whole|entire] [handoff|hand-off|handover|transfer|task|audit|ownership] {history|trail|log|audit trail|audit log|timeline}",
	"active":  "{active|open|current|pending|ongoing|running|live|outstanding|unfinished|in-flight|in flight}",
	"stuck": "{is|seems|looks|appears|seems to be|appears to be|looks like it is|has got|got|'s} " +
		"{stuck|hung|hanging|frozen|unresponsive|dead|lost|gone|not responding|not answering|not reacting}" +
		"|{has|'s} {hung|crashed|died|frozen|stalled|disappeared|gone silent|gone quiet|stopped responding|stopped answering}" +
		"|{does not|did not} {respond|answer|react|get on|make progress}|{hangs|stopped responding|stopped answering|went silent|went quiet|crashed|died}",
}

// rule is one way to express an intent.
type rule struct {
	intent    Intent
	pattern   pattern
	statement bool // describes a situation instead of an action
}

// rules are the compiled sayings. They are compiled at the first use: most commands of the program parse no sentence.
var rules = sync.OnceValue(func() []rule { return grammar(sayings) })

// sayings are the patterns of each intent. A sentence must match one as a whole, without its courtesies and its reason.
var sayings = map[Intent][]string{
	Handoff: {
		"{hand|pass|give|turn|transfer|send|move|route|assign|reassign|forward} <this> [off|over|on|along|away] to <who> [{for|on} [task] TASK]",
		"{hand|pass|turn|transfer|send|move} {off|over|on} <this> to <who>",
		"{handoff|hand-off|handover|hand off|hand over|pass on|pass over} [<this>] to <who> [{for|on} <this>]",
		"{do|make|start|initiate|perform|begin|request|create|trigger} {a|the} <handoff> [of <this>] to <who> [{for|of} <this>]",
		"[a|the] <handoff> [of <this>] to <who> {is needed|needed}",
		"transfer {ownership|control|responsibility} [{of|for} <this>] to <who> [{for|of} <this>]",
		"{give|hand} <who> <this>",
		"{let|have} <who> {have|take|handle|do|continue|finish|work on|take care of|deal with} <this> [over]",
		"{let|have} <who> take {over <this>|<this> over}",
		"i {want|need|would like} <who> to {have|take|handle|do|continue|finish|work on|take care of|deal with} <this> [over]",
		"<this> {needs to|has to|must} {go|move|be handed|be handed off|be handed over|be passed|be passed on|be transferred|be sent} to <who>",
	},
	Escalate: {
		"escalate [<this>] [up|upwards] [to <who>] [{for|on} <this>]",
		"<this> {needs|requires} {escalation|escalating|an escalation|to be escalated} [to <who>]",
		"{bump|kick|push|send|take|pass|raise|move|hand} <this> {up|upwards|upstairs|up the chain|up one level|one level up|a level up|to the next level} [to <who>]",
		"{start|request|trigger|initiate} an escalation [{of|for} <this>] [to <who>]",
		"i need an escalation [{of|for|on} <this>]", "escalation [{of|for} <this>] {needed|is needed}",
	},
	Takeover: {
		"{take over|takeover|take-over} [<this>] [from <who>] [{on|for} <this>]",
		"{take over|takeover|take-over} for <who> [on <this>]",
		"take <this> over [from <who>]", "{take|grab|claim|get} <this> from <who>", "{take over|claim} <this>",
		"{take|assume|claim} {ownership|control|charge|responsibility} [of <this>] [from <who>]",
		"{pick|take} up <this> from <who>", "pick <this> up from <who>", "pick up [<this>] where <who> left off",
		"{step in for|relieve} <who> [{on|of|with} <this>]",
		"{do|start|request|initiate} a {takeover|take-over} [of <this>] [from <who>]",
	},
	History: {
		"[<show>] [me|us] [the|its] <history> [<on>]",
		"what is [the|its] <history> [<on>]", "{show|give|tell} [me|us] <this> 's <history>", "what does the <history> [<on>] {say|look like}",
		"{what happened|what has happened|what went on} {to|with|on} <this> [so far|before]",
		"{how did <this> get here|where has <this> been|who has had <this>|who had <this> [before]|who has owned <this>|who owned <this> before}",
		"<show> [me|us] {how <this> got here|where <this> has been|who has had <this>}",
	},
	Share: {
		"{transfer|share|send|pass|give|copy|forward|hand|move} [over|on|along] <context> [<on>] [over|on|along] {to|with} <who> [{for|of} <this>]",
		"{give|send|show|hand} <who> <context> [<on>]", "context transfer [of <this>] to <who>",
		"share <this> with <who>", "{let|have} <who> {have|see} <context> [<on>]",
		"brief <who> [{on|about} <this>]", "{fill|loop} <who> in [on <this>]", "{bring|get} <who> {up to speed|up to date} [on <this>]",
	},
	Specialist: {
		"<this> <needs> {<skilled>|<someone>} [{for|on} <this>]", "{i|we} {need|want|require|could use} {<skilled>|<someone>} [{for|on} <this>]",
		"{<expert>|<expert> in CAP|CAP <expert>} [is] {needed|required|wanted} [{for|on} <this>]",
		"{find|get|bring in|call|call in|involve|request|ask for|route to} [me|us] {<skilled>|<someone>} [{for|on} <this>]",
		"{hand|pass|give|transfer|send|move|route|assign|forward} <this> [off|over|on|along] to {<skilled>|<someone>}",
		"{handoff|hand-off|handover|hand off|hand over|pass on} [<this>] to {<skilled>|<someone>}",
	},
	Stuck: {
		"{<who>|<this>} {<stuck>} [{on|with|in} <this>]",
		"{report|mark|flag} {<who>|<this>} [as] stuck [{on|with} <this>]", "{recover|unstick|rescue} <this> [from <who>]",
	},
	Active: {
		"[<show>] [me|us|all] [the|all|my|our|all the|all of the|any] <active> <many>", "<show> [me|us] [all|the|all the|my|our] <many>",
		"{what|which} <many> are {there|<active>|under way|underway|in progress|going on}", "{what|which} are the <active> <many>",
		"are there [any] <active> <many>", "{what|which} <active> <many> are there", "what is {in flight|being handed off|under way}",
	},
}

// grammar compiles the rules in a fixed order.
func grammar(table map[Intent][]string) []rule {
	var list []rule
	for _, i := range intents {
		for _, text := range table[i] {
			statement := i == Stuck && !strings.HasPrefix(text, "{re") || i == Specialist && strings.HasPrefix(text, "<this>")
			list = append(list, rule{i, compile(text), statement})
		}
	}
	return list
}

// incomplete are patterns of sentences that lack a name, and what is missing.
var incomplete = []struct {
	pattern string
	missing string
	example string
}{
	{"{hand|pass|give|turn|transfer|send|move|route|assign|reassign|forward} <this> [off|over|on|along|away] [to]", "to whom", "hand this off to AGENT"},
	{"{hand off|handoff|hand-off|handover|hand over|pass on} [<this>] [to]", "to whom", "hand this off to AGENT"},
	{"{transfer|share|send|pass|give} [over] <context> [<on>] [to|with]", "with whom", "transfer context to AGENT"},
	{"{is|seems} stuck", "who", "agent AGENT is stuck"},
}

// requests and courtesies may precede the instruction. A request, before or after it, makes a question an instruction.
var (
	requests = []string{
		"could you", "can you", "would you", "will you", "could u", "can u", "would you mind", "may i ask you to", "can i ask you to",
	}
	courtesies = []string{
		"hey", "hi", "hello", "ok", "okay", "so", "well", "now", "trapeze", "dear", "then", "also", "i want to", "i want you to", "i would like to",
		"i would like you to", "i need to", "i need you to", "we need to", "we want to", "we would like to", "let us", "go ahead and", "let me",
		"i will", "we will", "i have to", "we have to", "i must", "we must", "time to", "it is time to", "go", "you can", "you may",
	}
)

// farewells may follow the instruction.
var farewells = []string{
	"thanks", "thank you", "thx", "thanks a lot", "many thanks", "cheers", "now", "right now", "immediately", "right away", "at once", "asap",
	"as soon as possible", "for me", "for us", "at the moment", "currently", "if you please", "ok", "okay", "at this time", "today", "instantly",
}

// fillers have no meaning anywhere.
var fillers = []string{"please", "kindly", "just", "simply", "really", "urgently", "quickly"}

// Words with which a sentence is not an instruction.
var (
	negations = []string{
		"not", "no", "never", "nobody", "none", "without", "stop", "cancel", "abort", "undo", "avoid", "nevermind", "forget", "refuse", "neither", "nor",
		"instead", "except", "hardly", "unnecessary", "disregard", "ignore", "revoke", "withdraw",
	}
	conditions = []string{
		"if", "unless", "when", "whenever", "until", "till", "once", "after", "before", "while", "otherwise", "later", "tomorrow", "maybe", "perhaps",
		"possibly", "should", "might", "eventually", "in case", "provided", "depending",
	}
	questions = []string{
		"can", "could", "may", "shall", "do", "does", "did", "is", "are", "was", "were", "has", "have", "will", "would", "why", "how", "who", "what",
		"which", "where", "whether", "am",
	}
)

// takebacks begin a clause that retracts the instruction before it.
var takebacks = []string{
	"do not", "never mind", "nevermind", "forget", "cancel", "stop", "scratch", "wait", "no wait", "on second thought", "kidding", "actually no",
	"actually do not", "not really", "rather not", "better not",
}

// pronouns and similar words are not names either, although not all are in the rules.
var pronouns = []string{
	"me", "you", "him", "her", "them", "us", "he", "she", "they", "we", "i", "myself", "yourself", "himself", "herself", "someone", "somebody",
	"anyone", "anybody", "everyone", "everybody", "who", "whom", "whoever", "another", "other", "others", "else", "human", "person", "people",
	"operator", "somewhere", "there", "here", "these", "those", "and", "or", "but", "then", "to", "from", "because", "since", "as", "by", "at",
	"owner", "next", "previous", "last", "first", "same", "best", "right", "your", "their", "his", "so", "also", "too", "again", "back", "up",
	"both", "either", "each", "due", "owing", "reason",
}

// nameable are words of the rules that may be names.
var nameable = []string{"specialist", "expert", "report", "record", "log", "ticket", "timeline", "route", "trail", "relieve", "audit"}

// reserved are the words that are names only in quotes.
var reserved = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	var add func(p pattern)
	add = func(p pattern) {
		for _, n := range p {
			if n.literal != "" && n.literal != strings.ToUpper(n.literal) {
				set[n.literal] = true
			}
			for _, c := range n.choice {
				add(c)
			}
		}
	}
	for _, r := range rules() {
		add(r.pattern)
	}
	for _, list := range [][]string{negations, conditions, questions, pronouns, fillers} {
		for _, w := range list {
			set[w] = true
		}
	}
	for _, p := range slices.Concat(requests, courtesies, farewells) {
		for w := range strings.FieldsSeq(p) {
			set[w] = true
		}
	}
	for _, w := range nameable {
		delete(set, w)
	}
	return set
})

func oneOf(w word, list []string) bool { return !w.quoted && slices.Contains(list, w.text) }
