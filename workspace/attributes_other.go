//go:build !linux && !darwin

package workspace

func carryAttributes(_, _ int, _ bool) ([]string, error) { return nil, nil }
