package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// metrics counts what a listener does. No label has a value that a caller could choose: tools, statuses and endpoints are
// known when the program is built, so there can't be ever more series, nor a path or a name among them.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	requests *prometheus.CounterVec
}

func newMetrics(l *Listener, connections func() int) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "writ_calls_total", Help: "Calls of tools that were answered, by the status of the answer.",
		}, []string{"tool", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "writ_call_seconds", Help: "How long a call took.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
		}, []string{"tool"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "writ_http_requests_total", Help: "Requests that were answered, by endpoint and HTTP status.",
		}, []string{"endpoint", "code"}),
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(m.calls, m.seconds, m.requests, collectors.NewGoCollector(),
		gauge("writ_connections", "Connections that are open.", connections),
		gauge("writ_sessions", "Sessions of clients before 2026-07-28.", l.sessions.count),
		gauge("writ_calls_open", "Calls that run or wait to.", l.calls.count),
	)
	return m
}

// note counts a call.
func (m *metrics) note(tool, status string, took time.Duration) {
	m.calls.WithLabelValues(tool, status).Inc()
	m.seconds.WithLabelValues(tool).Observe(took.Seconds())
}

// noteRequest counts an answered request.
func (m *metrics) noteRequest(path string, status int) {
	endpoint := "other"
	switch path {
	case pathMCP, pathSSE, pathMessage, pathHealth, pathReady, pathMetrics:
		endpoint = path[1:]
	}
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
}

// handler answers in the text format of Prometheus.
func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			notAllowed(w, http.MethodGet)
			return
		}
		families, err := m.registry.Gather()
		if err != nil {
			http.Error(w, "The metrics could not be gathered", http.StatusInternalServerError)
			return
		}
		format := expfmt.NewFormat(expfmt.TypeTextPlain)
		w.Header().Set("Content-Type", string(format))
		encoder := expfmt.NewEncoder(w, format)
		for _, family := range families {
			if encoder.Encode(family) != nil {
				return // the client is gone
			}
		}
	})
}
