package workspace

import (
	"context"
	"errors"
	"io/fs"

	"writ/contract"
	"writ/envelope"
)

// Delete removes the regular file at p if its bytes are those that observed names. Links and directories are not
// removed. The file first gets a private name, so that what is removed is what was looked at and nothing that took its
// place; what turns out to be another file gets its name back.
func (w Writer) Delete(ctx context.Context, p contract.Path, observed contract.Version) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		done, err = w.deleteOnce(ctx, p, observed)
		return err
	})
	return done, err
}

func (w Writer) deleteOnce(ctx context.Context, p contract.Path, observed contract.Version) (Written, error) {
	t, err := w.openEntry(ctx, p, observed)
	if err != nil {
		return Written{}, err
	}
	defer t.close()
	a, err := attributesOf(t.f)
	if err != nil {
		return Written{}, fault(err, t.quoted())
	}
	attributes, err := a.pack()
	if err != nil {
		return Written{}, err
	}
	temp := tempName()
	in := contract.Intent{
		Kind: contract.ChangeDelete, Path: t.place, Before: t.version(), Mode: t.fact.Mode().Perm(), Attributes: attributes,
		Undo: []contract.Splice{{New: t.data}}, Temp: temp,
	}
	if w.rehearses() {
		return Written{}, w.rehearse(ctx, in, pieces{t.data}, nil)
	}
	c, err := w.begin(ctx, in)
	if err != nil {
		return Written{}, err
	}
	if err := ctx.Err(); err != nil {
		return Written{}, c.notDone(timedOut(err))
	}
	if !t.inPlace() {
		return Written{}, c.notDone(changedDuringCall(t.quoted()))
	}
	if err := t.takeAway(temp, c); err != nil {
		return Written{}, err
	}
	c.end(contract.OutcomeDone)
	done := Written{
		Path: p, Resolved: t.place, Before: t.version(), ChangeID: c.id, Changed: envelope.Yes, Old: pieces{t.data}.bytes(),
	}
	w.remember(done)
	return done, nil
}

// takeAway removes the file by way of the name temp.
func (t *target) takeAway(temp string, c *change) error {
	d := t.at.dir
	if failure := d.moveTo(t.at.leaf, d, temp); failure != nil {
		// A file system on another machine can say that it failed and have done it.
		switch _, err := d.stat(temp); {
		case errors.Is(err, fs.ErrNotExist):
			return c.notDone(stageFault(failure, t.quoted()))
		case err != nil, t.isAt(t.at.leaf):
			return c.unknownOutcome(t.quoted(), "it may also be kept as "+contract.Quote(temp)+".", failure)
		}
	}
	if !t.isAt(temp) {
		return t.giveBack(temp, c)
	}
	if err := d.sync(); err != nil {
		return c.unknownOutcome(t.quoted(), "the directory could not be made durable.", err)
	}
	if !t.unchanged() {
		return t.giveBack(temp, c)
	}
	if err := d.remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c.unknownOutcome(t.quoted(), "it is kept as "+contract.Quote(temp)+".", err)
	}
	return nil
}

// giveBack gives a file its name again that is not the one that was observed.
func (t *target) giveBack(temp string, c *change) error {
	d := t.at.dir
	if err := d.moveTo(temp, d, t.at.leaf); err != nil {
		return c.unknownOutcome(t.quoted(), "another program was changing it at the same time. A file is kept beside it as "+contract.Quote(temp)+".", err)
	}
	if err := d.sync(); err != nil {
		return c.unknownOutcome(t.quoted(), "the directory could not be made durable.", err)
	}
	return c.notDone(&Conflict{Cause: envelope.Errorf(envelope.VersionChanged,
		"%s was changed by another program at the same moment, and was not deleted. Read it again.", t.quoted())})
}
