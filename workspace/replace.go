package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"writ/contract"
	"writ/envelope"
)

// Replacing is a compare-and-swap. The new bytes are put in order in a file beside the target, durable and read back;
// then the two exchange their names in one step. What is under the temporary name afterwards is what was displaced, and
// only now is it certain what that was: it must be the very file that was read, with the very bytes that were read. If
// it is, it is let go. If not, somebody was faster, and the two are exchanged back.
//
// The directory is made durable before the last look at what was displaced, so that a program that was about to write
// to it has had its time. What another program writes to the new file after the swap is a change of its own.

// Replace changes the file that p stands for, links followed, if its bytes are those that observed names: edit is given
// the file and returns what to splice into it. It must not use the Writer. If it returns nothing, or what changes
// nothing, the file stays as it is. An error of edit is returned as it is.
//
// The bytes that edit is given can turn out not to be those that observed names; what it returns is of no account then.
//
// A file in another state is a *[Conflict] of code version-changed. Code outcome-unknown tells that the change may have
// been made; nothing was deleted then.
func (w Writer) Replace(ctx context.Context, p contract.Path, observed contract.Version, edit func(old *File) ([]contract.Splice, error)) (Written, error) {
	return w.rewrite(ctx, p, func(t *target) ([]contract.Splice, error) {
		if t.isLarge() { // it is hashed while the edit is planned and written
			t.due = &observed
		} else if err := t.check(observed); err != nil {
			return nil, err
		}
		return edit(t.file(p))
	})
}

// rewrite is Replace without a look at what the caller observed, which is left to plan.
func (w Writer) rewrite(ctx context.Context, p contract.Path, plan func(*target) ([]contract.Splice, error)) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		done, err = w.rewriteOnce(ctx, p, plan)
		return err
	})
	return done, err
}

func (w Writer) rewriteOnce(ctx context.Context, p contract.Path, plan func(*target) ([]contract.Splice, error)) (Written, error) {
	t, err := w.openTarget(ctx, p)
	if err != nil {
		return Written{}, err
	}
	defer t.close()
	if err := t.checkWritable(); err != nil {
		return Written{}, err
	}
	r := &replacement{w: w, target: t, temp: tempName()}
	splices, err := plan(t)
	if err == nil {
		err = r.prepare(p, splices)
	}
	if err := cmp.Or(t.checkDue(), err); err != nil {
		r.discard()
		return Written{}, err
	}
	if r.isEmpty() {
		return r.result, nil
	}
	if err := r.run(ctx); err != nil {
		return Written{}, err
	}
	return r.result, nil
}

// replacement is a Replace that has its edit.
type replacement struct {
	w       Writer
	target  *target
	temp    string
	content pieces
	staged  *staged
	change  *change
	undo    []contract.Splice
	notKept []string // see staged
	result  Written
}

// prepare works out the new content and begins to write it, as long as nothing needs to be durable before.
func (r *replacement) prepare(p contract.Path, splices []contract.Splice) (err error) {
	t := r.target
	if r.content, err = splice(t.data, splices); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	if size, most := r.content.size(), r.w.w.options.FileBytes; size > most {
		return tooLargeToWrite(t.quoted(), size, most)
	}
	if err := r.w.mayRestore(t.place, r.content); err != nil {
		return err
	}
	r.result = Written{Path: p, Resolved: t.place, Old: pieces{t.data}.bytes()}
	if r.content.equalBytes(t.data) {
		r.result.Before, r.result.After = t.version(), t.version()
		r.result.Changed, r.result.New = envelope.No, r.result.Old
		return nil
	}
	if err := r.stage(); err != nil {
		return err
	}
	r.result.Before = t.version()
	r.result.After = t.sum.version(r.content, splices[0].Offset)
	r.undo = inverse(t.data, splices)
	return nil
}

// stage begins the new file. A rehearsal needs none.
func (r *replacement) stage() (err error) {
	t := r.target
	if r.w.rehearses() {
		return nil
	}
	if r.staged, err = stage(t.at.dir, r.temp, 0o600); err != nil {
		return stageFault(err, t.quoted())
	}
	if r.staged.begun() {
		r.staged.write(r.content, modelFile{t.f})
	}
	return nil
}

// discard gives up a replacement that was not run.
func (r *replacement) discard() {
	if r.staged != nil {
		r.staged.discard()
	}
}

// isEmpty tells whether a prepared replacement changes nothing.
func (r *replacement) isEmpty() bool { return r.result.Changed == envelope.No }

