package tools

import "writ/contract"

// The audit is told which places an answer is about, and the versions before and after.

// Trace tells of the one place that was changed.
func (o *written) Trace() (paths []contract.Path, before, after contract.Version) {
	if o.ChangedFile == nil {
		return nil, contract.Version{}, contract.Version{}
	}
	return []contract.Path{*o.ChangedFile}, o.Before, o.Version
}

// Trace tells of the places of a batch; the versions of each are in the change log.
func (o *applyEditsOut) Trace() (paths []contract.Path, before, after contract.Version) {
	return o.Places, before, after
}
