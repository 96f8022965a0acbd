// Package last remembers, in files of the data directory, which task each caller of the command line created or handed off last, and
// under which epochs it was given tasks.
//
// Invariants: a caller is a file name without separators; what is kept of a server's answer are ids of tasks, numbers and names of agents, and nothing else; a file appears whole; the number of tasks whose epochs are remembered is bounded.
//
// Start reading at [Save], then [Hold].
package last
