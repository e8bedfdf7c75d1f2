package gate

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"writ/envelope"
)

// After a write whose outcome is unknown, its caller must look before it writes there again: unsettled remembers the
// paths, and which call is to be asked about. Reading the outcome with get_outcome opens the way; where that tool is not
// offered, reading the file does.
type unsettled struct {
	askable bool // get_outcome is offered

	mu    sync.Mutex
	paths map[string]string // caller and path → request id
}

func newUnsettled(askable bool) *unsettled {
	return &unsettled{askable: askable, paths: map[string]string{}}
}

// admit returns the refusal of a write to a path whose last write has no known outcome.
func (u *unsettled) admit(k *call) error {
	if !k.tool.Effect.Writes {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, path := range k.paths() {
		if id, found := u.paths[k.Caller+"\x00"+path]; found {
			return u.refusal(id)
		}
	}
	return nil
}

func (u *unsettled) refusal(id string) error {
	e := &envelope.Error{
		Code: envelope.RetryStopped, Next: envelope.CheckOutcome, Details: map[string]any{"request_id": id},
		Message: fmt.Sprintf("The outcome of request %s, which wrote here, is unknown. Call get_outcome for it, look at the file, and then decide.", id),
	}
	if !u.askable {
		e.Next = envelope.Reread
		e.Message = fmt.Sprintf("The outcome of request %s, which wrote here, is unknown. Read the file to see what is there, and then decide.", id)
	}
	return e
}

// note remembers a write that ended unknown, and forgets those whose outcome was read.
func (u *unsettled) note(k *call, err error) {
	if asked := k.args.Text("request_id"); asked != "" && err == nil {
		u.forget(asked)
		return
	}
	unknown := isUnknown(err)
	seen := !u.askable && !k.tool.Effect.Writes && err == nil
	if !unknown && !seen {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, path := range k.paths() {
		if seen {
			delete(u.paths, k.Caller+"\x00"+path)
		} else {
			u.paths[k.Caller+"\x00"+path] = k.id
		}
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

// isUnknown tells whether a call, or an item of it, ended unknown.
func isUnknown(err error) bool {
	if items, ok := errors.AsType[*envelope.Items](err); ok {
		return slices.ContainsFunc(items.Failed, func(f envelope.ItemError) bool { return isUnknown(f.Err) })
	}
	return envelope.CodeOf(err) == envelope.OutcomeUnknown
}

// paths are those that the arguments name, as they were written; of a batch those of all its items.
func (k *call) paths() []string {
	var paths []string
	edits, _ := k.args.Values()["edits"].([]any)
	for _, e := range edits {
		edit, _ := e.(map[string]any)
		if p, _ := edit["path"].(string); p != "" {
			paths = append(paths, p)
		}
	}
	for _, name := range []string{"path", "source", "destination"} {
		if p := k.args.Text(name); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}
