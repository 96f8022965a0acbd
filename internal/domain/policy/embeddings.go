package policy

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// MaxEmbedTimeout is the longest time that a search may wait for the vector of its query.
const MaxEmbedTimeout = 5 * time.Second

// CommandPrefix begins the names of environment variables that hold commands.
const CommandPrefix = "TRAPEZE_EMBED_"

// Embeddings is a model that turns texts into vectors. Zero fields mean the default.
type Embeddings struct {
	Endpoint      string         `yaml:"endpoint" doc:"Base address of a service that answers embeddings as OpenAI's does, such as https://api.example.com/v1; http only on the server's own machine. Exactly one of this and command_env is needed. It gets the titles and texts of all memory items of the workspace, private ones too, and the texts of searches: of one principal at most 120 searches and 600 items a minute, 256 KiB and 1 MiB; further searches go by words alone, and further items wait."`
	CommandEnv    string         `yaml:"command_env" doc:"Instead of an endpoint: the environment variable of the server that holds the path of a program and its arguments, separated by blanks. Its name begins with TRAPEZE_EMBED_, so that a policy can start nothing but what the owner of the server chose."`
	Model         string         `yaml:"model" need:"yes" doc:"The model's name there. If it or its address changes, all items get new vectors."`
	APIKeyEnv     string         `yaml:"api_key_env" doc:"The environment variable of the server that holds the key. Its name begins with TRAPEZE_LLM_, so that a policy cannot send other secrets away."`
	Timeout       event.Duration `yaml:"timeout" doc:"How long a search waits for the vector of its query before it goes by words alone; 500ms if left out, at most 5s."`
	MinSimilarity float64        `yaml:"min_similarity" doc:"The similarity (cosine) from which on an item is taken to be about what is searched for; 0.25 if left out. Models differ much in it."`
}

func (c *checker) checkEmbeddings() {
	e := c.Embeddings
	if e == nil {
		return
	}
	switch {
	case e.Endpoint == "" && e.CommandEnv == "":
		c.sayAt("embeddings", "name a service with endpoint, or a program with command_env", "endpoint and command_env are missing")
	case e.Endpoint != "" && e.CommandEnv != "":
		c.sayAt("embeddings.command_env", "name a service or a program", "endpoint and command_env are given, and one of them is used")
	case e.CommandEnv != "":
		if e.APIKeyEnv != "" {
			c.sayAt("embeddings.api_key_env", "leave it out; the program has the environment of the server", "a program gets no key")
		}
		c.checkVariable("embeddings.command_env", e.CommandEnv, CommandPrefix, "COMMAND; the command itself does not belong in this file", "the command")
		c.checkModelName("embeddings", e.Model)
	default:
		c.checkModel("embeddings", e.Endpoint, e.Model, e.APIKeyEnv)
	}
	if _, given := c.places["embeddings.timeout"]; e.Timeout < 0 || e.Timeout > event.Duration(MaxEmbedTimeout) || given && e.Timeout == 0 {
		c.sayAt("embeddings.timeout", "use a time up to 5s; leave it out for the default", "this is out of bounds")
	}
	if _, given := c.places["embeddings.min_similarity"]; given && !(e.MinSimilarity > 0 && e.MinSimilarity < 1) {
		c.sayAt("embeddings.min_similarity", "use a number above 0 and below 1", "no similarity is at least %v", e.MinSimilarity)
	}
}

// checkModel checks the address, the model and the key's variable of a section.
func (c *checker) checkModel(section, endpoint, model, env string) {
	c.refused(section+".endpoint", checkEndpoint(endpoint))
	c.checkModelName(section, model)
	if env != "" {
		c.checkVariable(section+".api_key_env", env, KeyPrefix, "KEY; the key itself does not belong in this file", "the key")
	}
}

func (c *checker) checkModelName(section, model string) {
	if model == "" {
		c.sayAt(section+".model", "name the model", "the model's name is empty")
	}
	c.refused(section+".model", event.CheckText("the model's name", model, MaxModel))
}

// checkVariable checks the name of an environment variable of the server.
func (c *checker) checkVariable(path, env, prefix, like, what string) {
	if !strings.HasPrefix(env, prefix) || len(env) > maxEnv || strings.Trim(env, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		c.sayAt(path, "name a variable like "+prefix+like, "%s cannot be in a variable of that name", what)
	}
}