func (r *replacement) run(ctx context.Context) (err error) {
	if r.w.rehearses() {
		return r.rehearse(ctx)
	}
	keep := false
	defer func() {
		if keep {
			r.staged.close()
		} else {
			r.staged.discard()
		}
	}()
	if r.change, err = r.w.begin(ctx, r.intent()); err != nil {
		return err
	}
	if err := r.ready(ctx); err != nil {
		return r.change.notDone(err)
	}
	keep = true // should swap panic, nothing of what it displaced is removed
	keep, err = r.swap()
	if err != nil {
		return err
	}
	r.finish()
	return nil
}

func (r *replacement) intent() contract.Intent {
	t := r.target
	return contract.Intent{
		Kind: contract.ChangeEdit, Path: t.place, Before: t.version(), After: r.result.After,
		Mode: t.fact.Mode().Perm(), Undo: r.undo, Temp: r.temp,
	}
}

// ready brings the new file under its temporary name, durable. After it only the swap is left to do.
func (r *replacement) ready(ctx context.Context) error {
	t, s := r.target, r.staged
	if !s.begun() {
		if err := s.begin(0o600); err != nil {
			return stageFault(err, t.quoted())
		}
		s.write(r.content, modelFile{t.f})
	}
	if err := s.wait(); err != nil {
		return stageFault(err, t.quoted())
	}
	r.notKept = s.notKept
	if err := s.giveName(); err != nil {
		return stageFault(err, t.quoted())
	}
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	if !t.inPlace() {
		return changedDuringCall(t.quoted())
	}
	return nil
}

// swap is the point of no return. keep tells that what is under the temporary name must stay there.
func (r *replacement) swap() (keep bool, err error) {
	t, s := r.target, r.staged
	err = t.at.dir.exchange(s.name, t.at.leaf)
	if errors.Is(err, errNoExchange) {
		return r.overwrite()
	}
	if err != nil {
		if keep, err = r.unlessMade(err); err != nil {
			return keep, err
		}
	}
	if !t.isAt(s.name) {
		return r.putBack()
	}
	if err := t.at.dir.sync(); err != nil {
		return true, r.change.unknownOutcome(t.quoted(), "the directory could not be made durable.", err)
	}
	if !t.unchanged() {
		return r.putBack()
	}
	// The temporary name now is the old file's: discard removes it.
	return false, nil
}

// overwrite is the swap of a file system that offers none: a rename right after a look.
func (r *replacement) overwrite() (keep bool, err error) {
	t, s := r.target, r.staged
	if !t.isAt(t.at.leaf) || !t.unchanged() {
		return false, r.change.notDone(r.lost())
	}
	t.letGo()
	if err := t.at.dir.replace(s.name, t.at.leaf); err != nil {
		if keep, err = r.unlessMade(err); err != nil {
			return keep, err
		}
	}
	s.named = false
	if err := t.at.dir.sync(); err != nil {
		return true, r.change.unknownOutcome(t.quoted(), "the directory could not be made durable.", err)
	}
	r.result.Warnings = append(r.result.Warnings, weakGuarantee())
	return false, nil
}

// unlessMade returns the error of a step that failed, unless the step was made all the same: a file system on another
// machine can say one thing and do the other.
func (r *replacement) unlessMade(failure error) (keep bool, err error) {
	t, s := r.target, r.staged
	switch {
	case s.isAt(s.dir, t.at.leaf):
		return false, nil
	case s.isAt(s.dir, s.name):
		return false, r.change.notDone(fault(failure, t.quoted()))
	}
	return true, r.stuck(failure)
}

// maxPutBacks bounds the exchanges that bring another program's file back to its name while it goes on replacing it.
const maxPutBacks = 16

// putBack brings what was displaced back to its name, and ours under the temporary one. Another program may replace the
// file meanwhile; then it is its newest file that must end at the name.
func (r *replacement) putBack() (keep bool, err error) {
	t, s := r.target, r.staged
	ours, err := s.f.Stat()
	if err != nil {
		return true, r.stuck(err)
	}
	for range maxPutBacks {
		err := t.at.dir.exchange(s.name, t.at.leaf)
		if errors.Is(err, fs.ErrNotExist) { // the name is free: ours was taken away
			if err = t.at.dir.moveTo(s.name, t.at.dir, t.at.leaf); err == nil {
				s.named = false
				return false, r.restored()
			}
		}
		if err != nil {
			return true, r.stuck(err)
		}
		back, err := t.at.dir.stat(s.name)
		if err != nil {
			return true, r.stuck(err)
		}
		if sameFile(back, ours) {
			return r.withdraw()
		}
	}
	return true, r.stuck(errMoved)
}

