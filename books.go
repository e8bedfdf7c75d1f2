package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/ledger"
)

// books are the change logs in which a person looks for approvals. An agent tells its user the name of an approval, and
// not under which directory and policy its server runs, so that the name alone has to do.
type books []*ledger.Ledger

// booksEverywhere opens all change logs in the usual place.
func booksEverywhere() (books, error) {
	home, err := stateHome()
	if err != nil {
		return nil, err
	}
	databases, err := filepath.Glob(filepath.Join(home, "*", "ledger.db"))
	if err != nil {
		return nil, err
	}
	// What may be kept is for the policies to say, and those are not known here, so nothing is thrown away.
	keepAll := ledger.Options{ArtifactBytes: math.MaxInt64, Budget: ledger.Budget{Bytes: math.MaxInt64, Age: math.MaxInt64 * time.Nanosecond}}
	var all books
	for _, database := range databases {
		if info, err := os.Stat(database); err != nil || !info.Mode().IsRegular() {
			continue
		}
		book, err := ledger.Open(filepath.Dir(database), keepAll)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all = append(all, book)
	}
	return all, nil
}

func (b books) close() error {
	var errs []error
	for _, book := range b {
		errs = append(errs, book.Close())
	}
	return errors.Join(errs...)
}

// list lists the approvals of all, those asked for last first. With an error it is what could be read.
func (b books) list(ctx context.Context, f ledger.ApprovalFilter) ([]ledger.Approval, error) {
	var list []ledger.Approval
	var errs []error
	for _, book := range b {
		some, err := book.Approvals(ctx, f)
		list, errs = append(list, some...), append(errs, err)
	}
	slices.SortStableFunc(list, func(x, y ledger.Approval) int { return cmp.Or(y.Asked.Compare(x.Asked), cmp.Compare(x.ID, y.ID)) })
	return list, errors.Join(errs...)
}

// find returns the approval of that name and where it is.
func (b books) find(ctx context.Context, id string) (*ledger.Ledger, ledger.Approval, error) {
	var errs []error
	for _, book := range b {
		a, err := book.Approval(ctx, id)
		if err == nil {
			return book, a, nil
		}
		if envelope.CodeOf(err) != envelope.UnknownRequest {
			errs = append(errs, err)
		}
	}
	errs = append(errs, fmt.Errorf("there is no approval %s here; if the server runs with --state, name the same directory", contract.Shown(id)))
	return nil, ledger.Approval{}, errors.Join(errs...)
}
