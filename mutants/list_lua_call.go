package main

// luaCallMutants are bugs in how scripts are called: their keys, their batches, their message.
var luaCallMutants = []Mutant{
	{
		Name:    "commands are sent again",
		File:    "lua/call.go",
		Old:     "NoRetry() bool { return true }",
		New:     "NoRetry() bool { return false }",
		Package: "redlock",
		Tests:   "^TestPipelineWhoseReplyIsLostReachesTheServerOnce$",
	},
	{
		Name:    "scripts that a server forgot are not sent again",
		File:    "lua/call.go",
		Old:     `strings.HasPrefix(err.Error(), "NOSCRIPT")`,
		New:     `strings.HasPrefix(err.Error(), "NO SCRIPT")`,
		Package: "redlock",
		Tests:   "^TestFlushedScriptsAreSentAgainInPipelinesToo$",
	},
	{
		Name:    "a name is no hash tag",
		File:    "lua/keys.go",
		Old:     `key = prefix + ":{" + name + "}"`,
		New:     `key = prefix + ":" + name`,
		Package: "lua",
		Tests:   "^TestNameIsTheHashTag$|^TestNamesThatMakeNoKeysAreRefused$",
	},
	{
		Name:    "a lock may stand where another has its companion",
		File:    "lua/keys.go",
		Old:     "if strings.HasSuffix(key, suffix) {",
		New:     "if strings.HasPrefix(key, suffix) {",
		Package: "lua",
		Tests:   "^TestNamesThatMakeNoKeysAreRefused$",
	},
	{
		Name:    "an error in a batch stops the others",
		File:    "lua/batch.lua",
		Old:     "local done, reply = pcall(run[script - 48], own, argv)",
		New:     "local done, reply = true, run[script - 48](own, argv)",
		Package: "lua",
		Tests:   "^TestAFailureInABatchHasTheCodeThatItHasByItself$",
	},
	{
		Name:    "a call in a batch has the keys of a longer one before it",
		File:    "lua/batch.lua",
		Old:     "    own[j] = nil",
		New:     "    own[j] = own[j]",
		Package: "lua",
		Tests:   "^TestABatchIsItsCallsInOrder$",
	},
	{
		Name:    "repeated arguments are the first call's",
		File:    "lua/batch.lua",
		Old:     "argv[j] = ARGV[a + j]",
		New:     "argv[j] = argv[j] or ARGV[a + j]",
		Package: "lua",
		Tests:   "^TestABatchIsItsCallsInOrder$",
	},
	{
		Name:    "an error in a batch has no code",
		File:    "lua/batch.lua",
		Old:     "string.find(failure, '^%u+ ') and failure or 'ERR ' .. failure",
		New:     "failure",
		Package: "lua",
		Tests:   "^TestAFailureInABatchHasTheCodeThatItHasByItself$",
	},
}
