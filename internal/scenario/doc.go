// Package scenario has the tests of the whole program: stories that run through all of it, on the embedded ledger and on
// a double that behaves like a distributed log; histories checked for linearizability; servers killed at random; and
// the benchmarks.
//
// It has tests only.
//
// With the build tag outside, the same stories run on the engines that several servers share, each on a record of its own in one database, or in one cluster:
//
//	go test -tags outside ./internal/scenario -engine postgres
//	go test -tags outside ./internal/scenario -engine jetstream
//
// A story has a clock of its own, package testing/synctest, and such an engine needs the clock of the machine: engine_outside_test.go brings both together.
//
// # On the embedded ledger alone
//
// These tests are about what no other ledger has, or what other tests try on the engines; embedded_test.go holds the list to be exact.
//   - The files of a data directory, what is read from them, and what others do to them: TestEveryFlippedBitIsNamed, TestEveryFlippedBitOfALogIsNamed,
//     TestEveryChangeOfTheStructureIsNamed, TestNoUntouchedCopyIsAFinding, TestAnErasureThatIsKilledLeavesNothingInTheFiles,
//     TestASecondServerOnTheSameDataIsRefusedAndTheFirstKeepsRunning, TestAServerThatCannotWorkSaysWhyAndChangesNothing,
//     TestADirectoryThatMayNotBeWrittenToIsRefused.
//   - The order of its system calls: TestNoAnswerLeavesBeforeItsEntryIsSynced, TestAnAnswerThatLeavesBeforeTheSyncIsCaught,
//     TestNoAnswerLeavesBeforeTheArtifactIsSynced.
//   - Its disk: TestAFullDiskStopsWritesAndNothingElse, TestADiskThatBecomesReadOnlyStopsWritesAndLosesNothing, TestArtifactsThatFillTheDiskStopNoHandoffs,
//     TestADiskThatFillsUpDuringAnUploadEndsItAndKeepsNothingOfIt. Of the engines, the tests of kills fill disks.
//   - Kills of the process that has the record, and what finds their faults: TestNothingAcknowledgedIsLostWhenTheServerIsKilled,
//     TestAServerThatAnswersBeforeItWritesIsCaughtByAKill, TestEveryFaultOfARecordIsFound, TestALookThatNoOrderExplainsIsFound,
//     TestAServerThatIsAskedToStopAnswersTheCallsItHasBegun, TestAnUploadThatTheServerDoesNotSurviveLeavesNothing,
//     TestNoAcknowledgedArtifactIsLostWhenTheServerIsKilled, TestTheSameContentFromManySidesIsOneArtifact. The engines have tests of kills of their own.
//   - A clock that a test moves, which a server with a shared record does not have: TestARestartIsNoResetOfWhatIsCountedFromTheRecord,
//     TestEveryAPINamesWhomAnAlertIsAbout.
//   - A bound that is advisory where views follow the record, and is exact here: TestClaimsThatAnAgentJoinsCountAsOffersOfTheirSender.
//   - Its speed: TestAFullStoreIsAsFastAsAnEmptyOne.
//
// Start reading at harness_test.go, then story_test.go.
package scenario
