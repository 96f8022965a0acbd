package httpapi_test

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// TestAReceiptThatNamesChildrenFindsThem holds for every call that makes children, and for its repetition. The server has no courier, which would make them later.
func TestAReceiptThatNamesChildrenFindsThem(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	planner, _ := h.agent("planner")
	for _, name := range []string{"ann", "bob"} {
		h.agent(name)
	}
	sends := map[string]client.SendInput{
		"delegation": {To: []string{"ann"}, Kind: client.Delegation},
		"fan-out":    {To: []string{"ann", "bob"}, Kind: client.Broadcast, FanOut: true},
	}
	for name, send := range sends {
		calls := map[string]func(key string) (client.Receipt, error){
			"create": func(key string) (client.Receipt, error) {
				return planner.CreateTask(client.WithKey(ctx, key), client.CreateInput{Intent: "plan " + name, Start: true, Send: &send})
			},
			"send": func(key string) (client.Receipt, error) {
				r, err := planner.CreateTask(client.WithKey(ctx, key+" create"), client.CreateInput{Intent: "plan " + name, Start: true})
				if err != nil {
					return r, err
				}
				in := send
				in.Epoch = r.Epoch
				return planner.Send(client.WithKey(ctx, key), r.Task, in)
			},
		}
		for call, do := range calls {
			for range 2 {
				r, err := do(name + call)
				if err != nil || len(r.Children) != len(send.To) {
					t.Fatalf("%s by %s: %+v, %v", name, call, r, err)
				}
				at := client.WithPosition(ctx, r.Position)
				page, err := planner.Tasks(at, client.TaskFilter{Parent: r.Task})
				if err != nil || len(page.Tasks) != len(r.Children) {
					t.Errorf("%s by %s lists %+v, %v", name, call, page.Tasks, err)
				}
				for i, id := range r.Children {
					if child, err := planner.Task(at, id); err != nil || child.Parent.Task != r.Task || child.State != client.HandingOff {
						t.Errorf("child %d of a %s by %s: %+v, %v", i, name, call, child, err)
					}
				}
			}
		}
	}
}
