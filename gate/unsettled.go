package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"writ/contract"
	"writ/envelope"
)

// After a write whose outcome is unknown, its caller must look before it writes there again: unsettled remembers the
// places, and which call is to be asked about. Reading the outcome with get_outcome opens the way; where that tool is not
// offered, reading the file does. A place is known by its path as it was written and as it was resolved, so that a link
// is no way round.
type unsettled struct {
	askable bool // get_outcome is offered

	mu     sync.Mutex
	places map[string]string // caller and path → request id
}

func newUnsettled(askable bool) *unsettled {
	return &unsettled{askable: askable, places: map[string]string{}}
}

// watches tells whether the places of a call matter before it is carried out. While no outcome is unknown, they do not.
func (u *unsettled) watches(k *call) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.places) > 0 && (k.tool.Effect.Writes || !u.askable)
}

// admit returns the refusal of a write to a place whose last write has no known outcome.
func (u *unsettled) admit(k *call) error {
	if !k.tool.Effect.Writes {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, place := range k.places {
		if id, found := u.places[k.Caller+"\x00"+place]; found {
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
	for _, place := range k.places {
		if seen {
			delete(u.places, k.Caller+"\x00"+place)
		} else {
			u.places[k.Caller+"\x00"+place] = k.id
		}
	}
}

func (u *unsettled) forget(requestID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, id := range u.places {
		if id == requestID {
			delete(u.places, key)
		}
	}
}

// noteUnsettled remembers a write that ended unknown. Only now are its places worth finding out.
func (g *Gate) noteUnsettled(ctx context.Context, k *call, err error) {
	if k.places == nil && isUnknown(err) {
		k.places = g.placesOf(context.WithoutCancel(ctx), k)
	}
	g.unsettled.note(k, err)
}

// placesOf lists the paths that a call is about, as they were written and as they resolve now.
func (g *Gate) placesOf(ctx context.Context, k *call) []string {
	names := g.namesOf(ctx, k)
	places := slices.Clone(names)
	for _, name := range names {
		places = append(places, g.resolve(ctx, k, name))
	}
	return places
}

// resolve follows the links of a path as far as the caller may know. What is not there is named by its directory.
func (g *Gate) resolve(ctx context.Context, k *call, name string) string {
	path, err := contract.ParsePath(name)
	if err != nil {
		return name
	}
	files := g.files.Reader(guard{k.policy})
	if info, err := files.Stat(ctx, path); err == nil {
		return info.Resolved.String()
	}
	if dir, err := files.Stat(ctx, path.Dir()); err == nil {
		return dir.Resolved.Join(path.Base()).String()
	}
	return name
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
