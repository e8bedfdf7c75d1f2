package server

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"
)

// peer is the client as the library knows it.
type peer struct {
	id      string
	notices chan mcp.JSONRPCNotification

	mu           sync.Mutex
	initialized  bool
	version      string
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
}

var (
	_ library.SessionWithClientInfo      = (*peer)(nil)
	_ library.SessionWithProtocolVersion = (*peer)(nil)
)

func newPeer(id string) *peer { return &peer{id: id, notices: make(chan mcp.JSONRPCNotification, 16)} }

// takeNotices returns the notifications that the library has left for the client.
func (p *peer) takeNotices() []mcp.JSONRPCNotification {
	var notices []mcp.JSONRPCNotification
	for {
		select {
		case notice := <-p.notices:
			notices = append(notices, notice)
		default:
			return notices
		}
	}
}

// name returns "name/version" as the client gave it in its handshake.
func (p *peer) name() string {
	info := p.GetClientInfo()
	return nameOf(info.Name, info.Version)
}

// SessionID returns the id that the library keeps the session by.
func (p *peer) SessionID() string { return p.id }

// NotificationChannel takes what the library has to tell the client.
func (p *peer) NotificationChannel() chan<- mcp.JSONRPCNotification { return p.notices }

// Initialize notes that the handshake was made.
func (p *peer) Initialize() { p.mu.Lock(); defer p.mu.Unlock(); p.initialized = true }

// Initialized tells whether the handshake was made.
func (p *peer) Initialized() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.initialized }

// ProtocolVersion returns the version that the handshake settled, "" before it.
func (p *peer) ProtocolVersion() string { p.mu.Lock(); defer p.mu.Unlock(); return p.version }

// SetProtocolVersion keeps the version that the handshake settled.
func (p *peer) SetProtocolVersion(v string) { p.mu.Lock(); defer p.mu.Unlock(); p.version = v }

// GetClientInfo returns what the client calls itself.
func (p *peer) GetClientInfo() mcp.Implementation { p.mu.Lock(); defer p.mu.Unlock(); return p.info }

// SetClientInfo keeps what the client calls itself.
func (p *peer) SetClientInfo(i mcp.Implementation) { p.mu.Lock(); defer p.mu.Unlock(); p.info = i }

// GetClientCapabilities returns what the client says it can do.
func (p *peer) GetClientCapabilities() mcp.ClientCapabilities {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capabilities
}

// SetClientCapabilities keeps what the client says it can do.
func (p *peer) SetClientCapabilities(c mcp.ClientCapabilities) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.capabilities = c
}
