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
	stateOf func(context.Context, contract.Path) string
	pause   time.Duration
	wake    chan struct{}

	mu        sync.Mutex
	listeners map[*listener]bool
	states    map[contract.Path]string
	looking   bool
}

func newHub(stateOf func(context.Context, contract.Path) string) *hub {
	return &hub{
		stateOf: stateOf, pause: lookPause, wake: make(chan struct{}, 1),
		listeners: map[*listener]bool{}, states: map[contract.Path]string{},
	}
}

// listener is one stream of notifications to a client.
type listener struct {
	hub    *hub
	signal chan struct{} // there is something to tell

	// Guarded by hub.mu.
	paths  map[string]contract.Path // by URI; the top for what never changes
	news   []string                 // URIs to tell of, each once
	closed bool
}

func (h *hub) newListener() *listener {
	return &listener{hub: h, signal: make(chan struct{}, 1), paths: map[string]contract.Path{}}
}

// add subscribes to the resource; it is false where that are too many.
func (l *listener) add(ctx context.Context, uri string) bool {
	a, _ := parseAddress(uri)
	path := a.path()
	state := l.hub.stateOf(ctx, path)
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
	if _, known := l.hub.states[path]; !known {
		l.hub.states[path] = state
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
		paths := h.watched()
		if paths == nil {
			return
		}
		for _, p := range paths {
			ctx, cancel := context.WithTimeout(context.Background(), h.pause)
			if state := h.stateOf(ctx, p); ctx.Err() == nil {
				h.note(p, state)
			}
			cancel()
		}
	}
}

// watched lists what somebody listens for, and forgets all else. It returns nil and ends the looking where that is
// nothing.
func (h *hub) watched() []contract.Path {
	h.mu.Lock()
	defer h.mu.Unlock()
	var paths []contract.Path
	states := map[contract.Path]string{}
	for l := range h.listeners {
		for _, p := range l.paths {
			if _, known := states[p]; !known && !p.IsTop() {
				states[p] = h.states[p]
				paths = append(paths, p)
			}
		}
	}
	h.states = states
	h.looking = paths != nil
	return paths
}

// note tells those who listen for the path if its state is another one.
func (h *hub) note(path contract.Path, state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, known := h.states[path]; !known || was == state {
		return
	}
	h.states[path] = state
	for l := range h.listeners {
		for uri, p := range l.paths {
			if p == path {
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
