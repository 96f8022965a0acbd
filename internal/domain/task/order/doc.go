// Package order checks that the rules of tasks could have written the events of a task, in that order. It refuses an acceptance without an offer, a result of an
// agent that does not own the task, an epoch that does not follow the one before. It knows the tables of [task] and who and what each event must name,
// and not the rules that decide: so it is a second, smaller statement of them, with which a record is verified.
//
// Start reading at [Apply]. The random stories of package handoff show that it finds nothing in what the rules write, and that it refuses an event
// of every kind if the event names, for example, another owner, offer or epoch than the task has.
package order
