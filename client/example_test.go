package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

func Example() {
	server := open() // yours is at http://127.0.0.1:8727
	defer server.close()
	ctx := context.Background()
	planner, writer := server.agent("planner"), server.agent("writer")

	// The planner lets go …
	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent:  "Write the release notes",
		Content: client.Content{State: "the changes are listed", Facts: []client.Point{{Text: "the API did not change"}}},
		Send:    &client.SendInput{To: []string{"writer"}, Reason: client.ReasonSpecialization},
	})
	must(err)
	fmt.Println("planner:", sent.State, "to", sent.To)

	// … when the writer has a grip.
	items, err := writer.WaitInbox(ctx, client.InboxOptions{})
	must(err)
	got, err := writer.Accept(ctx, items[0].ID, client.AcceptInput{Render: true})
	must(err)
	fmt.Println("writer: owner is", got.Owner, "at epoch", got.Epoch)
	fmt.Println("writer: was told of the API:", strings.Contains(got.Content.Prompt, "the API did not change"))

	done, err := writer.Complete(ctx, got.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "Faster. Smaller."}})
	must(err)
	fmt.Println("writer:", done.State)
	// Output:
	// planner: handing_off to [writer]
	// writer: owner is writer at epoch 1
	// writer: was told of the API: true
	// writer: completed
}

func ExampleClient_Reject() {
	server := open()
	defer server.close()
	ctx := context.Background()
	planner, writer := server.agent("planner"), server.agent("writer")
	sent, err := planner.CreateTask(ctx, client.CreateInput{
		Intent: "Translate", Start: true, Send: &client.SendInput{To: []string{"writer"}, ReturnHome: true},
	})
	must(err)

	back, err := writer.Reject(ctx, sent.Handoff, client.RejectInput{Reason: client.MissingContext, Missing: []string{"target language"}})
	must(err)
	fmt.Println(back.Stage, "and back with", back.Owner)
	// Output: rejected and back with planner
}

func ExampleClient_Subscribe() {
	server := open()
	defer server.close()
	ctx := context.Background()
	planner, writer := server.agent("planner"), server.agent("writer")

	_, err := planner.CreateChannel(ctx, client.ChannelInput{Name: "drafts", Description: "texts to be written"})
	must(err)
	ch, err := writer.Subscribe(ctx, "drafts", client.SubscriptionInput{})
	must(err)
	fmt.Println(ch.Owner, "publishes to", ch.Subscribers)

	_, err = planner.CreateTask(ctx, client.CreateInput{Intent: "Write the release notes", Send: &client.SendInput{Channel: "drafts"}})
	must(err)
	items, err := writer.WaitInbox(ctx, client.InboxOptions{})
	must(err)
	got, err := writer.Accept(ctx, items[0].ID, client.AcceptInput{})
	must(err)
	fmt.Println("first of", items[0].Channel, "was", got.Owner)
	// Output:
	// planner publishes to [writer]
	// first of drafts was writer
}

func ExampleError() {
	server := open()
	defer server.close()
	ctx := context.Background()
	writer := server.agent("writer")
	mine, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write", Start: true})
	must(err)

	_, err = writer.Complete(ctx, mine.Task, client.CompleteInput{Epoch: mine.Epoch + 1})
	var refused *client.Error
	switch {
	case errors.Is(err, client.StaleEpoch):
		fmt.Println("somebody else has it")
	case errors.As(err, &refused):
		fmt.Println(refused.Code, refused.Hint)
	}
	// Output: somebody else has it
}

