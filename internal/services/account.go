package services

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is who runs a server: nil for whoever runs this process.
type account struct{ uid, gid int }

// unprivileged is the account for a server that refuses to run as root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(found.Uid)
		if err != nil {
			return nil, fmt.Errorf("read the id of user %s: %w", name, err)
		}
		gid, err := strconv.Atoi(found.Gid)
		if err != nil {
			return nil, fmt.Errorf("read the group of user %s: %w", name, err)
		}
		return &account{uid: uid, gid: gid}, nil
	}
	return nil, fmt.Errorf("find a user to run postgres as: there is neither postgres nor nobody, and it refuses root")
}

// attributes makes a process of the account, in a process group of its own so that an interrupt from the terminal
// reaches this process alone, which then ends its servers in order.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// folder makes a temporary folder that the account owns.
func (a *account) folder(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	if a == nil {
		return dir, nil
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return "", fmt.Errorf("give folder to the server's user: %w", err)
	}
	return dir, nil
}
