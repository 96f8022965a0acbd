package resource

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

// tellAll asks for the content that a receiver needs, in every prompt that hands something over.
const tellAll = "Add what the receiver needs: ask, summary, facts, decisions, questions."

func writeHandoff(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	to := w.given["to"]
	if to == "" {
		to = client.Auto
		if err := w.agents(ctx); err != nil {
			return err
		}
		w.say("If the user clearly means one of them, name it in to; with auto the policy decides.")
	}
	w.call("send", field{"task", task}, field{"to", []string{to}}, field{"detail", w.given["reason"]})
	w.say("%s Then tell the user who has the task.", tellAll)
	return nil
}

func writeEscalate(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("escalate", field{"task", task}, field{"to", w.given["to"]}, field{"detail", w.given["reason"]})
	w.say("%s Write in detail why you cannot do it. You own the task until the next level accepts it.", tellAll)
	return nil
}

func writeTakeover(ctx context.Context, w *writer) error {
	task, err := w.task(ctx, client.TaskFilter{Owner: w.given["from"]})
	if err != nil {
		return err
	}
	w.call("accept", field{"takeover", task}, field{"detail", w.given["reason"]})
	w.say("Its owner is asked. If the owner agrees, you own the task: {status} shows it, and {accept} with the handoff that {status} names gives the context.")
	return nil
}

func writeHistory(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("status", field{"id", task}, field{"history", true})
	w.say("Then tell the user who owned the task, when, and why it was handed off.")
	return nil
}

func writeShare(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("send", field{"task", task}, field{"to", []string{w.given["to"]}}, field{"share_only", true}, field{"detail", w.given["reason"]})
	w.say("%s You keep the task.", tellAll)
	return nil
}

func writeSpecialist(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	to := field{"capability", w.given["capability"]}
	if to.value == "" {
		to = field{"to", []string{client.Auto}}
	}
	w.call("send", field{"task", task}, to, field{"reason", string(client.ReasonSpecialization)}, field{"detail", w.given["reason"]})
	w.say("%s Then tell the user who has the task.", tellAll)
	return nil
}

func writeStuck(_ context.Context, w *writer) error {
	w.call("escalate", field{"stuck", w.given["who"]}, field{"detail", w.given["reason"]})
	w.say("Others are asked to take over. Then tell the user which tasks are offered to others, and to which agents.")
	return nil
}

func writeActive(_ context.Context, w *writer) error {
	w.call("status")
	w.say("Then list the tasks that are being handed off, with sender and receiver.")
	return nil
}
