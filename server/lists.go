package server

import "sync"

// lists are the results of tools/list, by the tools that are in them: callers who may use the same tools share them. Most
// often there is one.
type lists struct {
	mu    sync.Mutex
	made  map[string]*list
	whose map[string]*list // by caller; the policy names the callers, so they are few
}

// list is a result for clients before and since 2026-07-28.
type list struct{ legacy, modern []byte }

// listsFor returns the tools that the caller may use.
func (s *Server) listsFor(caller string) (legacy, modern []byte) {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	l := s.lists.whose[caller]
	if l == nil {
		l = s.newList(caller)
		if s.lists.whose == nil {
			s.lists.whose = map[string]*list{}
		}
		s.lists.whose[caller] = l
	}
	return l.legacy, l.modern
}

func (s *Server) newList(caller string) *list {
	var offered []Definition
	var names string
	for _, d := range s.definitions {
		if s.isOffered(caller, d.Name) {
			offered, names = append(offered, d), names+d.Name+" "
		}
	}
	l := s.lists.made[names]
	if l == nil {
		l = &list{}
		l.legacy, l.modern = s.makeLists(offered)
		if s.lists.made == nil {
			s.lists.made = map[string]*list{}
		}
		s.lists.made[names] = l
	}
	return l
}
