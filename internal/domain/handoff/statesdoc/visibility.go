package main

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/task"
)

// who says of each relation who has it.
var who = map[task.Relation]string{
	task.Requester: "The agent or person that created the task",
	task.Owner:     "Its owner, also after it has ended",
	task.Approver:  "The approver of its handoff, while that is in flight",
	task.Receiver:  "An agent that has its open offer",
	task.Shared:    "An agent that was shared an envelope of it",
	task.Candidate: "An agent that may claim it",
	task.Former:    "An agent that owned it before",
	task.Involved:  "An agent that was offered it before, or approved a handoff of it",
}

var pasts = map[task.Past]string{
	task.PastNone:  "its own entries",
	task.PastHeld:  "its time, what came before that back to the last cold handoff, and its own entries",
	task.PastWhole: "all",
}

// visibility is the page of who reads what of a task.
func visibility() string {
	var b strings.Builder
	b.WriteString("# Who reads what of a task\n\n" + generated +
		"Operators, administrators and auditors read everything; each read of content is recorded. An agent reads what its relation to the task lets it read, the same\n" +
		"at every access path: HTTP, the Go client, MCP, the command line, trails, exports, the drift report and the event stream. An agent with several reads\n" +
		"what any of them allows. Everybody else is told that there is no such task.\n\n" +
		"An agent that is registered under the name of one that was removed is another agent, `NAME~2`, and then `NAME~3`: it has no relation to the tasks of the one before, and\n" +
		"none of its inbox, private memory items, conversations, subscriptions, files, circuits and tokens. Tasks that the agent before held or was offered go to\n" +
		"others when its lease or its time to answer is over, those that it requested and that come back go to the dead letters, and operators see all of them.\n\n" +
		"State, owner, handoffs with reason, receivers and times, constraints, expectations and the first 500 bytes of the intent are for every relation.\n\n" +
		"| relation | intent | what was offered or shared, with its files | work | memory of the task | content of the past |\n|---|---|---|---|---|---|\n")
	yes := func(v bool) string {
		if v {
			return "yes"
		}
		return "no"
	}
	for _, r := range task.Relations() {
		s := r.Visibility()
		memory := yes(s.Memory)
		if r == task.Former {
			memory = "what was written until it lost the task"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", who[r], yes(s.Intent), yes(s.Given), yes(s.Work), memory, pasts[s.Past])
	}
	b.WriteString("\n- **Work**: the envelope as it is now, progress notes, the result, tickets and answers, children, shares, and the details that handoffs give.\n" +
		"  From its owners after a cold handoff, the notes, tickets, answers and results of children from before it are withheld.\n" +
		"- **Memory of the task**: items in the scope of the task, and the conversation that it belongs to. It ends with the task.\n" +
		"  Owners after a cold handoff read nothing of what was remembered and said before it, and pass none of it on; a former owner reads no item that was written\n" +
		"  or changed after it lost the task, and goes on reading a conversation only if it is its own or it has spoken in it while it\n" +
		"  requested or owned one of its tasks: neither an approver nor a former owner adds to a conversation.\n" +
		"- **Content of the past**: texts, envelopes and results in trails, exports and the drift report. What is not for the reader is replaced by \"withheld\"; digests,\n" +
		"  times and names stay. The receiver of a cold handoff gets the description alone (from an agent also the facts and decisions that the requester and operators pinned), so what came before it stays withheld from it, and from those that it hands\n" +
		"  the task to. An entry after it with content from before, as when a share is read or a child ends late, is read by those who read where that was made.\n" +
		"- **A search by words** (`words` at `GET /v1/tasks`, and the page) finds a task by the content that its trail shows to the one who searches.\n" +
		"- **The drift report** is for those that read more of the past than their own entries. It compares the envelopes of the entries that they read.\n" +
		"- A file is read by an agent that may read an entry that names its digest, and by the agent that stored it.\n")
	return b.String()
}
