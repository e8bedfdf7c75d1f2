package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode"

	"writ/contract"
	"writ/envelope"
)

const newFileMode = 0o666 // less the umask

// Create makes a file that is complete or not there at all. It never replaces: a place that is taken is a *[Conflict]
// of code already-exists. Missing directories are made, and taken away again if the file can't be made.
func (w Writer) Create(ctx context.Context, p contract.Path, data []byte) (Written, error) {
	if most := w.w.options.FileBytes; int64(len(data)) > most {
		return Written{}, tooLargeToWrite(contract.Quote(p.String()), int64(len(data)), most)
	}
	return w.create(ctx, p, creation{content: pieces{data}})
}

// create makes the creation c, which has its content, at p.
func (w Writer) create(ctx context.Context, p contract.Path, c creation) (done Written, err error) {
	err = w.onSettledGround(ctx, func() error {
		site, err := w.openSite(ctx, p)
		if err != nil {
			return err
		}
		defer site.close()
		try := c
		try.w, try.site = w, site
		done, err = try.make(ctx)
		return err
	})
	return done, err
}

// creation is a Create that has its site.
type creation struct {
	w       Writer
	site    *site
	content pieces
	mode    *fs.FileMode // nil: that of any new file
	like    *attributes  // nil: those of any new file
	staged  *staged
	change  *change
	result  Written
}

func (c *creation) make(ctx context.Context) (Written, error) {
	if err := c.run(ctx); err != nil {
		return Written{}, err
	}
	c.w.remember(c.result)
	return c.result, nil
}

// write begins to write the staged file.
func (c *creation) write() error {
	if c.mode != nil {
		if err := c.staged.f.Chmod(*c.mode); err != nil {
			return fault(err, c.site.quoted())
		}
	}
	if c.like == nil {
		c.staged.write(c.content, nil)
	} else {
		c.staged.write(c.content, c.like)
	}
	return nil
}

func (c *creation) run(ctx context.Context) (err error) {
	s := c.site
	if err := c.w.mayRestore(s.place, c.content); err != nil {
		return err
	}
	if c.w.rehearses() {
		return c.rehearse(ctx)
	}
	temp := tempName()
	if c.staged, err = stage(s.at.dir, temp, newFileMode); err != nil {
		return stageFault(err, s.quoted())
	}
	defer c.staged.discard()
	mode := fs.FileMode(newFileMode &^ 0o022)
	if c.mode != nil {
		mode = *c.mode
	}
	if c.staged.begun() {
		if err := c.write(); err != nil {
			return err
		}
		fact, err := c.staged.f.Stat()
		if err != nil {
			return fault(err, s.quoted())
		}
		mode = fact.Mode().Perm()
	}
	c.result = Written{
		Path: s.asked, Resolved: s.place, After: contract.VersionOf(c.content[0]),
		New: c.content.bytes(),
	}
	c.change, err = c.w.begin(ctx, contract.Intent{
		Kind: contract.ChangeCreate, Path: s.place, After: c.result.After, Mode: mode, Directories: s.missing, Temp: temp,
	})
	if err != nil {
		return err
	}
	return c.place(ctx)
}

func (c *creation) rehearse(ctx context.Context) error {
	s := c.site
	return c.w.rehearse(ctx, contract.Intent{
		Kind: contract.ChangeCreate, Path: s.place, After: contract.VersionOf(c.content[0]), Directories: s.missing,
	}, nil, c.content)
}

// place puts the file where it belongs.
func (c *creation) place(ctx context.Context) error {
	s := c.site
	if err := c.ready(ctx); err != nil {
		c.takeBack()
		return c.change.notDone(err)
	}
	// A file system on another machine can say that it failed and have done it.
	if err := c.staged.place(s.dir(), s.at.leaf); err != nil && !c.staged.isAt(s.dir(), s.at.leaf) {
		return c.notPlaced(ctx, err)
	}
	if err := s.sync(); err != nil {
		return c.change.unknownOutcome(s.quoted(), "its directory could not be made durable.", err)
	}
	c.change.end(contract.OutcomeDone)
	c.result.Changed, c.result.ChangeID, c.result.Directories = envelope.Yes, c.change.id, s.madeHere()
	if len(c.staged.notKept) > 0 {
		c.result.Warnings = append(c.result.Warnings, factsLost(s.quoted(), c.staged.notKept))
	}
	return nil
}

// notPlaced ends a creation whose file did not get its name.
func (c *creation) notPlaced(ctx context.Context, err error) error {
	s := c.site
	if _, looked := s.dir().stat(s.at.leaf); looked != nil && !errors.Is(looked, fs.ErrNotExist) {
		c.staged.close()
		return c.change.unknownOutcome(s.quoted(), "its directory can't be looked at.", err)
	}
	c.takeBack()
	if errors.Is(err, fs.ErrExist) {
		return c.change.notDone(c.w.taken(ctx, s))
	}
	return c.change.notDone(fault(err, s.quoted()))
}

// takeBack leaves everything as it was; the file goes first, since it may be in one of the directories.
func (c *creation) takeBack() {
	c.staged.discard()
	c.site.unmake()
}

// ready makes the directories and the file durable. After it the file only needs its name.
func (c *creation) ready(ctx context.Context) error {
	s := c.site
	if err := s.make(); err != nil {
		return err
	}
	if !c.staged.begun() {
		c.staged.dir = s.dir()
		if err := c.staged.begin(newFileMode); err != nil {
			return stageFault(err, s.quoted())
		}
		if err := c.write(); err != nil {
			return err
		}
	}
	if err := c.staged.wait(); err != nil {
		return stageFault(err, s.quoted())
	}
	if err := ctx.Err(); err != nil {
		return timedOut(err)
	}
	if !s.inPlace() {
		return changedDuringCall(s.quoted())
	}
	return nil
}

