package work

// Help says what a program can count on, and what its end means.
const Help = `Make any program a receiver: wait for handoffs to an agent, accept them, and run CMD on each.

CMD gets the context, packed for the agent's context window, as a prompt on standard input. In its environment are

    TRAPEZE_TASK             the task
    TRAPEZE_HANDOFF          the handoff by which it came
    TRAPEZE_EPOCH            the number of this ownership
    TRAPEZE_AGENT            the agent
    TRAPEZE_ENVELOPE         a file with the envelope as JSON: what is in the prompt, and what was left out of it
    TRAPEZE_ATTEMPT          1, or 2 when a result was given back
    TRAPEZE_URL              the server
    TRAPEZE_TOKEN            the agent's token

so trapeze commands that it runs act as the agent, and on this task. To fetch what is not in the prompt, to note things for
others, and to say what is missing:

    trapeze envelope show $TRAPEZE_HANDOFF --source    what was sent, before it was packed for the agent
    trapeze artifact get DIGEST -o FILE                a file that goes along
    trapeze memory search WORDS                        finds what is known, from this task and others
    trapeze memory get ID                              reads it; the envelope names items, too
    trapeze memory add TEXT --scope task               for whoever has the task later; --scope workspace: for everybody
    trapeze conversation list --task $TRAPEZE_TASK     where the task was talked about
    trapeze conversation show NAME                     what was said there
    trapeze conversation log NAME TEXT                 adds to it
    trapeze task progress TEXT                         is on record when it returns, and renews the lease
    trapeze task gap --missing WHAT                    says what the context lacks; the work goes on

A program asks people with trapeze ask TEXT --wait=2h --quiet, which prints the answer. No lease runs meanwhile. If it ends
before there is an answer, the task is left as it is: the agent gets it again, with the answer, when it has gone on and
nobody has shown life for a lease.

What its end means:

    exit code 0             the task is completed with what CMD printed (--json-result: taken as JSON)
    a result that is not    CMD is run once more, with TRAPEZE_ATTEMPT=2: on standard input the prompt, then what it printed,
    as the task expects     then what is wrong with that. If that result is refused, too, the task fails, and that is why
    any other               the task is failed, with the exit code and the end of its standard error
    progress: … on stderr   is put on record as progress; the rest of stderr is passed through. Before handing on, a CMD
                            that wants its last note on record for certain uses trapeze task progress
    trapeze send by CMD     hands the task on; the task is then left as it is, whatever CMD prints

While CMD runs, its lease is renewed. When the task is lost (another took over, it was cancelled) CMD and all it started
are stopped. Ctrl-C drains: nothing new is taken and what runs is finished; a second Ctrl-C stops that too, and the
tasks are recovered when their leases end.

--preview PROGRAM is asked before an offer is accepted. It gets the inbox item as JSON; exit code 0 accepts, 3 rejects
as not_capable, 4 as overloaded, 5 as missing_context (its output names the fields), any other as refused, with the last
line of its standard error as the detail.`
