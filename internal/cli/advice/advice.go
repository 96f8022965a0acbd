package advice

import (
	"regexp"
	"strings"
)

// Ids of a handoff and of a task.
var (
	handoffID = regexp.MustCompile(`\btask_[0-9a-z]{26}\.h[0-9]+\b`)
	taskID    = regexp.MustCompile(`\btask_[0-9a-z]{26}\b`)
	ticketID  = regexp.MustCompile(`\btask_[0-9a-z]{26}\.k[0-9]+\b`)
	agentName = regexp.MustCompile(`^(?:there is no )?agent "?([a-z0-9][a-z0-9._-]*)"?(?:$| is not registered\b)`)
)

// The words for ids in a hint.
var (
	ticketWord  = regexp.MustCompile(`\bTICKET\b`)
	nameWord    = regexp.MustCompile(`\bNAME\b`)
	handoffWord = regexp.MustCompile(`\bHANDOFF\b`)
	taskWord    = regexp.MustCompile(`\bTASK\b`)
)

// Of returns a hint of the server in terms of commands and flags, with the ids that the message of the refusal begins with; one that has no such terms as it is.
func Of(hint, message string) string {
	more := hints[hint]
	name := agentName.FindStringSubmatch(message)
	switch {
	case more == "" && name != nil && strings.Contains(message, " is not registered") && strings.HasPrefix(hint, "use one of: "):
		more = hint + "; or add it first: trapeze agent add NAME"
	case more == "":
		return hint
	}
	if name != nil {
		more = nameWord.ReplaceAllLiteralString(more, name[1])
	}
	if id := ticketID.FindString(message); id != "" {
		more = ticketWord.ReplaceAllLiteralString(more, id)
	}
	if id := handoffID.FindString(message); id != "" {
		more = handoffWord.ReplaceAllLiteralString(more, id)
	}
	if id := taskID.FindString(message); id != "" {
		more = taskWord.ReplaceAllLiteralString(more, id)
	}
	return more
}

