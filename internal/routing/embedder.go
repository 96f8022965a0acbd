package routing

import "context"

// Embedder turns texts into vectors, such that texts of similar meaning have similar directions. It is safe for concurrent use.
type Embedder interface {
	// Space names the model and where it is: only vectors of the same space can be compared.
	Space() string
	// Least is the similarity (the cosine) from which on two texts are taken to be about the same.
	Least() float64
	// Query returns the vector of a text that is searched for, soon or not at all.
	Query(ctx context.Context, text string) ([]float32, error)
	// Texts returns a vector for each text, all of the same dimension; at most [EmbedBatch] texts. It refuses (invalid) all of
	// them if the model makes no vector of one.
	Texts(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbedBatch is the number of texts that an [Embedder] takes at once.
const EmbedBatch = 16
