package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// unixPrefix stands before the path of a socket in the file system.
const unixPrefix = "unix:"

// maxConnections is how many clients can be connected at a time; further ones wait to be let in.
const maxConnections = 2048

// listenTCP opens host:port. Where other machines can connect, they must be asked who they are, over a line that nobody
// listens in on.
func (o HTTPOptions) listenTCP(addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	switch {
	case tcp.IP.IsLoopback():
	case o.Callers == nil:
		return nil, errors.New("other machines could connect, and nothing would ask them who they are: name callers in the policy, or use 127.0.0.1")
	case o.TLS == nil && !o.BehindProxy:
		return nil, errors.New("other machines would send their tokens for all to read: give --tls-cert and --tls-key, or --behind-proxy where a proxy speaks TLS for this server")
	}
	return net.ListenTCP("tcp", tcp)
}

// listenUnix makes a socket that only this user can reach. It is made in a directory that nobody else can enter, and gets
// its name when its mode is set. A socket that no process listens on any more is removed; all else that has the name stays.
func listenUnix(name string) (net.Listener, error) {
	if err := removeStale(name); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(name), ".writ-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	made := filepath.Join(private, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // it has another name then
	if err := errors.Join(os.Chmod(made, 0o600), os.Link(made, name)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return named{listener, name}, nil
}

func removeStale(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there, and is no socket", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var d net.Dialer
	if conn, err := d.DialContext(ctx, "unix", name); err == nil {
		conn.Close()
		return fmt.Errorf("another process listens on %s", name)
	}
	return os.Remove(name)
}

// named is a listener under the name that its socket has by now.
type named struct {
	net.Listener
	name string
}

// Addr is where clients find it.
func (n named) Addr() net.Addr { return &net.UnixAddr{Name: n.name, Net: "unix"} }

// Close ends the listening and takes the socket away. Behind walls of the kernel it stays; the next start removes it.
func (n named) Close() error {
	_ = os.Remove(n.name)
	return n.Listener.Close()
}

// bounded lets in so many connections at a time.
type bounded struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newBounded(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

func (b *bounded) count() int { return len(b.places) }

// Accept waits for a place, and then for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &placed{Conn: conn, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

// Close ends the listening, and the waiting for a place.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}

// CloseWrite ends the sending alone, so that a client which is still sending gets the answer that it sends too much.
func (p *placed) CloseWrite() error {
	if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
