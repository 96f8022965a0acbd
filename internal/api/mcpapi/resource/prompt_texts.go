package resource

import (
	"context"

	"github.com/trapezehq/trapeze/client"
)

// what a receiver must be told, in every prompt that gives it something.
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
		w.say("If one of them is clearly meant, name it in to; auto lets the policy decide.")
	}
	w.call("send", field{"task", task}, field{"to", []string{to}}, field{"detail", w.given["reason"]})
	w.say("%s Then say who has it.", tellAll)
	return nil
}

func writeEscalate(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("escalate", field{"task", task}, field{"to", w.given["to"]}, field{"detail", w.given["reason"]})
	w.say("%s Give in detail why it is beyond you. You own it until somebody above has accepted.", tellAll)
	return nil
}

func writeTakeover(ctx context.Context, w *writer) error {
	task, err := w.task(ctx, client.TaskFilter{Owner: w.given["from"]})
	if err != nil {
		return err
	}
	w.call("accept", field{"takeover", task}, field{"detail", w.given["reason"]})
	w.say("Its owner is asked; if it consents, the task is yours: status shows that, and accept with the handoff that it names gives the context.")
	return nil
}

func writeHistory(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("status", field{"id", task}, field{"history", true})
	w.say("Then tell who had the task, when, and why it moved.")
	return nil
}

func writeShare(ctx context.Context, w *writer) error {
	task, err := w.own(ctx)
	if err != nil {
		return err
	}
	w.call("send", field{"task", task}, field{"to", []string{w.given["to"]}}, field{"share_only", true}, field{"detail", w.given["reason"]})
	w.say("%s The task stays with you.", tellAll)
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
	w.say("%s Then say who has it.", tellAll)
	return nil
}

func writeStuck(_ context.Context, w *writer) error {
	w.call("escalate", field{"stuck", w.given["who"]}, field{"detail", w.given["reason"]})
	w.say("Others are asked to take over. Then say which tasks moved, and to whom.")
	return nil
}

func writeActive(_ context.Context, w *writer) error {
	w.call("status")
	w.say("Then list what is being handed off, by whom and to whom.")
	return nil
}
