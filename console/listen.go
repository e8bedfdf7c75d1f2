package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	endTime       = 5 * time.Second // for what is being answered when the console ends
)

// Listen opens a TCP address, host:port, of this machine; port 0 chooses one. Others it refuses: what goes to a browser
// elsewhere would go in the clear.
func Listen(addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("listen on %s: the console is for browsers of this machine: use 127.0.0.1, and from elsewhere a tunnel, such as ssh -L", addr)
	}
	listener, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// Serve answers browsers until ctx ends, which is no error.
func (c *Console) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           c,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // ends the streams
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve the console: %w", err)
	case <-ctx.Done():
	}
	patience, stop := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer stop()
	if err := s.Shutdown(patience); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("end the console: %w", err)
	}
	return s.Close()
}
