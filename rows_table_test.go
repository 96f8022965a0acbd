package trapeze_test

// A requirement is something that users of every interface depend on, and the tests that prove it at each interface. The ids are stable.
//
// A cell is a list of tests, separated by blanks: TestName; story:NAME, a script of the command line; or talk:NAME, a recorded conversation
// with the MCP server. A cell that begins with "- " is deliberately empty, and says why. An empty cell of HTTP or of the Go client means that the
// tests of the other two go through it: the command line and the MCP server are written with the Go client, which speaks HTTP.
type requirement struct {
	id, what               string
	http, mcp, cli, client string
}

// chapter is a chapter of the requirements.
type chapter struct {
	title string
	rows  []requirement
	later string // ids of requirements that are not built yet, or not as a whole
}

const (
	byPeople = "- for people and programs; no model needs it to work"
)

var chapters = []chapter{
	{title: "Task and handoff", rows: []requirement{
		{"L1", "states and transitions", "TestATaskTravelsFromOneAgentToAnother", "TestATaskGoesFromOneAgentToAnotherAndIsDone", "story:task", ""},
		{"L2", "request, acknowledgment, confirm, complete", "TestATaskTravelsFromOneAgentToAnother", "talk:decide TestToolsTakeWhatIsUnambiguous", "story:handoff", ""},
		{"L3", "the handoff document", "TestTheDocumentOfAHandoffHasAllItsPartsAlsoWhenItIsPast TestTheDocumentOfAHandoffNamesItsReceiverAtEveryStage TestTheDocumentOfAHandoffIsWholeAtEveryStage", "TestTheDocumentOfAHandoffIsReadOverMCP", "story:audit", "- the first column reads it with the client"},
		{"L4", "reasons", "TestBadInputIsRefusedWithAReasonAndAHint", "talk:send", "story:handoff", ""},
		{"L5", "warm, cold, supervised, broadcast, delegation", "", "TestEveryFieldOfTheContentReachesTheReceiver talk:delegate talk:people", "story:content story:handoff", ""},
		{"L6", "direct, broadcast, route", "TestWhatIsPublishedReachesWhoSubscribes", "TestAnAgentThatJoinsAChannelHearsOfWhatIsPublishedInIt TestATaskWaitsForItsDependenciesAndFollowsItsRoute", "story:channel story:task", "ExampleClient_Subscribe"},
		{"L7", "accept, reject, preview", "TestAnOfferIsPreviewedOverHTTP", "talk:reject TestAnOfferIsPreviewedOverMCP TestATaskThatWasSentAtOnceAndRejectedReturnsToItsRequester", "story:handoff story:work_preview", "ExampleClient_Reject"},
		{"L8", "timeouts, retries, escalation", "TestEveryDeadlineOverHTTPEndsWhenItShould TestAnOfferOverHTTPThatIsNotAnsweredIsRetriedAndThenGoesToTheFallback TestALookAtAListDoesNotMarkAnOfferAsSeen TestALookAtThePageDoesNotMarkAnOfferAsSeen", "TestATaskIsCreatedWithAllItsSettings TestAModelThatReadsItsInboxHasSeenItsOffers", "story:inbox story:status", ""},
		{"L9", "rollback", "", "TestATaskThatWasSentAtOnceAndRejectedReturnsToItsRequester", "story:handoff", ""},
		{"L10", "circuit breaker", "TestACircuitOverHTTPOpensRefusesIsGoneAroundAndCloses TestThoseWhoOpenedACircuitDoNotTakeItsProbe", "TestACircuitThatIsOpenRefusesOverMCP", "story:circuit", ""},
		{"L11", "dead letters", "", "TestAnOperatorReadsTheDeadLettersAndGivesOneANewRoute TestAnOperatorRevivesADeadLetterOverMCP", "story:dead", ""},
		{"L12", "loop protection", "", "talk:loop", "story:task", ""},
		{"L13", "priorities and deadlines", "TestAnInboxKeepsTheOrderOfPrioritiesFromPageToPage", "TestADeadlineMayBeATimeFromNow talk:inbox", "story:task", ""},
		{"L14", "epochs and leases", "", "TestASessionCompletesOnlyUnderTheEpochThatItWasGiven TestWhoAsksForATaskWhoseOwnerIsLostHasItAtOnce", "story:epoch story:task story:work_lost", ""},
		{"L15", "idempotency keys", "TestTheSameKeyMakesTheSameCall", "TestADecisionThatIsRepeatedWithItsKeyHappensOnce TestACallThatIsRepeatedAfterOwnershipMovedHappensOnce", "story:task", "TestACallThatFailedIsRepeatedUnderItsKey ExampleWithKey"},
		{"L16", "fan-in", "", "TestTheLineOfAChildShowsItsOwnStateAndItsOpenTicket talk:delegate", "story:handoff", ""},
		{"L17", "cancel", "TestACancelOverHTTPReachesTheOwnerAndTheChildren", "TestAWorkingAgentIsToldThatItsTaskIsCancelledOrTakenAway talk:cancel", "story:notices story:work_lost", ""},
		{"L18", "dependencies and permissions", "", "TestATaskWaitsForItsDependenciesAndFollowsItsRoute TestNoPermissionsAreNotAllPermissions", "story:task story:restriction", ""},
		{"L19", "share", "", "TestWhatIsToBeReadIsTextAlone", "story:handoff", ""},
		{"L20", "take over", "", "TestAnOperatorTakesATaskOver talk:decide", "story:handoff", ""},
	}},
	{title: "Envelope and context", rows: []requirement{
		{"E1", "the five parts", "", "TestEveryFieldOfTheContentReachesTheReceiver", "story:content", "TestTheClientSpeaksTheSameJSON"},
		{"E2", "conversation summary, facts, decisions, confidence, times, trace", "TestAReceiverGetsConfidenceTimesPriorityAndHops TestTheTraceContextOfARequestReachesTheReceiver", "TestATaskIsCreatedWithAllItsSettings TestTheTraceContextOfAToolCallReachesTheReceiver", "story:content story:work_trace", ""},
		{"E3", "immutable, chained by digest", "", "talk:resources", "story:envelope", ""},
		{"E4", "versions", "TestEnvelopesOfTwoMajorsAreReadAndImportedDuringAMigration", "- models read the rendered context, which has no version", "story:envelope", ""},
		{"E5", "token budget", "", "TestTheWholeAnswerToAcceptIsWithinTheBudget", "story:envelope", ""},
		{"E6", "four strategies", "", "TestATaskIsCreatedWithAllItsSettings", "story:envelope", ""},
		{"E7", "one call assembles it all", "TestASenderIsToldWhatTheReceiverWillRead TestWhoGivesATaskAwayIsToldHowManyTokensTheNextOwnerReads", "TestASenderIsToldHowCompleteTheContextIs TestWhoGivesATaskAwayIsToldOverMCPHowManyTokensTheNextOwnerReads", "story:envelope story:memory", ""},
		{"E8", "the prompt", "", "TestEveryToolFencesWhatOthersSay", "story:content", ""},
		{"E9", "completeness and gaps", "TestDriftCountsAReferenceAsGivenThoughItsItemWasForgottenSince", "TestAReportOfAGapRenewsTheLeaseAndCountsTheTokens", "story:envelope story:task", ""},
		{"E10", "constraints are inherited", "", "TestTheSetAllHasWhatTheDefaultLeavesOut TestAReceiverReadsWhoSetWhat", "story:restriction story:task", "TestAConstraintIsWrittenInOneLine"},
		{"E11", "budgets travel", "", "TestABudgetIsRaisedOverMCP TestATaskIsCreatedWithAllItsSettings", "story:budget", ""},
		{"E12", "drift report", "TestDriftCountsAReferenceAsGivenThoughItsItemWasForgottenSince", "talk:resources", "story:envelope", ""},
		{"E13", "what is left out by default", "", "TestWhatAPromptLeavesOutIsFetchedByTheCallThatItNames", "story:envelope", ""},
		{"E14", "artifacts and git snapshots", "TestTheClientPutsAndFetchesArtifacts TestAnArtifactGoesUpAndComesDownAsItIs TestAPromptWithFilesNamesTheCallThatFetchesThem", "TestArtifactsOverMCP TestAPromptWithFilesNamesTheCallThatFetchesThem TestATextIsAttachedAsAFile", "story:artifact story:git", "TestTheClientPutsAndFetchesArtifacts TestADownloadIsVerifiedAndNotRepeatedOnceItHasBegun"},
		{"E15", "fails closed", "TestNobodyReadsMoreOfATaskThanItsPartInItAllows", "TestAReceiverReadsThatNothingIsAllowed TestNoPermissionsAreNotAllPermissions", "story:restriction", ""},
		{"E16", "a lean frame", "", "TestPartsAreGivenInPagesOfBoundedSize TestTheWholeAnswerToAcceptIsWithinTheBudget", "story:work_input", ""},
	}},
	{title: "Memory and conversation", rows: []requirement{
		{"Y1", "items: scopes, versions, pins, tags, forgetting", "TestAMemoryItemIsChangedByItsAuthor", "TestMemoryOverMCPInFull TestWhatAnAgentHasPinnedItUnpinsOverMCP", "story:memory story:pins", ""},
		{"Y2", "search", "TestWhatOneAgentRemembersAnotherFinds", "TestMemoryOverMCPInFull", "story:memory", "ExampleClient_SearchMemory"},
		{"Y3", "lazy references with digests", "TestWhatOneAgentRemembersAnotherFinds", "talk:resources", "story:memory", ""},
		{"Y4", "conversations and continuity", "TestAConversationIsToldReadAndCondensed", "TestMemoryOverMCPInFull talk:conversation", "story:conversation", "ExampleClient_Continuity"},
		{"Y5", "channels", "TestAChannelIsMadeListedAndRemoved TestWhatIsPublishedReachesWhoSubscribes", "TestChannelsOverMCP", "story:channel", "ExampleClient_Subscribe"},
	}},
	{title: "Agents, routing, people", later: "R9", rows: []requirement{
		{"R1", "agents and their readiness", "TestAnAgentIsRegisteredOverHTTPAndItsReadinessIsKept TestAnAgentThatConnectsOverHTTPHasAPresenceAndIsReachedByPull", "TestAnAgentIsManagedOverMCP TestACallOfAToolIsASignOfLife talk:join", "story:agent", ""},
		{"R2", "checks before a transfer", "TestAReceiverIsCheckedOverHTTPBeforeATaskIsSent", "TestAReceiverIsCheckedBeforeATaskIsSent", "story:circuit", ""},
		{"R3", "the policy decides", "", "talk:route TestWhatThePolicyKeepsIsKeptOnce", "story:policy story:advice", "TestADelegationComesBackAndThePolicyOfTheTestIsInForce"},
		{"R4", "routing to a capability, load shedding", "", "TestAModelSendsToACapabilityAndAnOverloadedAgentIsRelievedOverMCP", "story:relief story:policy", ""},
		{"R5", "escalation chains", "", "talk:escalate", "story:handoff story:policy", ""},
		{"R6", "people: tickets", "TestThePersonAtAClientAnswersThereAsAnOperator", "TestThePersonAtTheClientAnswersAQuestion talk:ask talk:people", "story:ticket", ""},
		{"R7", "trigger phrases", "TestWhatIsSaidIsDoneOverHTTP", "TestASentenceIsDoneOverMCP talk:prompts", "story:do", ""},
		{"R8", "recovery of stuck and lost agents", "", "talk:escalate TestWhoAsksForATaskWhoseOwnerIsLostHasItAtOnce", "story:relief", ""},
		{"R10", "fairness", "TestTheWorkOfOneAgentIsItsOwn TestNobodyFillsTheInboxOfAnother", "TestWhoWasCutOffIsToldWhatItMissedHoweverNoisyOthersAre", "- nothing to set: the server does it, and a refusal says when to try again", ""},
	}},
	{title: "Audit", rows: []requirement{
		{"A1", "everything is recorded", "TestAListThatShowsWhatTasksAreAboutIsRecordedAsOneRead TestAuditorsSeeEverythingAndChangeNothing TestALookAtOnesOwnInboxIsRecorded", "TestReadsAndRefusedAttemptsOverMCPAreRecorded TestACallWithTheAdministratorsTokenIsRefusedAndRecorded", "story:audit", ""},
		{"A2", "audit documents and exports", "TestTheAuditDocumentHasTheFourMessagesInEveryFormat TestADelegationHasAnAuditDocumentOnTheParent TestWhatWasForgottenIsExportedToOperatorsThatAskForIt", "- exports are files for people and programs; a model reads the history of a task with status", "story:audit", "ExampleClient_Export"},
		{
			"A3", "tamper evidence", "TestEveryChangeOfADataDirectoryIsFoundAndNamed", "- the tree is for auditors and programs; a model verifies nothing",
			"story:proof", "- a program verifies what it fetched; the first column fetches it with the client",
		},
		{"A4", "the actor is the credential's", "TestOnlyAValidTokenIsAccepted", "TestASessionIsItsPrincipalsAlone", "story:credentials", ""},
		{
			"A5", "retention, legal hold, erasure",
			"TestWhatIsErasedIsInNoFileAndNoAnswerAndEveryProofStillVerifies TestThePolicyKeepsContentAtLeastAndAtMost TestAMemoryItemThatIsForgottenIsErased",
			byPeople, "story:erase", "- the first column erases with the client",
		},
		{"A6", "annotations, claimed history", "TestEnvelopesOfTwoMajorsAreReadAndImportedDuringAMigration", "TestTheSetAllHasWhatTheDefaultLeavesOut", "story:audit", ""},
		{"A7", "receipts", "TestOnlyThoseWhoReadTheEntriesGetAReceiptAndOnlyAuditorsTheTree", "- a receipt is a file for people and programs", "story:proof", "- the first column gets it with the client"},
		{"A8", "checked at every read", "TestADamagedArtifactNeverEndsWell TestAChangedBitIsNamedAndNeverAnswered", "TestArtifactsAreGivenWholeOrNotAtAll", "story:artifact", "TestADownloadIsVerifiedAndNotRepeatedOnceItHasBegun"},
	}},
	{title: "Figures", rows: []requirement{
		{"O1", "latency", "TestAServerGivesItsFiguresAndTheSameAfterARestart", byPeople, "story:stats", ""},
		{"O2", "completeness", "TestAServerGivesItsFiguresAndTheSameAfterARestart", byPeople, "story:stats", ""},
		{"O3", "failure rate", "TestAServerGivesItsFiguresAndTheSameAfterARestart", byPeople, "story:stats", ""},
		{"O4", "hops, utilisation, dead letters, circuits, inboxes", "TestFiguresAreForThoseWhoMayReadEverything", byPeople, "story:stats story:status", ""},
		{"O5", "alerts", "TestAnAgentThatDoesNotAnswerRaisesAlertsOnceAndTheyRecover TestASilencedAlertIsRaisedAndNobodyElseThanOperatorsSilences", "TestAnOperatorSilencesAnAlertOverMCP", "story:alerts", ""},
		{"O6", "metrics, traces, logs", "TestCallsAreCountedByTheirRoutes TestTheTraceContextOfARequestReachesTheReceiver", "TestTheTraceContextOfAToolCallReachesTheReceiver", "story:work_trace", "TestOneTraceSpansATaskOverThreeAgentsOneOfThemOverMCP"},
		{"O7", "load generator", "- it is a client, not a part of the server", "- it is a program for people", "story:bench", "- it is a program written with the client"},
		{"O8", "audit coverage and consistency", "TestAServerGivesItsFiguresAndTheSameAfterARestart", byPeople, "- a figure at /metrics", "- a figure at /metrics"},
	}},
	{title: "Deployment and numbers", later: "D2 D3", rows: []requirement{
		{"D1", "one binary, one data directory", "TestOneServerPerDataDirectory", "- trapeze mcp starts the same server: story mcp", "story:serve story:stop", ""},
		{"N1", "a handoff is fast", "BenchmarkLifecycleHTTP", "BenchmarkToolCall", "- measured with trapeze bench, see story bench", ""},
		{"N2", "1,000 handoffs at once", "BenchmarkLifecycleHTTP", "- trapeze bench --over mcp measures it: story bench", "story:bench", ""},
		{"N3", "no acknowledged write is lost, no two owners", "TestNothingAcknowledgedIsLostWhenTheServerIsKilled", "- the same server and record as behind HTTP", "- the same server and record as behind HTTP", "- the same server and record as behind HTTP"},
	}},
	{title: "Interfaces", later: "S5 S8 S10 S12 S13", rows: []requirement{
		{"S1", "MCP", "- this row is about MCP", "TestToolsCostFewTokens TestConformance TestToolsTakeNullAndEmptyForWhatIsOmitted", "story:mcp story:init story:doctor", "- this row is about MCP"},
		{"S2", "HTTP and the Go client", "TestEveryRouteIsDocumented TestListsComeInPages TestAStreamResumesByTheHeaderOfBrowsers", "- this row is about HTTP", "- this row is about HTTP", "TestEveryCallHasItsRoute TestEventsGoOnAfterTheLineBreaks"},
		{"S3", "the command line", "- this row is about the command line", "- this row is about the command line", "TestEveryCommandIsInAGroupOfTheHelp TestEveryArgumentAndFlagCompletes story:complete story:complete_values story:id story:status story:doctor", "- this row is about the command line"},
		{"S4", "workers", "- a worker is a program of the command line", "- a worker is a program of the command line", "story:work story:work_outcome story:work_lost", "- a worker is a program of the command line"},
		{
			"S6", "the page", "TestThePageShowsAndDoesWhatItsTokenMay TestTheOverviewShowsWhatMovesNow TestAStoryGoesFromTheIntentToTheResult TestTicketsAreDecidedOnThePage TestAPersonWhoTakesATaskOverEndsItOnThePage TestThePageCancelsSeveralTasksAtOnce",
			"- the page is for people", "story:web", "- the page uses the client",
		},
		{"S7", "test kit", "TestAnAdministratorMovesTheClockOnceAndTheTimersRun", "TestOneTraceSpansATaskOverThreeAgentsOneOfThemOverMCP", "story:ephemeral", "TestEveryAssertionHoldsForAGoodChain"},
		{"S11", "TLS, sign-in at an issuer, and an approver who is not the requester", "TestThePersonWhoAskedIsNeverTheApproverWhateverRoleTheyHold TestPeopleSignInAtAnIssuerAndTheirSessionEndsWithItsOwn", "- the test of HTTP calls /mcp, too", "story:tls TestAPersonSignsInWithTheDeviceFlowAndTheSessionEndsWithTheIssuers", ""},
		{"S9", "workspaces", "TestNothingOfAWorkspaceIsSeenFromAnotherOverHTTP", "TestAnotherWorkspaceIsAnotherWorld", "story:workspace", ""},
		{"S14", "prefix, short set, full set", "- this row is about MCP", "TestAClientChoosesThePrefixOfItsTools TestNoTwoOfToolsPromptsAndResourcesShareAName TestAWorkerSeesTheToolsThatAReceiverNeeds TestTheSetAllHasWhatTheDefaultLeavesOut", "story:init", "- this row is about MCP"},
	}},
}
