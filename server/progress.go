package server

import (
	"strconv"
	"sync"
	"time"

	"writ/envelope"
)

// progressPause is the shortest time between two notifications about one call.
const progressPause = 100 * time.Millisecond

// progress tells a client how far its call is. It passes on only values that grow, none too soon after the one before,
// and none once the call has ended.
type progress struct {
	send func(progress, total float64, message string)

	mu    sync.Mutex
	last  float64
	at    time.Time
	ended bool
}

// tell is what the gate is given.
func (p *progress) tell(progress, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.ended || !p.at.IsZero() && (progress <= p.last || now.Sub(p.at) < progressPause) {
		return
	}
	p.last, p.at = progress, now
	p.send(progress, total, message)
}

// end waits for a notification that is on its way and lets no other follow.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// sendProgress sends one notification.
func (o *outbox) sendProgress(token []byte, progress, total float64, message string) {
	if o.openNotices != nil && !o.openNotices() {
		return
	}
	m := o.begin()
	m.add(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`)
	m.addJSON(token)
	m.add(`,"progress":`)
	m.buf = strconv.AppendFloat(m.buf, progress, 'f', -1, 64)
	if total > 0 {
		m.add(`,"total":`)
		m.buf = strconv.AppendFloat(m.buf, total, 'f', -1, 64)
	}
	if message != "" {
		m.add(`,"message":`)
		m.buf = envelope.AppendString(m.buf, message)
	}
	m.add(`}}`)
	m.send()
}
