// The one file that runs anywhere: it unpacks the program that is embedded in it, once, and becomes
// that program. It is linked statically and brings a loader and a C library, so the host needs none.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	recovery = "kafka-unclean-recovery"
	election = "kafka-elect-leaders"
	// variable names the directory to unpack to. It must not begin as the variables for flags do.
	variable = "UNPACK_KAFKA_UNCLEAN_RECOVERY_TO"
	// noExec is ST_NOEXEC of statfs(2).
	noExec   = 0x8
	exitLost = 1
	// unpacking begins the names of directories that are not whole yet.
	unpacking = ".unpacking-"
)

//go:embed program.tar.gz
var program []byte

// digest is the SHA-256 of program; the build sets it, and it names the directory.
var digest string

func main() {
	// The program finds itself by it.
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		fail(errors.New("/proc is not mounted here: mount it first"))
	}
	directory, err := unpacked(places())
	if err == nil {
		err = run(directory)
	}
	fail(err)
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", recovery, err)
	os.Exit(exitLost)
}

// places returns the directories to unpack to, the best first.
func places() []string {
	if chosen := os.Getenv(variable); chosen != "" {
		return []string{chosen}
	}
	var found []string
	if cache := os.Getenv("XDG_CACHE_HOME"); cache != "" {
		found = append(found, filepath.Join(cache, recovery))
	} else if home := os.Getenv("HOME"); home != "" {
		found = append(found, filepath.Join(home, ".cache", recovery))
	}
	own := fmt.Sprintf("%s-%d", recovery, os.Geteuid())
	for _, temporary := range []string{os.TempDir(), "/var/tmp", "/dev/shm"} {
		found = append(found, filepath.Join(temporary, own))
	}
	return found
}

// unpacked returns the directory of the program in the first place that can hold it.
func unpacked(places []string) (string, error) {
	var refused []string
	for _, place := range places {
		directory, err := unpackedTo(place)
		if err == nil {
			return directory, nil
		}
		refused = append(refused, fmt.Sprintf("%s: %v", place, err))
	}
	return "", fmt.Errorf("no directory to unpack to (%s): set %s to a directory of yours from"+
		" which programs can be run, with 60 MB free", strings.Join(refused, "; "), variable)
}

func unpackedTo(place string) (string, error) {
	place, err := filepath.Abs(place)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(place, 0o700); err != nil {
		return "", cause(err)
	}
	if err := trusted(place); err != nil {
		return "", err
	}
	directory := filepath.Join(place, digest)
	if _, err := os.Stat(directory); err == nil {
		return directory, nil
	}
	return directory, cause(unpack(place, directory))
}

// trusted refuses a place from which nothing can be run, or where somebody else could put a program.
func trusted(place string) error {
	var system syscall.Statfs_t
	if err := syscall.Statfs(place, &system); err != nil {
		return err
	}
	if system.Flags&noExec != 0 {
		return errors.New("it is mounted noexec")
	}
	if info, err := os.Lstat(place); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return errors.New("it is a link")
	}
	for _, directory := range []string{place, filepath.Dir(place)} {
		info, err := os.Stat(directory)
		if err != nil {
			return cause(err)
		}
		owner := int(info.Sys().(*syscall.Stat_t).Uid)
		if owner != os.Geteuid() && (owner != 0 || directory == place) {
			return fmt.Errorf("%s belongs to another user", directory)
		}
		sticky := info.Mode()&os.ModeSticky != 0 && directory != place
		if info.Mode().Perm()&0o022 != 0 && !sticky {
			return fmt.Errorf("others can write to %s", directory)
		}
	}
	return nil
}

// unpack makes the directory appear whole or not at all: two first runs at once, or one that dies,
// leave nothing half done under its name.
func unpack(place, directory string) error {
	forget(place)
	made, err := os.MkdirTemp(place, unpacking)
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := extract(made); err != nil {
		return err
	}
	if err := syncAll(made); err != nil {
		return err
	}
	err = os.Rename(made, directory)
	if _, there := os.Stat(directory); there == nil {
		return nil // Another first run was faster.
	}
	return err
}

// forget removes what first runs that were killed have left, once no such run can be at work.
func forget(place string) {
	left, _ := filepath.Glob(filepath.Join(place, unpacking+"*"))
	for _, directory := range left {
		if info, err := os.Lstat(directory); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(directory)
		}
	}
}

func extract(to string) error {
	stream, err := gzip.NewReader(bytes.NewReader(program))
	if err != nil {
		return err
	}
	for archive := tar.NewReader(stream); ; {
		entry, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := extractEntry(archive, entry, filepath.Join(to, entry.Name)); err != nil {
			return err
		}
	}
}

func extractEntry(content io.Reader, entry *tar.Header, path string) error {
	switch entry.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o700)
	case tar.TypeSymlink:
		return os.Symlink(entry.Linkname, path)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(entry.Mode))
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// syncAll brings all to the disk before it is named: a power cut must not leave empty files there.
func syncAll(directory string) error {
	file, err := os.Open(directory)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, _, code := syscall.Syscall(sysSyncfs, file.Fd(), 0, 0); code != 0 {
		return code
	}
	return nil
}

// run becomes the program, under the name that this file was called by. It returns only an error.
func run(directory string) error {
	name := recovery
	if strings.HasPrefix(filepath.Base(os.Args[0]), election) {
		name = election
	}
	libraries := filepath.Join(directory, "_internal")
	loader := filepath.Join(libraries, loaderName)
	words := []string{loader, "--library-path", libraries, filepath.Join(directory, name)}
	// What the host's loader is told is not for this one.
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"} {
		os.Unsetenv(name)
	}
	err := syscall.Exec(loader, append(words, os.Args[1:]...), os.Environ())
	return fmt.Errorf("%s can't be run (%w): set %s to a directory from which programs can be run",
		loader, err, variable)
}

// cause returns the reason alone: the path is told beside it.
func cause(err error) error {
	var inner *os.PathError
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}
