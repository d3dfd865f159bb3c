package layout

// upward are the references of package lock that point up: by file, what they are to. They are a debt: the test refuses
// more of them, and an entry that is not true any more.
var upward = map[string][]string{
	"about.go": {
		"acquisition", "acquisition.began", "acquisition.blocks", "acquisition.engine",
	},
	"ask.go": {
		"acquisition.ctx", "acquisition.engine",
	},
	"attempt.go": {
		"tryPatience",
	},
	"audience.go": {
		"acquisition", "acquisition.began", "acquisition.contended", "acquisition.ctx", "acquisition.handover",
		"acquisition.observed", "acquisition.run",
	},
	"contender.go": {
		"acquisition", "acquisition.backOff", "acquisition.contender", "acquisition.ctx", "acquisition.engine",
		"acquisition.rest", "acquisition.sleep", "acquisition.slot", "poll",
	},
	"contest.go": {
		"relay",
	},
	"core.go": {
		"audience", "queuer",
	},
	"engine.go": {
		"Inspector", "Locker",
	},
	"hear.go": {
		"queuer.place",
	},
	"heartbeats.go": {
		"acquisition.engine", "poll",
	},
	"join.go": {
		"acquisition.engine",
	},
	"lead.go": {
		"acquisition.ctx", "acquisition.engine", "acquisition.slot", "maxUnheard", "place.writes", "queuer",
		"queuer.place", "queuer.round", "queuer.tenure", "queuer.ticket", "tenure.joins",
	},
	"line.go": {
		"contest.advance", "tenure.takes",
	},
	"over.go": {
		"contest.disband", "contest.disperse", "relay.slots", "relay.token",
	},
	"pass.go": {
		"acquisition.ctx", "acquisition.engine", "acquisition.slot", "poll",
	},
	"place.go": {
		"acquisition.began", "contender", "contender.tried", "estate", "queuer",
	},
	"profile.go": {
		"acquisition", "acquisition.ctx", "acquisition.engine",
	},
	"queuer.go": {
		"acquisition", "acquisition.backOff", "acquisition.ctx", "acquisition.engine", "acquisition.rest",
		"acquisition.sleep", "acquisition.slot",
	},
	"relay.go": {
		"acquisition.began", "acquisition.ctx", "acquisition.engine", "acquisition.slot",
	},
	"serve.go": {
		"acquisition.ctx", "acquisition.engine", "acquisition.slot",
	},
	"successor.go": {
		"acquisition.engine", "acquisition.handover",
	},
	"tenure.go": {
		"joining", "numbering", "serving",
	},
	"vacate.go": {
		"markLife",
	},
}
