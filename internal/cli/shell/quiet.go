package shell

import (
	"fmt"
	"strconv"

	"github.com/trapezehq/trapeze/client"
)

// quiet prints what scripts need: the ID of what was created or changed, or the IDs of a list, one per line. It reports false for
// answers without IDs.
func (s *Shell) quiet(v any) (bool, error) {
	ids, ok := idsOf(v)
	for _, id := range ids {
		if _, err := fmt.Fprintln(s.Stdout, OneLine(id)); err != nil {
			return ok, err
		}
	}
	return ok, nil
}

func idsOf(v any) (ids []string, ok bool) {
	switch v := v.(type) {
	case client.Receipt:
		for _, id := range []string{v.Ticket, v.Takeover, v.Share, v.Task} {
			if id != "" {
				return []string{id}, true
			}
		}
	case client.Done:
		if v.Receipt != nil {
			return idsOf(*v.Receipt)
		}
		return nil, false
	case client.Accepted:
		return []string{v.Task}, true
	case client.Task:
		return []string{v.ID}, true
	case client.Ticket:
		return []string{v.ID}, true
	case client.TicketPage:
		for _, k := range v.Tickets {
			ids = append(ids, k.ID)
		}
	case client.Imported:
		return []string{v.Task}, true
	case client.Handoff:
		return []string{v.ID}, true
	case client.Agent:
		return []string{v.Name}, true
	case client.Token:
		if v.Text != "" {
			return []string{v.Text}, true
		}
		return []string{v.ID}, true
	case client.TaskPage:
		for _, t := range v.Tasks {
			ids = append(ids, t.ID)
		}
	case client.Inbox:
		for _, i := range v.Items {
			ids = append(ids, i.ID)
		}
	case client.ArtifactInfo:
		return []string{v.Digest}, true
	case client.Channel:
		return []string{v.Name}, true
	case client.ChannelPage:
		for _, ch := range v.Channels {
			ids = append(ids, ch.Name)
		}
	case client.MemoryItem:
		return []string{v.ID}, true
	case client.MemoryPage:
		for _, m := range v.Items {
			ids = append(ids, m.ID)
		}
	case client.Said:
		return []string{strconv.Itoa(v.Turn)}, true
	case client.ConversationPage:
		for _, c := range v.Conversations {
			ids = append(ids, c.ID)
		}
	case client.AgentList:
		for _, a := range v.Agents {
			ids = append(ids, a.Name)
		}
	case client.TokenList:
		for _, t := range v.Tokens {
			ids = append(ids, t.ID)
		}
	default:
		return nil, false
	}
	return ids, true
}
