package policy

import "writ/contract"

// ReadsPlain tells whether every file directly in dir may be read whose name does not begin with a dot, where no ignore
// file names dir or the file. It is sure where it says so; a walk then need not ask about each file.
func (p *Policy) ReadsPlain(dir contract.Path) bool {
	if p.own != nil && !p.own.ReadsPlain(dir) {
		return false
	}
	at := place{path: dir.String()}
	for i := range p.readable {
		q := &p.readable[i]
		states := q.step(q.run(at), func(s *contract.GlobSegment) bool { return s.AnyNames() || s.EveryName() })
		if states&(1<<len(q.segments)) != 0 {
			return true
		}
	}
	return false
}
