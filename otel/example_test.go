package otelholdfast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
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
	reader := sdkmetric.NewManualReader() // a program has one that exports

	observer, err := otelholdfast.New(otelholdfast.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		log.Fatal(err)
	}
	locks, err := lock.NewClient([]redis.UniversalClient{rdb}, lock.WithObserver(observer))
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	ctx := context.Background()
	lease, err := reentrant.New(locks, "orders:42").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Unlock(ctx)

	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		log.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if held, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "holdfast.leases" {
			for _, p := range held.DataPoints {
				fmt.Println(m.Name, p.Attributes.ToSlice()[0].Value.AsString(), p.Value)
			}
		}
	}
	// Output: holdfast.leases reentrant 1
}