// withdraw removes ours, which is back under the temporary name, unless somebody has written to it while it had its
// place: then that may be the only copy of what he wrote.
func (r *replacement) withdraw() (keep bool, err error) {
	s := r.staged
	s.close() // a file that is open for writing can't be watched
	f, err := s.dir.open(s.name)
	if err != nil {
		return true, r.stuck(err)
	}
	defer f.Close()
	watch, err := watchFile(r.change.ctx, f)
	if err != nil {
		return true, r.stuck(err)
	}
	if same, err := r.content.equal(f); err != nil || !same || watch.leased && !watch.whole() {
		return true, r.stuck(err)
	}
	if err := s.dir.remove(s.name); err != nil {
		return true, r.stuck(err)
	}
	s.named = false
	return false, r.restored()
}

func (r *replacement) stuck(err error) error {
	t := r.target
	return r.change.unknownOutcome(t.quoted(),
		"another program was changing it at the same time. A file is kept beside it as "+contract.Quote(r.temp)+".", err)
}

// restored ends a change that was taken back.
func (r *replacement) restored() error {
	if err := r.target.at.dir.sync(); err != nil {
		return r.change.unknownOutcome(r.target.quoted(), "the directory could not be made durable.", err)
	}
	return r.change.notDone(r.lost())
}

// lost is the conflict with a program that was faster.
func (r *replacement) lost() *Conflict {
	c := &Conflict{Cause: envelope.Errorf(envelope.VersionChanged,
		"%s was changed by another program at the same moment. Read it again and redo the edit.", r.target.quoted())}
	q := *r.target.question
	q.want = Read
	data, _, resolved, err := q.root.tree.load(context.Background(), &q, r.w.w.options.FileBytes)
	if err != nil || q.admit(resolved, data) != nil {
		return c
	}
	if v := contract.VersionOf(data); v != r.target.version() {
		c.Current, c.CurrentData, c.Place = v, data, r.target.place
	}
	return c
}

// finish records a change that was made. What another program writes to the new file from now on is a change of its own.
func (r *replacement) finish() {
	r.staged.discard()
	r.change.end(contract.OutcomeDone)
	r.conclude()
}

// conclude fills in the result of a change that was made.
func (r *replacement) conclude() {
	t := r.target
	r.result.Changed, r.result.ChangeID = envelope.Yes, r.change.id
	r.result.New = r.content.bytes()
	if linkCount(t.fact) > 1 {
		r.result.Warnings = append(r.result.Warnings, hardLinkBroken(t.quoted(), linkCount(t.fact)-1))
	}
	if len(r.notKept) > 0 {
		r.result.Warnings = append(r.result.Warnings, factsLost(t.quoted(), r.notKept))
	}
	r.w.remember(r.result)
}

// remember keeps the bytes before and after for the diff of a later conflict.
func (w Writer) remember(done Written) {
	if done.Old != nil {
		w.w.contents.add(done.Before, done.Old)
	}
	if done.New != nil && w.admits(done.Resolved, done.New) == nil {
		w.w.contents.add(done.After, done.New)
	}
}

func tooLargeToWrite(place string, size, most int64) error {
	return envelope.Errorf(envelope.TooLarge, "%s would have %d bytes, and at most %d are allowed.", place, size, most).
		With("size", size).With("limit", most)
}

// stageFault tells why a new file can't be put beside its place.
func stageFault(err error, place string) error {
	if errors.Is(err, fs.ErrPermission) {
		return &envelope.Error{
			Code:    envelope.Permission,
			Message: place + " can't be changed: the operating system gives no permission to make a file in its directory.",
			Err:     plain(err),
		}
	}
	return fault(err, place)
}

func hardLinkBroken(place string, others uint64) envelope.Warning {
	names := fmt.Sprintf("%d other names (hard links). They keep", others)
	if others == 1 {
		names = "1 other name (hard link). It keeps"
	}
	return envelope.Warning{
		Code:    envelope.HardLinkBroken,
		Message: fmt.Sprintf("%s had %s the old content.", place, names),
		Details: map[string]any{"other_names": others},
	}
}

func factsLost(place string, lost []string) envelope.Warning {
	return envelope.Warning{
		Code: envelope.WeakGuarantee,
		Message: fmt.Sprintf("The operating system did not let %s keep its %s. A person who may should look at who can use the file now.",
			place, strings.Join(lost, ", its ")),
		Details: map[string]any{"lost": lost},
	}
}

func weakGuarantee() envelope.Warning {
	return envelope.Warning{
		Code:    envelope.WeakGuarantee,
		Message: "The file system can't swap two files in one step. A change that another program made at the same moment would have gone unnoticed.",
	}
}
