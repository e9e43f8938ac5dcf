// The tests of this folder read what is deployed as far as that can be done without a Docker engine: a compose file by
// the part of its schema that is used here, and what must agree with the rest of the repository.
package deploy

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// compose is what compose.yaml may say: decoding is strict, so that a misspelt key fails. Values are as strict as the
// engine's.
type compose struct {
	Name     string                    `yaml:"name"`
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]*struct{}      `yaml:"volumes"`
}

type composeService struct {
	Build struct {
		Context    string `yaml:"context"`
		Dockerfile string `yaml:"dockerfile"`
	} `yaml:"build"`
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Ports       []string          `yaml:"ports"`
	DependsOn   map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Healthcheck *struct {
		Test     []string `yaml:"test"`
		Interval string   `yaml:"interval"`
		Timeout  string   `yaml:"timeout"`
		Retries  int      `yaml:"retries"`
	} `yaml:"healthcheck"`
	ReadOnly        bool     `yaml:"read_only"`
	CapDrop         []string `yaml:"cap_drop"`
	SecurityOpt     []string `yaml:"security_opt"`
	StopGracePeriod string   `yaml:"stop_grace_period"`
	Restart         string   `yaml:"restart"`
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var file compose
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, "compose.yaml")), yaml.Strict())
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCompose_NamesOnlyWhatItDeclares(t *testing.T) {
	file := readCompose(t)
	for name, service := range file.Services {
		for other, on := range service.DependsOn {
			dependency, declared := file.Services[other]
			if !declared || on.Condition != "service_healthy" || dependency.Healthcheck == nil {
				t.Errorf("%s waits for %s to be %q, which it cannot be", name, other, on.Condition)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, "./") {
				read(t, source)
			} else if _, declared := file.Volumes[source]; !declared {
				t.Errorf("%s mounts %s, which is not declared", name, source)
			}
		}
		if service.Build.Dockerfile != "" {
			read(t, service.Build.Context+"/"+service.Build.Dockerfile)
		}
	}
}

func TestCompose_RunsTheVersionsOfTheDesignAndARedisThatEvictsNothing(t *testing.T) {
	services := readCompose(t).Services
	if image := services["postgres"].Image; !strings.HasPrefix(image, "postgres:15") {
		t.Errorf("the ledger is %s", image)
	}
	redis := services["redis"]
	if !strings.HasPrefix(redis.Image, "redis:7") {
		t.Errorf("the line is in %s", redis.Image)
	}
	at := slices.Index(redis.Command, "--maxmemory-policy")
	if at < 0 || redis.Command[at+1] != "noeviction" {
		t.Errorf("Redis may drop keys: %v", redis.Command)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
