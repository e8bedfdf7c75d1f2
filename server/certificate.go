package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// certificatePause is how often at most the files are looked at, which a renewal replaces.
const certificatePause = 10 * time.Second

// TLSFromFiles returns how TLS is spoken with the certificate chain and the key of two PEM files. They are read again
// when they have changed; a pair that is no good, as in the midst of a renewal, leaves the one before in use.
func TLSFromFiles(certificate, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificates{files: [2]string{certificate, key}, now: time.Now, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.looked = c.now()
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

type certificates struct {
	files [2]string
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	inUse  *tls.Certificate
	stamp  string // of the files that it was read from
	looked time.Time
}

func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.looked) >= certificatePause {
		c.looked = c.now()
		if c.stampNow() != c.stamp {
			if err := c.load(); err != nil {
				c.log.Warn("the new certificate is not used", "error", err)
			}
		}
	}
	return c.inUse, nil
}

func (c *certificates) load() error {
	stamp := c.stampNow()
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	c.inUse, c.stamp = &pair, stamp
	return nil
}

// stampNow tells the files from others of the same names.
func (c *certificates) stampNow() string {
	var stamps []string
	for _, name := range c.files {
		if info, err := os.Stat(name); err == nil {
			stamps = append(stamps, fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano()))
		}
	}
	return strings.Join(stamps, " ")
}
