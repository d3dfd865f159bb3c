package layout

// upward are the references of package lock that point up: by file, what they are to. They are a debt: the test refuses
// more of them, and an entry that is not true any more.
var upward = map[string][]string{
	"about.go": {
		"Client.label", "acquisition", "acquisition.began", "acquisition.blocks", "acquisition.engine",
	},
	"acquire.go": {
		"Client.audience", "Client.closing", "Client.enter", "Client.fails", "Client.grants", "Client.group",
		"Client.leave",
	},
	"ask.go": {
		"Client.group", "acquisition.ctx", "acquisition.engine",
	},
	"attempt.go": {
		"Client.group", "Client.listen", "Client.retention", "tryPatience",
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
		"Client", "Client.contests", "Client.draining", "Client.freed", "Client.held", "Client.made", "Client.mu",
		"Client.shared", "Client.taken", "Client.watchdog", "contest.advance", "contest.bring", "contest.desert",
		"contest.disband", "contest.disperse", "contest.leads", "contest.wakeLater", "heartbeats",
		"heartbeats.ward", "relay", "relay.slots", "relay.token", "tenure.lose", "tenure.takes",
	},
	"deny.go": {
		"Client.contests", "Client.group", "Client.mu",
	},
	"downgrade.go": {
		"Client.enter", "Client.group", "Client.leave", "Client.mu",
	},
	"engine.go": {
		"Client", "Client.alone", "Client.channels", "Client.guard", "Client.locks", "Client.prefix",
		"Client.retention", "Inspector", "Lease.Context", "Locker", "Option", "Option.lock", "engine.acquire",
		"engine.work",
	},
	"fail.go": {
		"Client.closing", "Client.made",
	},
	"heartbeats.go": {
		"Client", "Client.channels", "Client.contests", "Client.group", "Client.hub", "Client.id",
		"Client.listens", "Client.made", "Client.mu", "Client.numbers", "Client.queuers", "Client.shared",
		"Client.watchdog", "acquisition.engine", "poll",
	},
	"hold.go": {
		"tenure.lose",
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
	"lease.go": {
		"Client.enter", "Client.group", "Client.leave", "Client.retention", "gone", "hold.downgrade",
		"hold.release", "judge", "restorable", "tenure.expire", "tenure.numbered", "tenure.restoration",
		"tenure.whyGone", "undecided", "unlessFree",
	},
	"linger.go": {
		"Client.group", "Client.over",
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
		"Client.tasks", "acquisition", "acquisition.ctx", "acquisition.engine", "acquisition.handover",
		"acquisition.watched",
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
		"Client.audience", "Client.group", "Client.journal", "Client.leave", "Client.tasks", "tenure.askWhyGone",
	},
	"renew.go": {
		"Client.audience", "Client.contests", "Client.group", "Client.guard", "Client.journal", "Client.mu",
		"Client.retention", "tenure.whyGone",
	},
	"reserve.go": {
		"Client.alone", "Client.group", "Client.mu", "Client.retention",
	},
	"restore.go": {
		"Client.group", "Client.guard", "Client.retention",
	},
	"serve.go": {
		"Client.draining", "Client.group", "Client.mu", "acquisition.ctx", "acquisition.engine",
		"acquisition.slot", "contest.downgrade", "tenure.remaining",
	},
	"setting.go": {
		"Client", "Client.group", "Client.guard", "Client.retention",
	},
	"slots.go": {
		"Client.group", "tenure.repair",
	},
	"successor.go": {
		"Client.group", "Client.mu", "acquisition.engine", "acquisition.handover",
	},
	"tenure.go": {
		"Client.group", "Client.newID", "Client.watchdog", "joining", "numbering", "serving", "tenure.gives",
	},
	"trial.go": {
		"Client.audience", "Client.group",
	},
	"vacate.go": {
		"Client.group", "markLife",
	},
	"work.go": {
		"Client.journal",
	},
}
