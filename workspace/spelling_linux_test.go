package workspace

func (t *linuxTree) pretendToFold() { t.folds = true }
