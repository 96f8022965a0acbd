//go:build slow && !race

package scenario

// restrictedTasks is the number of tasks that go from agent to agent while their restrictions change.
const restrictedTasks = 200
