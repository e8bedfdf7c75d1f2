package gate

import (
	"fmt"
	"sync"

	"writ/envelope"
)

// After a write whose outcome is unknown, its caller must look before it writes there again: unsettled remembers the
// paths, and which call is to be asked about. Reading the outcome with get_outcome opens the way.
type unsettled struct {
	mu    sync.Mutex
	paths map[string]string // caller and path → request id
}

func newUnsettled() *unsettled { return &unsettled{paths: map[string]string{}} }

// admit returns the refusal of a write to a path whose last write has no known outcome.
func (u *unsettled) admit(k *call) error {
	if !k.tool.Effect.Writes {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, path := range k.paths() {
		if id, found := u.paths[k.Caller+"\x00"+path]; found {
			return &envelope.Error{
				Code: envelope.RetryStopped, Next: envelope.CheckOutcome,
				Message: fmt.Sprintf("The outcome of request %s, which wrote here, is unknown. Call get_outcome for it, look at the file, and then decide.", id),
				Details: map[string]any{"request_id": id},
			}
		}
	}
	return nil
}

// note remembers a write that ended unknown, and forgets those whose outcome was read.
func (u *unsettled) note(k *call, err error) {
	if asked := k.args.Text("request_id"); asked != "" && err == nil {
		u.forget(asked)
		return
	}
	if envelope.CodeOf(err) != envelope.OutcomeUnknown {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, path := range k.paths() {
		u.paths[k.Caller+"\x00"+path] = k.id
	}
}

func (u *unsettled) forget(requestID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, id := range u.paths {
		if id == requestID {
			delete(u.paths, key)
		}
	}
}

// paths are those that the arguments name, as they were written.
func (k *call) paths() []string {
	var paths []string
	for _, name := range []string{"path", "source", "destination"} {
		if p := k.args.Text(name); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}
