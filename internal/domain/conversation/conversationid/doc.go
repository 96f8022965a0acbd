// Package conversationid has the identity of conversations: a name, and the agent that calls the conversation so.
//
// "support-77~alice" is the conversation that alice calls support-77, and "support-77~operator" the one that operators do. So a name is never taken: nobody
// can begin a conversation that another agent means by a name, or learn that a name is in use. Its owner calls it by the name alone, everybody else
// by the id, or by the name in the course of a task that belongs to it.
//
// Where to change what:
//   - conversationid.go: which names and ids are refused, and how long a name may be (that of event/name.go, which other nouns share)
//
// Start reading at [Of].
package conversationid
