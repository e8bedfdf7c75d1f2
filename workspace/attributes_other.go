//go:build !linux && !darwin && !windows

package workspace

func extendedOf(int) ([]extended, []string, error) { return nil, nil, nil }

func (a *attributes) giveExtended(int, bool) ([]string, error) { return nil, nil }
