package server

import (
	"slices"
	"sync"
)

// lists are the results of tools/list, by the tools that are in them: callers who may use the same tools share them. Most
// often there is one.
type lists struct {
	mu    sync.Mutex
	made  map[string]*list
	whose map[audience]*list // the policy names the callers, so they are few
}

// audience is who asks for the list: a caller, by a client that shows views or by one that does not.
type audience struct {
	caller     string
	showsViews bool
}

// list is a result for clients before and since 2026-07-28.
type list struct{ legacy, modern []byte }

// listsFor returns the tools that the caller may use.
func (s *Server) listsFor(a audience) (legacy, modern []byte) {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	l := s.lists.whose[a]
	if l == nil {
		l = s.newList(a)
		if s.lists.whose == nil {
			s.lists.whose = map[audience]*list{}
		}
		s.lists.whose[a] = l
	}
	return l.legacy, l.modern
}

func (s *Server) newList(a audience) *list {
	var offered []Definition
	var names string
	for _, d := range s.definitions {
		if s.isOffered(a.caller, d.Name) {
			d.hasView = a.showsViews && s.library != nil && slices.Contains(viewed, d.Name)
			offered, names = append(offered, d), names+d.Name+" "
		}
	}
	if a.showsViews {
		names += "and views"
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
