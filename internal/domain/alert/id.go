package alert

import "strings"

// ID is the id of an alert: its name and, of one of an agent, a colon and the agent.
func (k Key) ID() string {
	switch k.Agent {
	case "":
		return k.Name
	case Other:
		return k.Name + ":" + others
	}
	return k.Name + ":" + k.Agent
}

// others stands for [Other] in ids. It is safe in URLs and shells, and no name of an agent: names do not begin with a point.
const others = ".others"

// ParseID returns the key of an id. It refuses (not_found, invalid) what cannot be an alert.
func ParseID(id string) (Key, error) {
	var k Key
	k.Name, k.Agent, _ = strings.Cut(id, ":")
	if k.Agent == others {
		k.Agent = Other
	}
	return k, CheckKey(k)
}
