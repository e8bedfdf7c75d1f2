package workspace

import (
	linked "container/list"
	"sync"

	"writ/contract"
)

const (
	memoryBytes        = 4 << 20   // of all contents together
	memoryContentBytes = 512 << 10 // of one
)

// contents remembers what callers have seen of late, so that a conflict can show what has changed since. The content
// not asked for the longest goes first.
type contents struct {
	mu     sync.Mutex
	size   int
	order  linked.List // of remembered, the latest in front
	byName map[contract.Version]*linked.Element
}

type remembered struct {
	version contract.Version
	data    []byte
}

func newContents() *contents {
	return &contents{byName: make(map[contract.Version]*linked.Element)}
}

// add remembers data, which must not change any more.
func (c *contents) add(v contract.Version, data []byte) {
	if len(data) > memoryContentBytes || v.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byName[v]; ok {
		c.order.MoveToFront(e)
		return
	}
	c.byName[v] = c.order.PushFront(&remembered{v, data})
	c.size += len(data)
	for c.size > memoryBytes {
		c.drop(c.order.Back())
	}
}

func (c *contents) drop(e *linked.Element) {
	r := c.order.Remove(e).(*remembered)
	delete(c.byName, r.version)
	c.size -= len(r.data)
}

func (c *contents) get(v contract.Version) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byName[v]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*remembered).data, true
}
