// Package trapezetest tests chains of agents: a server in memory whose clock the test moves, scripted agents in place of those that
// are not under test, and assertions on what a whole chain did with a task.
//
//	s := trapezetest.Start(t)
//	s.Agent("researcher", trapezetest.Accept(trapezetest.Fact("cause", "the cookie expires too early"), trapezetest.HandOn("writer")))
//	s.Agent("writer", trapezetest.Accept(trapezetest.Complete("the login fails because the cookie expires too early")))
//	chain := s.Run(s.Create(client.CreateInput{Intent: "Find out why the login fails", Send: &client.SendInput{To: []string{"researcher"}}}))
//	chain.Completed()
//	chain.Owners("researcher", "writer")
//	chain.Survived()
//
// An agent under test runs against [Server.URL] with a token of [Server.Token], or is called as a step ([Do]). No test waits for a
// timer: [Server.Run] moves the clock to the next one when no scripted agent has anything to do, and [Server.Advance] moves it by as
// much as the test says.
//
// An assertion that fails prints what it found and, once for each chain, the chain's story: what each hop kept, changed and lost.
//
// Where to change what:
//   - server.go: what a test's server is started with, and its first time; run.go: when the clock moves, and when a run is given
//     up
//   - agent.go: the default window of a scripted agent; step.go: the steps of a script, and how often a working agent shows that
//     it is alive
//   - job.go: what ends the work on a task; judge.go: what a result must mention
//   - hop.go: which parts of two envelopes are compared (constraints, facts, decisions), and what counts as kept, reworded,
//     superseded, omitted or dropped at one hop. The report of a server is made in drift/entry.go
//   - assert.go: the assertions, and which losses each forgives; story.go: what is printed when one fails
//
// Start reading at [Start], then [Server.Agent], [Server.Run] and [Chain].
package trapezetest
