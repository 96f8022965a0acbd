// Package outside runs the coding agents of others as their users would, from `trapeze init` on: Claude Code, Codex CLI, Gemini CLI, opencode
// and Copilot CLI with a scripted model; the programs of docs/frameworks.md; Python clients of MCP; and the program of docs/search.md, with a
// real model. It has only tests, with the build tag outside; the programs are in testdata and are installed by `.ci/run outside`.
//
// Invariants:
//   - A model is a script on loopback. What it was shown is compared word for word with what the server keeps.
//   - Each agent has a home directory of its own, and is set up by `trapeze init` alone, except for its model.
//
// Start reading at agents_test.go, then handover_test.go, frameworks_test.go, recall_test.go and python_test.go.
package outside
