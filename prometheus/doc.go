// Package promholdfast has the locks of a client counted for Prometheus: durations, waiters, losses
// and what nodes answer.
//
//	collector := promholdfast.New()
//	prometheus.MustRegister(collector)
//	locks, err := lock.NewClient(nodes, lock.WithObserver(collector.Observer()))
//
// The page docs/observing.md of the project lists every metric, its labels, and what to alert on;
// dashboard.json, beside this file, is a dashboard for Grafana. Package otelholdfast is the same
// for OpenTelemetry.
package promholdfast
