package main

// virtualMutants are bugs in the nodes in memory, on which many tests of the others stand.
var virtualMutants = []Mutant{
	{
		Name: "a script that sets a global runs where others do",
		File: "internal/virtual/contained.go",
		Old: `		case lua.OP_SETGLOBAL:
			return false
`,
		New:     "",
		Package: "internal/virtual",
		Tests:   "^TestRepliesAndErrorsAreThoseOfMiniredis$",
	},
	{
		Name:    "a script that keeps a library runs where others do",
		File:    "internal/virtual/contained.go",
		Old:     "register(next) != library || ",
		New:     "",
		Package: "internal/virtual",
		Tests:   "^TestRepliesAndErrorsAreThoseOfMiniredis$",
	},
	{
		Name:    "results stay on the stack",
		File:    "internal/virtual/interpreter.go",
		Old:     "	in.state.SetTop(0)\n",
		New:     "",
		Package: "internal/virtual",
		Tests:   "^TestRepliesAndErrorsAreThoseOfMiniredis$",
	},
	{
		Name:    "what is not there is nil in a script, not false",
		File:    "internal/virtual/interpreter.go",
		Old:     "		return lua.LFalse\n",
		New:     "		return lua.LNil\n",
		Package: "internal/virtual",
		Tests:   "^TestScriptsDoWhatTheyDoOnMiniredis$",
	},
	{
		Name:    "an interpreter goes on after an error",
		File:    "internal/virtual/script.go",
		Old:     "		r.interpreter = nil\n		return true, true\n",
		New:     "		return true, true\n",
		Package: "internal/virtual",
		Tests:   "^TestInterpreterIsForTheNextNode$",
	},
	{
		Name:    "a script in a transaction runs at once",
		File:    "internal/virtual/context.go",
		Old:     "mark.FieldByIndex(fields.transaction).IsNil() && ",
		New:     "",
		Package: "internal/virtual",
		Tests:   "^TestConnectionsOfAKindOfTheirOwn$",
	},
	{
		Name:    "scripts outlive SCRIPT FLUSH",
		File:    "internal/virtual/script.go",
		Old:     "		clear(n.scripts)\n",
		New:     "",
		Package: "internal/virtual",
		Tests:   "^TestScriptIsKnownByItsHashOnceItWasTold$",
	},
}
