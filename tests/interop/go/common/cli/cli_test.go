package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestEncodeAnswersEveryLine(t *testing.T) {
	in := strings.Join([]string{
		"interop.Count\t08000d0e",
		"Count\t08000d0effff",
		"Count\t08000d80",
		"Count\t",
		"",
		"NoSuchMessage\t00",
		"Count\tzz",
		"Maps\t08000205050a00020c050a00020b070a0002070d0a0107010d0002050f0a0002050a0a00000",
		"Mixed\t08000c00050a000a0001050a0001030a000002050c0a02050a01620c02050a01610c04",
		"Lists\t080001070affffffff0f",
		"Text\t06050a0161",
		"Empty\t00",
	}, "\n")
	want := []string{
		"08000d0e", "08000d0e", "error: ", "error: ", "error: ", "error: ", "error: ", "error: ",
		"08000c00050a000a0001050a0001030a000002050c0a02050a01610c04050a01620c02", "error: ", "06050a0161", "0800",
	}
	var out, log bytes.Buffer
	if code := (Peer{Name: "peer"}).Run([]string{"encode"}, strings.NewReader(in), &out, &log); code != 0 {
		t.Fatalf("exit code %d, %s", code, log.String())
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d lines:\n%s", len(got), len(want), out.String())
	}
	for i := range want {
		if got[i] != want[i] && !(want[i] == "error: " && strings.HasPrefix(got[i], want[i])) {
			t.Errorf("line %d\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

func TestCasesAreListedAndChosen(t *testing.T) {
	count := func(args ...string) int {
		var out, log bytes.Buffer
		if (Peer{Name: "peer"}).Run(append([]string{"cases"}, args...), nil, &out, &log) != 0 {
			return 0
		}
		return strings.Count(out.String(), "\n")
	}
	if n := count(); n < 45 {
		t.Errorf("%d cases", n)
	}
	if n := count("-small"); n < 12 {
		t.Errorf("%d small cases", n)
	}
	if n := count("-only", "^unary/add$"); n != 1 {
		t.Errorf("%d cases by name", n)
	}
	if n := count("-only", "nothing is called this"); n != 0 {
		t.Errorf("%d cases of no name", n)
	}
}

func TestNonsenseOnTheCommandLine(t *testing.T) {
	for _, args := range [][]string{{}, {"sing"}, {"call"}, {"serve"}, {"call", "a", "b"}, {"call", "a", "-only", "("}, {"serve", "a", "-no"}} {
		var out, log bytes.Buffer
		if code := (Peer{Name: "peer"}).Run(args, nil, &out, &log); code != 2 || log.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, log.String())
		}
	}
}
