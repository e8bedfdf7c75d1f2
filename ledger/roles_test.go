package ledger

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"writ/contract"
	"writ/envelope"
)

// playRole is what the test binary does when a test starts it again as another process.
func playRole(role string) int {
	l, err := Open(os.Getenv("LEDGER_TEST_STATE"), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n, _ := strconv.Atoi(os.Getenv("LEDGER_TEST_COUNT"))
	switch role {
	case "write":
		err = writeChanges(l, n)
	case "hang":
		err = beginAndHang(l)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// writeChanges makes n changes, each with its call, and names each on stdout once it was begun.
func writeChanges(l *Ledger, n int) error {
	ctx := context.Background()
	path, err := contract.ParsePath("a/" + strconv.Itoa(os.Getpid()))
	if err != nil {
		return err
	}
	for i := range n {
		request := fmt.Sprintf("req_%d_%d", os.Getpid(), i)
		id, err := l.Begin(ctx, contract.Intent{
			Origin: contract.Origin{RequestID: request, Tool: "replace_text", Caller: "local", Fingerprint: request},
			Kind:   contract.ChangeEdit, Path: path, Undo: []contract.Splice{{Length: 1, New: []byte(request)}},
		})
		if err != nil {
			return err
		}
		fmt.Println(id)
		if err := l.End(ctx, id, contract.OutcomeDone); err != nil {
			return err
		}
		for _, write := range []bool{false, true} {
			if err := l.Record(ctx, CallEntry{RequestID: request, Tool: "replace_text", Status: envelope.Succeeded, Writes: write}); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginAndHang leaves a change open for as long as the process lives.
func beginAndHang(l *Ledger) error {
	id, err := l.Begin(context.Background(), contract.Intent{Kind: contract.ChangeMkdir, Temp: ".writ-temp"})
	if err != nil {
		return err
	}
	fmt.Println(id)
	time.Sleep(time.Minute)
	return nil
}

// other returns the command that plays a role on the state directory in another process.
func other(t testing.TB, role, state string, count int) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), "LEDGER_TEST_ROLE="+role, "LEDGER_TEST_STATE="+state, "LEDGER_TEST_COUNT="+strconv.Itoa(count))
	c.Stderr = os.Stderr
	c.Dir = filepath.Dir(state)
	return c
}
