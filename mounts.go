package main

import (
	"path/filepath"
	"slices"
	"strings"

	"writ/policy"
)

// mounts gives each of several directories the name under which its files are found: its own. Where a name has what a
// mount's can't have, that becomes a dash, and directories whose names are alike have the names of those above them too:
// work/notes and home/notes become work-notes and home-notes. A name does not depend on the order.
func mounts(directories []string) ([]policy.Root, error) {
	places := make([]string, len(directories))
	for i, d := range directories {
		full, err := filepath.Abs(d)
		if err != nil {
			return nil, err
		}
		places[i] = full
	}
	roots := make([]policy.Root, len(places))
	for i, place := range places {
		roots[i] = policy.Root{Name: mountName(place, 1), Path: place}
		for depth := 2; depth <= segments(place) && clashes(places, i, depth-1); depth++ {
			roots[i].Name = mountName(place, depth)
		}
	}
	return roots, nil
}

// clashes tells whether another place has the name of this one, when names are made of that many segments.
func clashes(places []string, at, depth int) bool {
	for i, place := range places {
		if i != at && place != places[at] && mountName(place, depth) == mountName(places[at], depth) {
			return true
		}
	}
	return false
}

func segments(place string) int { return len(names(place)) }

func names(place string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(place), "/"), func(s string) bool { return s == "" })
}

// mountName joins the last segments of a place to a name.
func mountName(place string, depth int) string {
	list := names(place)
	if len(list) == 0 {
		return "root"
	}
	name := strings.Join(list[max(0, len(list)-depth):], "-")
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?[]{},:\`, r) || r < ' ' {
			return '-'
		}
		return r
	}, name)
	if name = strings.TrimLeft(name, "."); name == "" {
		return "root"
	}
	return name
}
