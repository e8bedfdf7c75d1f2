package server

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// counters count what a listener does. No label has a value that a caller could choose: tools, statuses and endpoints are
// known when the program is built, so there can't be ever more series, nor a path or a name among them.
type counters struct{ set *metrics.Set }

// callSeconds are the upper bounds of the histogram of how long calls take.
var callSeconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30}

func newCounters(l *Listener, connections func() int) *counters {
	m := &counters{metrics.NewSet()}
	for name, value := range map[string]func() int{
		"writ_connections": connections,      // that are open
		"writ_sessions":    l.sessions.count, // of clients before 2026-07-28
		"writ_calls_open":  l.calls.count,    // that run or wait to
		"go_goroutines":    runtime.NumGoroutine,
	} {
		m.set.NewGauge(name, func() float64 { return float64(value()) })
	}
	m.set.NewGauge("go_memstats_heap_inuse_bytes", func() float64 {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return float64(memory.HeapInuse)
	})
	return m
}

// note counts a call.
func (m *counters) note(tool, status string, took time.Duration) {
	m.set.GetOrCreateCounter(`writ_calls_total{status="` + status + `",tool="` + tool + `"}`).Inc()
	m.set.GetOrCreatePrometheusHistogramExt(`writ_call_seconds{tool="`+tool+`"}`, callSeconds).Update(took.Seconds())
}

// noteRequest counts an answered request.
func (m *counters) noteRequest(path string, status int) {
	endpoint := "other"
	switch path {
	case pathMCP, pathSSE, pathMessage, pathHealth, pathReady, pathMetrics:
		endpoint = path[1:]
	}
	m.set.GetOrCreateCounter(`writ_http_requests_total{code="` + strconv.Itoa(status) + `",endpoint="` + endpoint + `"}`).Inc()
}

// handler answers in the text format of Prometheus.
func (m *counters) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			notAllowed(w, http.MethodGet)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.set.WritePrometheus(w)
	})
}
