package work

// Help is the help of trapeze work: what a program can rely on, and what its exit means.
const Help = `Run a program on every task that is handed to an agent: the worker waits for offers, accepts them, and runs CMD on each.

CMD gets a prompt with the context on standard input, packed for the agent's context window. With --input
ask it gets what the sender asks, without context, or the original intent if there is none. These environment variables are set:

    TRAPEZE_TASK             the task
    TRAPEZE_HANDOFF          the handoff that it came with
    TRAPEZE_EPOCH            the number of this ownership
    TRAPEZE_AGENT            the agent
    TRAPEZE_ENVELOPE         a file with the envelope as JSON: the content of the prompt, and what was omitted from it
    TRAPEZE_ATTEMPT          1, or 2 if the first result was refused
    TRAPEZE_URL              the server
    TRAPEZE_TOKEN            the agent's token
    TRACEPARENT, TRACESTATE  the W3C trace context of the handoff, if it has one; commands send it on

Therefore trapeze commands that CMD runs act as the agent, and on this task. To fetch what the prompt lacks, to leave notes for others, and
to report what is missing:

    trapeze envelope show $TRAPEZE_HANDOFF --source    the envelope as sent, before it was packed for the agent
    trapeze artifact get DIGEST -o FILE                a file of the envelope
    trapeze memory search WORDS                        searches memory, of this task and others
    trapeze memory get ID                              shows a memory item; the envelope refers to some
    trapeze memory add TEXT --scope task               a note for later owners of the task; --scope workspace: for all agents
    trapeze conversation list --task $TRAPEZE_TASK     the conversations of the task
    trapeze conversation show CONVERSATION             the turns of a conversation
    trapeze conversation log CONVERSATION TEXT         adds a turn
    trapeze task progress TEXT                         records progress before it returns, and renews the lease
    trapeze task gap --missing WHAT                    records that the context lacks something; the work continues

To ask people, use trapeze ask TEXT --wait=2h --quiet, which prints the answer. Meanwhile the lease does not run. If CMD exits before there
is an answer, the task stays as it is: once the answer is in, or its time is over, the agent gets the task again when its lease expires.

The result depends on how CMD exits:

    exit code 0             the task is completed with the output of CMD (with --json-result parsed as JSON)
    a result that does      CMD runs once more, with TRAPEZE_ATTEMPT=2. Its standard input is the prompt, the refused output, and the
    not meet expectations   reason. If the second result is refused too, the task fails with that reason
    any other exit code     the task fails, with the exit code and the end of standard error
    progress: … on stderr   is recorded as progress; the rest of standard error is passed through. To be certain that a last note is
                            recorded before the task is handed off, use trapeze task progress
    trapeze send by CMD     hands the task off; its state then stays as it is, whatever CMD prints

While CMD runs, the lease is renewed. If the agent loses the task, because it was taken over or cancelled, CMD and its child processes are
stopped. Ctrl-C drains the worker: it accepts nothing new, and finishes what runs. A second Ctrl-C stops the running programs; their tasks
are recovered when their leases expire.

--preview PROGRAM decides whether an offer is accepted. It gets the inbox item as JSON on standard input. Exit code 0 accepts; 3 rejects as
not_capable, 4 as overloaded, 5 as missing_context (its output names the fields), and any other code as refused. The detail is the last line
of its standard error.`