// hints are the server's hints in terms of commands and flags.
var hints = map[string]string{
	"look at its content again, and approve by the digest that this has":            "trapeze envelope show HANDOFF shows its content and digest; approve by that digest",
	"fetch the handoff and look at its stage":                                       "trapeze handoff show HANDOFF shows its stage",
	"wait until the sender confirms: the task shows it, and then who owns it":       "wait until the sender confirms: trapeze task show TASK shows it, and then who owns it",
	"wait until it is in your inbox":                                                "wait until it is offered: trapeze inbox --wait",
	"accept the offer first":                                                        "accept the offer first: trapeze accept TASK",
	"nothing is left to decide; fetch the task to see its handoffs":                 "nothing is left to decide; trapeze task show TASK shows its handoffs",
	"say under which epoch you act; fetch the task and look at its owner and epoch": "name the epoch under which you act with --epoch: trapeze task show TASK shows owner and epoch",
	"ownership has changed since; fetch the task and look at its owner and epoch":   "ownership has changed since: trapeze task show TASK shows owner and epoch",
	"fetch the newest, or export the trail for what went before":                    "trapeze envelope show TASK shows the newest; trapeze handoff show HANDOFF --document one that went before",
	"search for items that you may read; name the task whose envelope refers to it": "trapeze memory search WORDS finds those that you may read; name the task whose envelope refers to it with --task",
	"look at the trail of the task for its entries":                                 "trapeze audit show TASK lists its entries",
	"add the agent first":                                               "add the agent first: trapeze agent add NAME",
	"use the token of the agent that has the offer":                     "act as the agent that has the offer: --agent NAME",
	"wait for it, or withdraw it by cancelling the handoff":             "wait for it, or withdraw it with: trapeze handoff withdraw HANDOFF",
	"fetch the context of the task and go on with it, under this epoch": "go on with it; trapeze envelope render TASK shows its context",
	"name an agent":           "name an agent: --to NAME",
	"register an agent first": "register it first: trapeze agent add NAME",
	"name an agent, or human:operators to ask people":                           "name an agent with --to NAME, or ask people with --to human:operators",
	"name an agent, or human:operators to ask people again":                     "name an agent with --to NAME, or ask people again with --to human:operators",
	"say which agent is to have it":                                             "name the agent that is to have it with --to NAME, or act as one that asks for it with --agent NAME",
	"list the channels to see which there are":                                  "trapeze channel list lists them; create one with trapeze channel create NAME",
	"list agents to see who there is":                                           "trapeze agent list lists the agents",
	"list the agents to see who is registered":                                  "trapeze agent list lists the agents",
	"list the alerts to see the silences":                                       "trapeze alerts lists them",
	"list the conversations that you have a part in":                            "trapeze conversation list lists those that you have a part in",
	"list the dead letters to see which tasks are":                              "trapeze dead list lists the tasks that are",
	"list the tokens to see their ids":                                          "trapeze token list lists the tokens with their ids",
	"list the tokens to see which there are":                                    "trapeze token list lists the tokens",
	"check the id; list tasks to see those you have a part in":                  "check the id: trapeze task list lists the tasks that you have a part in",
	"check the id; list tasks to see those you may see":                         "check the id: trapeze task list lists the tasks that you may see",
	"check the id: a task shows its ticket, and an inbox what was asked of you": "check the id: trapeze ticket list lists the open tickets, and trapeze inbox what was asked of you",
	"a handoff is accepted, rejected, confirmed, approved, denied or withdrawn by its id; the id of its task is the part before the dot": "trapeze accept, reject, confirm, approve, deny and handoff withdraw take the id of a handoff; the id of its task is the part before the dot",
	"a takeover request is approved or denied by its id; the id of its task is the part before the dot":                                  "trapeze approve and trapeze deny take the id of a takeover request; the id of its task is the part before the dot",
	"the context of a shared envelope is read by its id; the id of its task is the part before the dot":                                  "trapeze envelope show shows a shared envelope; the id of its task is the part before the dot",
	"a ticket is answered, approved, denied, claimed or released by its id; the id of its task is the part before the dot":               "trapeze ticket answer, approve, deny, claim and release take the id of a ticket; the id of its task is the part before the dot",
	"a memory item is read, revised, pinned or forgotten by its id":                                                                      "trapeze memory get, revise, pin and forget take the id of a memory item",
	"a task id looks like task_ and 26 letters and digits":                                                                               "a task id looks like task_ and 26 letters and digits, and trapeze task list shows yours; trapeze task create INTENT makes a task",
	"a handoff id looks like task_….h1":                                                                                                  "a handoff id looks like task_….h1; trapeze inbox lists those that are offered to you",
	"wait until somebody handles it, or withdraw it by denying it":                                                                       "wait for the answer: trapeze ticket show TICKET --wait; or withdraw it: trapeze ticket deny TICKET",
	"see /docs or /openapi.json for the calls of this API":                                                                               "give the address of the server without a path, such as http://127.0.0.1:8727; or it has another version than this program: trapeze doctor",
	"check your inbox":                                                                           "trapeze inbox lists what waits for you",
	"check your inbox for what is open":                                                          "trapeze inbox lists what waits for you",
	"nothing to do; your inbox lists the open offers":                                            "nothing to do; trapeze inbox lists the open offers",
	"fetch the task to see its constraints":                                                      "trapeze task show TASK shows its constraints",
	"fetch the task to see its handoffs":                                                         "trapeze task show TASK shows its handoffs",
	"fetch the task to see its takeover requests":                                                "trapeze task show TASK shows the requests to take it over",
	"fetch the task to see its ticket":                                                           "trapeze task show TASK shows its ticket",
	"search for items that you may read":                                                         "trapeze memory search WORDS finds those that you may read",
	"only the owner may do this; accept an offer or ask to take the task over":                   "only the owner may do this: accept an offer, or ask for the task with trapeze takeover TASK",
	"hand it off to an agent instead":                                                            "hand it off to an agent instead, or act as one with --agent NAME",
	"it can start when they have completed; put a route on the task to start it automatically":   "it can start when they have completed; create it with --after and --route NAME, without --send, and it is handed off automatically then",
	"/openapi.json describes what this call takes":                                               "see --help for the arguments of the command",
	"use a loopback name or an IP address, or add this name to the accepted hosts of the server": "use a loopback name or an IP address, or start the server with --host and this name",
	"name an agent, a capability or a channel":                                                   "name an agent with --to NAME, a capability with --capability NAME, or a channel with --channel NAME",
	"name an agent, a list of agents or a capability":                                            "name agents with --to NAME, or a capability with --capability NAME",
}
