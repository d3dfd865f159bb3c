package promholdfast_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	promholdfast "github.com/holdfast-go/holdfast/prometheus"
	"github.com/holdfast-go/holdfast/reentrant"
)

func Example() {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()

	registry := prometheus.NewRegistry()
	collector := promholdfast.New(promholdfast.WithKinds("reentrant"))
	registry.MustRegister(collector)
	locks, err := lock.NewClient([]redis.UniversalClient{rdb}, lock.WithObserver(collector.Observer()))
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	ctx := context.Background()
	orders := reentrant.New(locks, "orders:42")
	lease, err := orders.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)
	_, _ = orders.TryLock(ctx)

	scrape := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for lines := bufio.NewScanner(scrape.Body); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "holdfast_leases{"),
			strings.HasPrefix(line, "holdfast_losses_total{"),
			strings.HasPrefix(line, "holdfast_acquire_duration_seconds_count{"):
			fmt.Println(line)
		}
	}
	// Output:
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="acquired"} 1
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="canceled"} 0
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="closed"} 0
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="error"} 0
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="locked"} 1
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="no_quorum"} 0
	// holdfast_acquire_duration_seconds_count{kind="reentrant",mode="",outcome="timeout"} 0
	// holdfast_leases{kind="reentrant",mode=""} 1
	// holdfast_losses_total{kind="reentrant",mode="",reason="abandoned"} 0
	// holdfast_losses_total{kind="reentrant",mode="",reason="expired"} 0
	// holdfast_losses_total{kind="reentrant",mode="",reason="forced"} 0
	// holdfast_losses_total{kind="reentrant",mode="",reason="gone"} 0
	// holdfast_losses_total{kind="reentrant",mode="",reason="max_hold"} 0
	// holdfast_losses_total{kind="reentrant",mode="",reason="not_renewed"} 0
}
