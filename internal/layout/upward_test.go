package layout

// upward are the references of package lock that point up: by file, what they are to. They are a debt: the test refuses
// more of them, and an entry that is not true any more.
var upward = map[string][]string{
	"about.go": {
		"Client.label", "acquisition", "acquisition.began", "acquisition.blocks", "acquisition.engine",
	},
	"acquire.go": {
		"Client.audience", "Client.closing", "Client.enter", "Client.fails", "Client.grants", "Client.group",
		"Client.leave", "Client.tasks",
	},
	"ask.go": {
		"Client.group", "acquisition.ctx", "acquisition.engine",
	},
	"attempt.go": {
		"Client", "Client.draining", "Client.group", "Client.listen", "Client.mu", "Client.retention",
		"tryPatience",
	},
	"audience.go": {
		"acquisition", "acquisition.began", "acquisition.contended", "acquisition.ctx", "acquisition.handover",
		"acquisition.observed", "acquisition.run",
	},
	"close.go": {
		"Client.audience", "Client.group", "Client.tasks",
	},
	"contender.go": {
		"Client.group", "Client.hub", "Client.mu", "acquisition", "acquisition.backOff", "acquisition.contender",
		"acquisition.ctx", "acquisition.engine", "acquisition.rest", "acquisition.sleep", "acquisition.slot",
		"poll",
	},
	"contest.go": {
		"Client", "Client.contests", "Client.freed", "Client.held", "Client.made", "Client.mu", "Client.shared",
		"Client.taken", "Client.watchdog", "contest.advance", "contest.desert", "contest.disband",
		"contest.disperse", "contest.leads", "contest.wakeLater", "heartbeats", "heartbeats.ward", "relay",
		"relay.slots", "relay.token", "tenure.takes",
	},
	"deny.go": {
		"Client.contests", "Client.group", "Client.mu",
	},
	"downgrade.go": {
		"Client.enter", "Client.leave", "Client.mu",
	},
	"engine.go": {
		"Client", "Client.alone", "Client.channels", "Client.guard", "Client.retention", "Inspector", "Locker",
	},
	"extend.go": {
		"Client.enter", "Client.group", "Client.leave", "Client.retention",
	},
	"fail.go": {
		"Client.closing", "Client.made",
	},
	"gone.go": {
		"Client.group",
	},
	"heartbeats.go": {
		"Client", "Client.channels", "Client.contests", "Client.group", "Client.hub", "Client.id",
		"Client.listens", "Client.made", "Client.mu", "Client.numbers", "Client.queuers", "Client.shared",
		"Client.watchdog", "acquisition.engine", "poll",
	},
	"hook.go": {
		"engine.ForceUnlockHold",
	},
	"join.go": {
		"Client.contests", "Client.draining", "Client.group", "Client.mu", "acquisition.engine",
	},
	"lead.go": {
		"Client.mu", "Client.queuers", "acquisition.ctx", "acquisition.engine", "acquisition.slot", "contest.take",
		"maxUnheard", "place.writes", "queuer", "queuer.place", "queuer.round", "queuer.tenure", "queuer.ticket",
		"tenure.joins",
	},
	"linger.go": {
		"Client.group",
	},
	"loss.go": {
		"Client", "Client.audience", "Client.group", "Client.journal", "Client.over", "Client.tasks",
	},
	"note.go": {
		"Client.group", "Client.label", "Client.labelled",
	},
	"owner.go": {
		"Client",
	},
	"parting.go": {
		"Client.group", "Client.leave",
	},
	"pass.go": {
		"Client", "Client.draining", "Client.group", "Client.mu", "acquisition.ctx", "acquisition.engine",
		"acquisition.slot", "contest.successor", "place.succeed", "poll",
	},
	"place.go": {
		"Client.mu", "acquisition.began", "contender", "contender.tried", "contest.advance", "contest.attend",
		"estate", "queuer",
	},
	"probe.go": {
		"Client", "Client.contests", "Client.group", "Client.held", "Client.mu", "Client.recovery",
		"Client.watchdog",
	},
	"profile.go": {
		"acquisition", "acquisition.ctx", "acquisition.engine",
	},
	"queuer.go": {
		"Client.closing", "Client.group", "Client.newcomers", "Client.returners", "acquisition",
		"acquisition.backOff", "acquisition.ctx", "acquisition.engine", "acquisition.rest", "acquisition.sleep",
		"acquisition.slot",
	},
	"recovery.go": {
		"Client", "Client.contests", "Client.group", "Client.held", "Client.mu", "Client.watchdog",
	},
	"reenter.go": {
		"Client.group",
	},
	"relay.go": {
		"Client.draining", "Client.group", "Client.mu", "acquisition.began", "acquisition.ctx",
		"acquisition.engine", "acquisition.slot",
	},
	"release.go": {
		"Client.audience", "Client.group", "Client.journal", "Client.leave", "Client.tasks",
	},
	"renew.go": {
		"Client.audience", "Client.contests", "Client.group", "Client.journal", "Client.mu",
	},
	"repair.go": {
		"Client.group", "Client.guard", "Client.retention",
	},
	"reserve.go": {
		"Client.alone", "Client.group", "Client.mu", "Client.retention",
	},
	"restore.go": {
		"Client.group", "Client.guard", "Client.retention",
	},
	"serve.go": {
		"Client.draining", "Client.group", "Client.mu", "acquisition.ctx", "acquisition.engine",
		"acquisition.slot", "contest.downgrade",
	},
	"setting.go": {
		"Client", "Client.group", "Client.guard", "Client.retention",
	},
	"slots.go": {
		"Client.group",
	},
	"successor.go": {
		"Client.group", "Client.mu", "acquisition.engine", "acquisition.handover",
	},
	"tenure.go": {
		"Client.group", "Client.newID", "Client.watchdog", "joining", "numbering", "serving",
	},
	"trial.go": {
		"Client.audience", "Client.group",
	},
	"unlock.go": {
		"Client.enter",
	},
	"vacate.go": {
		"Client.group", "markLife",
	},
	"work.go": {
		"Client.journal",
	},
}
