package main

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }

func makeZero(string) error { return errors.ErrUnsupported }

func makeSparse(string, int64) error { return errors.ErrUnsupported }
