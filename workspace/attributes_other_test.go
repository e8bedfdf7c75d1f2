//go:build !linux && !darwin

package workspace

func setAttribute(string) bool   { return false }
func getAttribute(string) string { return "" }
