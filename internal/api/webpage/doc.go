// Package webpage is the page where people look and act: what moves, a task's story, the tickets that wait for people, the dead letters.
//
// It shows what the HTTP API answers to the person's own token, which it calls in the same process: a person sees, and may do, what that
// principal may, and every read of content is recorded like any other.
//
// Invariants:
//   - Text of others is data. Templates escape it, and hidden characters are shown by their number in every answer: see [render].
//   - Pages are whole without a script, load nothing from elsewhere, and run no inline script or style.
//   - A session is a sealed cookie that no script reads. It ends with its token, after 12 hours, or when the person signs out.
//
// Start reading at [New], then sessions.
package webpage
