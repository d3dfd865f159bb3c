// Package promholdfast exports metrics of a client's locks to Prometheus: durations, waiters,
// losses and the nodes' answers.
//
//	collector := promholdfast.New()
//	prometheus.MustRegister(collector)
//	locks, err := lock.NewClient(nodes, lock.WithObserver(collector.Observer()))
//
// The project's page docs/observing.md lists every metric and its labels, and suggests alerts. The
// file dashboard.json, in the same directory, is a dashboard for Grafana. Package otelholdfast does
// the same for OpenTelemetry.
package promholdfast