// site is a free place for a new entry, with the directories that must be made first.
type site struct {
	question *question
	asked    contract.Path
	place    contract.Path // resolved
	at       parent
	missing  []contract.Path // directories to make, outermost first
	made     []editDir       // those that are open, outermost first
	ours     []bool          // of made: it was not there before
}

// openSite returns the free place that p names.
func (w Writer) openSite(ctx context.Context, p contract.Path) (*site, error) {
	s, err := w.openAnySite(ctx, p)
	if err != nil {
		return nil, err
	}
	if s.isTaken() {
		defer s.close()
		return nil, w.taken(ctx, s)
	}
	return s, nil
}

// openAnySite returns the place that p names, free or not.
func (w Writer) openAnySite(ctx context.Context, p contract.Path) (*site, error) {
	q, err := w.w.question(w.guard, p, Write)
	if err != nil {
		return nil, err
	}
	at, err := q.root.tree.parent(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &site{question: q, asked: p, at: at}
	err = s.name()
	if err == nil && w.reverts == "" {
		err = s.checkNames()
	}
	if err != nil {
		at.dir.Close()
		return nil, err
	}
	return s, nil
}

// name works out the paths.
func (s *site) name() (err error) {
	if s.place, err = s.question.path(s.at.resolved); err != nil {
		return err
	}
	rel := s.at.directory
	for _, name := range s.at.missing {
		rel = joinRel(rel, name)
		directory, err := s.question.path(rel)
		if err != nil {
			return err
		}
		s.missing = append(s.missing, directory)
	}
	return nil
}

// checkNames refuses names that should not come into the world.
func (s *site) checkNames() error {
	if home, _, _ := strings.Cut(s.question.rel, "/"); home == "~" {
		return envelope.Errorf(envelope.PathNotAllowed,
			"%s is not allowed for a new entry: ~ does not stand for a home directory here. Give a path relative to the root.", s.quoted())
	}
	for _, name := range append(s.at.missing[:len(s.at.missing):len(s.at.missing)], s.at.leaf) {
		if strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
			return envelope.Errorf(envelope.PathNotAllowed,
				"%s is not allowed for a new entry: a new name must not hold a backslash or a control character.", s.quoted())
		}
		if isTempName(name) {
			return envelope.Errorf(envelope.PathNotAllowed, "%s is not allowed for a new entry: such names are kept for temporary files.", s.quoted())
		}
	}
	return nil
}

func (s *site) quoted() string { return contract.Quote(s.asked.String()) }

func (s *site) isTaken() bool {
	if len(s.at.missing) > 0 {
		return false
	}
	_, err := s.at.dir.stat(s.at.leaf)
	return err == nil
}

// dir is the directory that the entry goes into.
func (s *site) dir() editDir {
	if len(s.made) == 0 {
		return s.at.dir
	}
	return s.made[len(s.made)-1]
}

// make makes the missing directories. One that another program makes at the same time is as good.
func (s *site) make() error {
	for _, name := range s.at.missing {
		err := s.dir().mkdir(name)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return stageFault(err, s.quoted())
		}
		ours := err == nil
		d, err := s.dir().openEdit(name)
		if err != nil {
			if ours {
				s.dir().rmdir(name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return changedDuringCall(s.quoted())
			}
			return fault(err, s.quoted())
		}
		s.made, s.ours = append(s.made, d), append(s.ours, ours)
	}
	return nil
}

// madeHere lists the directories that make made itself, outermost first.
func (s *site) madeHere() []contract.Path {
	var list []contract.Path
	for i, ours := range s.ours {
		if ours {
			list = append(list, s.missing[i])
		}
	}
	return list
}

// unmake takes the directories away again that make made. One that is not empty stays.
func (s *site) unmake() {
	for len(s.made) > 0 {
		last := len(s.made) - 1
		s.made[last].Close()
		ours := s.ours[last]
		s.made, s.ours = s.made[:last], s.ours[:last]
		if ours {
			s.dir().rmdir(s.at.missing[last])
		}
	}
}

// inPlace tells whether the directory is where the guard allowed the entry.
func (s *site) inPlace() bool {
	at := s.at
	for _, name := range s.at.missing {
		at.directory = joinRel(at.directory, name)
	}
	at.dir = s.dir()
	return s.question.root.confirmDir(&at)
}

// sync makes the entry and the new directories durable.
func (s *site) sync() error {
	err := s.at.dir.sync()
	for _, d := range s.made {
		err = errors.Join(err, d.sync())
	}
	return err
}

func (s *site) close() {
	for _, d := range s.made {
		d.Close()
	}
	s.at.dir.Close()
}

// taken tells what is in the way at a site.
func (w Writer) taken(ctx context.Context, s *site) error {
	info, err := w.Stat(ctx, s.asked)
	if envelope.CodeOf(err).Status() == envelope.Denied {
		return err
	}
	if err == nil && info.Kind == KindLink {
		return envelope.Errorf(envelope.NotARegularFile, "%s is a link to a place that does not exist. Links are not written.", s.quoted())
	}
	c := &Conflict{Cause: envelope.Errorf(envelope.AlreadyExists, "%s exists already. Nothing was changed.", s.quoted())}
	if f, err := w.Load(ctx, s.asked); err == nil {
		c.Current, c.CurrentData = f.Version, f.Data
	}
	return c
}
