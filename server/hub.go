package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"writ/contract"
)

const (
	// lookPause is how often resources that somebody has subscribed to are looked at. Writes through this server are
	// noticed at once; this is for those of others.
	lookPause = 2 * time.Second
	// mostSubscriptions is how many resources one client may subscribe to.
	mostSubscriptions = 200
)

// hub tells clients of changes of the resources that they have subscribed to.
//
// It looks at the files themselves, and only at those, now and then and after each write of ours: that holds on every
// system and file system, and a change that was undone in between is none.
type hub struct {
	stateOf func(ctx context.Context, caller string, path contract.Path) string
	pause   time.Duration
	wake    chan struct{}

	mu        sync.Mutex
	listeners map[*listener]bool
	states    map[place]string
	looking   bool
}

func newHub(stateOf func(ctx context.Context, caller string, path contract.Path) string) *hub {
	return &hub{
		stateOf: stateOf, pause: lookPause, wake: make(chan struct{}, 1),
		listeners: map[*listener]bool{}, states: map[place]string{},
	}
}

// place is a path as one caller sees it.
type place struct {
	caller string
	path   contract.Path
}

// listener is one stream of notifications to a client.
type listener struct {
	hub    *hub
	caller string
	signal chan struct{} // there is something to tell

	// Guarded by hub.mu.
	paths  map[string]contract.Path // by URI; the top for what never changes
	news   []string                 // URIs to tell of, each once
	closed bool
}

func (h *hub) newListener(caller string) *listener {
	return &listener{hub: h, caller: caller, signal: make(chan struct{}, 1), paths: map[string]contract.Path{}}
}

// add subscribes to the resource; it is false where that are too many.
func (l *listener) add(ctx context.Context, uri string) bool {
	a, _ := parseAddress(uri)
	path := a.path()
	at := place{l.caller, path}
	state := l.hub.stateOf(ctx, l.caller, path)
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if len(l.paths) >= mostSubscriptions || l.closed {
		return false
	}
	l.paths[uri] = path
	if path.IsTop() {
		return true
	}
	l.hub.listeners[l] = true
	if _, known := l.hub.states[at]; !known {
		l.hub.states[at] = state
	}
	if !l.hub.looking {
		l.hub.looking = true
		go l.hub.look()
	}
	return true
}

func (l *listener) remove(uri string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	delete(l.paths, uri)
}

// close ends all subscriptions.
func (l *listener) close() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.closed = true
	delete(l.hub.listeners, l)
}

// take returns the URIs of what has changed since it was last called.
func (l *listener) take() []string {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	news := l.news
	l.news = nil
	return news
}

// poke has the hub look now.
func (h *hub) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// look goes on until nobody listens.
func (h *hub) look() {
	for {
		timer := time.NewTimer(h.pause)
		select {
		case <-h.wake:
		case <-timer.C:
		}
		timer.Stop()
		places := h.watched()
		if places == nil {
			return
		}
		for _, p := range places {
			ctx, cancel := context.WithTimeout(context.Background(), h.pause)
			if state := h.stateOf(ctx, p.caller, p.path); ctx.Err() == nil {
				h.note(p, state)
			}
			cancel()
		}
	}
}

// watched lists what somebody listens for, and forgets all else. It returns nil and ends the looking where that is
// nothing.
func (h *hub) watched() []place {
	h.mu.Lock()
	defer h.mu.Unlock()
	var places []place
	states := map[place]string{}
	for l := range h.listeners {
		for _, path := range l.paths {
			at := place{l.caller, path}
			if _, known := states[at]; !known && !path.IsTop() {
				states[at] = h.states[at]
				places = append(places, at)
			}
		}
	}
	h.states = states
	h.looking = places != nil
	return places
}

// note tells those who listen for the place if its state is another one.
func (h *hub) note(at place, state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, known := h.states[at]; !known || was == state {
		return
	}
	h.states[at] = state
	for l := range h.listeners {
		for uri, p := range l.paths {
			if p == at.path && l.caller == at.caller {
				l.tell(uri)
			}
		}
	}
}

// tell leaves a URI for whoever writes the stream. hub.mu is held.
func (l *listener) tell(uri string) {
	if slices.Contains(l.news, uri) {
		return
	}
	l.news = append(l.news, uri)
	select {
	case l.signal <- struct{}{}:
	default:
	}
}
