package origin

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// width is how many tests run at once, unless -parallel says otherwise: they wait for banks far more than they compute.
const width = "12"

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", width)
	}
	// A server that the tests share lives until the end of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("foyer/internal/services.(*process).start.func1"))
}
