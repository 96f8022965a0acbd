package event

// MaxRoute is how many stops a route may have.
const MaxRoute = 32

// CheckRoute refuses a route that is too long or has a stop that cannot name an agent. An agent may be visited twice.
func CheckRoute(route []string) error {
	if err := checkCount("stops of a route", len(route), MaxRoute, "split the route"); err != nil {
		return err
	}
	for _, a := range route {
		if err := CheckAgent("an agent's name", a); err != nil {
			return err
		}
	}
	return nil
}

// Visit is one ownership on a task's path.
type Visit struct {
	Agent string `json:"agent"`
	Marks int    `json:"marks"` // the task's marks when the agent let go; -1 while it holds the task
}
