package main

import (
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/internal/overlay"
)

// A Mutant is a bug to be planted, and the tests that must notice it.
type Mutant struct {
	Name string // what is wrong then

	// In File, from the root of the repository, New stands in for Old, which must be there
	// exactly once. More are edits that belong to it.
	File, Old, New string
	More           []Edit

	Package string // whose tests run
	Tests   string // which of them: the narrowest regular expression for -run

	Equivalent string // why no test can notice it; such a mutant is not run
}

// An Edit replaces a piece of a file. The piece must be there, once.
type Edit struct {
	File, Old, New string
}

// edits are all of m's.
func (m Mutant) edits() []Edit {
	return append([]Edit{{m.File, m.Old, m.New}}, m.More...)
}

// texts are the files below root that m edits, edited.
func (m Mutant) texts(root string) (overlay.Texts, error) {
	texts := make(overlay.Texts)
	for _, e := range m.edits() {
		if err := texts.Replace(root, e.File, e.Old, e.New); err != nil {
			return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
		}
	}
	return texts, nil
}

// mutants are the planted bugs, package by package.
func mutants() []Mutant {
	return slices.Concat(
		commandMutants,
		otelMutants,
		prometheusMutants,
		luaHoldMutants,
		luaRestoreMutants,
		luaTokenMutants,
		luaCallMutants,
		redlockBallotMutants,
		redlockStickyMutants,
		redlockLaneMutants,
		togetherMutants,
		trialMutants,
		redlockNodeMutants,
		redlockClusterMutants,
		lockAttemptMutants,
		lockWaitMutants,
		lockQueueMutants,
		lockTurnMutants,
		lockOverMutants,
		lockPassMutants,
		lockFarMutants,
		lockNoteMutants,
		lockLingerMutants,
		electionMutants,
		lockLeaseMutants,
		lockWorkMutants,
		lockRenewalMutants,
		lockRestoreMutants,
		lockEndMutants,
		lockOwnerMutants,
		lockClientMutants,
		lockInspectMutants,
		lockListMutants,
		fairQueueMutants,
		fairLeaveMutants,
		fairWaiterMutants,
		multiMutants,
		virtualMutants,
		locktestMutants,
		readwriteMutants,
		lockObserverMutants,
		semaphoreMutants,
		waiterMutants,
		watchdogMutants,
	)
}
