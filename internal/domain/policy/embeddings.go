package policy

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// MaxEmbedTimeout is the longest time that a search may wait for the vector of its query.
const MaxEmbedTimeout = 5 * time.Second

// Embeddings is a model that turns texts into vectors. Zero fields mean the default.
type Embeddings struct {
	Endpoint      string         `yaml:"endpoint" need:"yes" doc:"Base address of a service that answers embeddings as OpenAI's does, such as https://api.example.com/v1; http only on the server's own machine. It gets the titles and texts of all memory items of the workspace, private ones too, and the texts of searches."`
	Model         string         `yaml:"model" need:"yes" doc:"The model's name there. If it changes, all items get new vectors."`
	APIKeyEnv     string         `yaml:"api_key_env" doc:"The environment variable of the server that holds the key. Its name begins with TRAPEZE_LLM_, so that a policy cannot send other secrets away."`
	Timeout       event.Duration `yaml:"timeout" doc:"How long a search waits for the vector of its query before it goes by words alone; 500ms if left out, at most 5s."`
	MinSimilarity float64        `yaml:"min_similarity" doc:"The similarity (cosine) from which on an item is taken to be about what is searched for; 0.25 if left out. Models differ much in it."`
}

func (c *checker) checkEmbeddings() {
	e := c.Embeddings
	if e == nil {
		return
	}
	c.checkModel("embeddings", e.Endpoint, e.Model, e.APIKeyEnv)
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
	if model == "" {
		c.sayAt(section+".model", "name the model", "the model's name is empty")
	}
	c.refused(section+".model", event.CheckText("the model's name", model, MaxModel))
	if env != "" && (!strings.HasPrefix(env, KeyPrefix) || len(env) > maxEnv || strings.Trim(env, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "") {
		c.sayAt(section+".api_key_env", "name a variable like "+KeyPrefix+"KEY; the key itself does not belong in this file",
			"the key cannot be in a variable of that name")
	}
}
