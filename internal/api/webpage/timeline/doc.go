// Package timeline is what the page draws of a task: its trail as lines, who held it as bars, and what reached each receiver as stacks.
//
// Start reading at [Moments].
package timeline
