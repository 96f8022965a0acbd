// Package webpage is the page where people look and act: what moves, a task's story, the tickets that wait for people, the dead letters.
//
// It shows what the HTTP API answers to the person's own token, which it calls in the same process: a person sees, and may do, what that
// principal may, and every read of content is recorded like any other.
//
// Invariants:
//   - Text of others is data. Templates escape it, and hidden characters are shown by their number in every answer: see [render].
//   - Pages are whole without a script, load nothing from elsewhere, and run no inline script or style.
//   - A session is a sealed cookie that no script reads. It ends with its token, after 12 hours, or when the person signs out.
//   - A sign-in at the issuer is finished by the browser that began it, once, and goes on to a path of this server.
//
// Where to change what:
//   - story.go: what a task's story has; timeline/moment.go: its lines; timeline/kind.go: which events are marked as bad, good or a question, and which end an
//     offer in vain (its colours are in static/variables.css); timeline/bar.go: who held the task when; timeline/picture.go: what reached each receiver
//   - standing/standing.go: what a task waits for, in a sentence
//   - overview.go: what the first page reads: the columns of the board, how many tasks each shows, the first ones (the order of every list of tasks: sqlview/tasklist/tasklist.go), which agents are listed, the fullest first; the columns of the list of
//     agents, such as their load, are in templates/overview.html
//   - inbox.go: which tickets for people are shown, in which of the orders that record/view/ticket.go has (a new order begins there), and their actions; tasks.go: lists of tasks, which of them are cancelled, and what the page of an agent reads
//   - form/form.go: how many tasks one form changes; form/dead_letters.go: which replays contradict themselves
//   - alerts.go: for how long the page offers to silence an alert (the bounds: alert/decide.go); record.go: holds, erasures, checkpoints, receipts and workspaces
//   - conversation.go: how many turns are shown
//   - find.go: what a search looks in, and by which filters; memory.go: how many versions are shown
//   - policy.go: how many decisions and versions of the policy are shown, and where it sends a task now
//   - sheet/sheet.go: what is compared between two envelopes
//   - webpage.go: the routes, the table of pages and what each follows (in the words of [following]), and the greatest form
//   - session.go: the cookie of a session, and how long somebody stays signed in; sign_in.go: how people sign in by a link or a token; issuer.go: how they sign in at an issuer, and how long an attempt may take (what the issuer is asked: oauth/sign_in.go); live.go: when a page is told of changes
//   - static/variables.css: colours and sizes; static/page.css: where things stand; static/page.js: how a page follows changes; static/edits.js: what stays of a form in which somebody types;
//     static/list.js: how a long list goes on, follows changes, and which of its rows are in the page
//   - refill/refill.go: what a form that is refused comes back with
//   - figures.go, chart/chart.go: which figures are shown; names.go: how many ids are shown as names; render.go: how text of others is made safe
//   - human/human.go: how times, numbers, states and values are written; human/past.go: how a time can be typed; human/filter.go: what a folded filter says that it is set to
//   - the directory templates: the text of each page; templates/parts/parts.html: what several pages share, such as the columns of every list of tasks;
//     templates/parts/ticket.html: the forms of a ticket
//   - handoff.go: the page of one handoff; dead_letters.go: the list of dead letters, and what a form does to each
//
// Start reading at [New], then sessions.
package webpage