func ExampleClient_Events() {
	server := open()
	defer server.close()
	ctx, writer := context.Background(), server.agent("writer")
	made, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write", Start: true})
	must(err)
	_, err = writer.Complete(ctx, made.Task, client.CompleteInput{Epoch: made.Epoch})
	must(err)

	enough := errors.New("enough")
	err = writer.Events(ctx, made.Position-1, func(e client.Event) error {
		fmt.Println(e.Actor, e.Events)
		if e.Position > made.Position {
			return enough
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// writer [task-created task-started envelope-sealed]
	// writer [task-completed]
	// enough
}

func ExampleWithPosition() {
	server := open()
	defer server.close()
	ctx, writer := context.Background(), server.agent("writer")
	made, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write"})
	must(err)

	// Lists may lag behind. This one has at least what the call above did.
	page, err := writer.Tasks(client.WithPosition(ctx, made.Position), client.TaskFilter{Live: true})
	must(err)
	fmt.Println(len(page.Tasks), page.Tasks[0].Intent)
	// Output: 1 Write
}

func ExampleWithKey() {
	server := open()
	defer server.close()
	writer := server.agent("writer")

	// A key that outlives the program makes the call safe to repeat even after a crash.
	ctx := client.WithKey(context.Background(), client.NewKey())
	first, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write"})
	must(err)
	again, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write"})
	must(err)
	fmt.Println(first.Task == again.Task, again.Repeat)
	// Output: true true
}

func ExampleClient_Export() {
	server := open()
	defer server.close()
	ctx, writer := context.Background(), server.agent("writer")
	made, err := writer.CreateTask(ctx, client.CreateInput{Intent: "Write"})
	must(err)

	var table strings.Builder
	must(server.admin.Export(ctx, client.ExportOptions{Task: made.Task, Format: "csv"}, &table))
	head, _, _ := strings.Cut(table.String(), "\n")
	fmt.Fprintln(os.Stdout, head)
	// Output: position,timestamp,kind,id,handoff_id,event,agent,for,details
}

func ExampleClient_SearchMemory() {
	server := open()
	defer server.close()
	ctx := context.Background()
	scout, coder := server.agent("scout"), server.agent("coder")

	// What one agent learns …
	kept, err := scout.Remember(ctx, client.RememberInput{
		Title: "Login", Text: "The cookie expires too early.", Scope: client.ScopeWorkspace, Tags: []string{"auth"},
	})
	must(err)

	// … another one finds, and sees later whether it still holds.
	found, err := coder.SearchMemory(client.WithPosition(ctx, kept.Position), client.MemoryFilter{Query: "expired cookies"})
	must(err)
	known := found.Items[0]
	fmt.Println(known.Author, "says:", known.Excerpt)

	_, err = scout.Revise(ctx, kept.ID, client.ReviseInput{Title: "Login", Text: "Fixed: the cookie lives for a week."})
	must(err)
	now, err := coder.Memory(ctx, known.ID, client.MemoryReference{Version: known.Version, Digest: known.Digest})
	must(err)
	fmt.Println(now.Status+":", now.Text)
	// Output:
	// scout says: The cookie expires too early.
	// changed: Fixed: the cookie lives for a week.
}

func ExampleClient_Continuity() {
	server := open()
	defer server.close()
	ctx := context.Background()
	scout, coder := server.agent("scout"), server.agent("coder")

	sent, err := scout.CreateTask(ctx, client.CreateInput{Intent: "Fix the login", Start: true, Send: &client.SendInput{To: []string{"coder"}}})
	must(err)
	_, err = scout.AppendTurn(ctx, "login", client.TurnInput{Role: client.SpeakerUser, Text: "Please fix the login.", Task: sent.Task})
	must(err)
	_, err = scout.AppendTurn(ctx, "login", client.TurnInput{Role: client.SpeakerAssistant, Text: "The cookie expires too early."})
	must(err)

	// The next owner of the task can read on, and add to it.
	_, err = coder.Accept(ctx, sent.Handoff, client.AcceptInput{})
	must(err)
	so, err := coder.Continuity(ctx, "login~scout", 0)
	must(err)
	fmt.Print(so.Text)
	// Output:
	// Conversation so far: 2 turns in login~scout. Previous agents (turns): scout (2), coder (0)
	// Handed over: scout -> coder (user_request)
	// First request, from user to scout:
	//   Please fix the login.
	// Last turns, oldest first:
	// - scout:
	//   The cookie expires too early.
}
