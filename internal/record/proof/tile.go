package proof

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// tileHeight is the height of the tiles of c2sp.org/tlog-tiles: 256 hashes.
const tileHeight = 8

// ErrTile: there is no such tile, or not yet.
var ErrTile = errors.New("proof: no such tile")

// ParseTile reads the path of a tile after "tile/": L/N or L/N.p/W, as c2sp.org/tlog-tiles writes it. Bundles of entries are not served:
// entries can be longer than a bundle allows. Error: ErrTile.
func ParseTile(path string) (tlog.Tile, error) {
	t, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s", tileHeight, path))
	if err != nil || t.L < 0 || strings.HasPrefix(path, "data") {
		return tlog.Tile{}, fmt.Errorf("%w: %.80q", ErrTile, path)
	}
	return t, nil
}

// TilePath is the path of a tile after "tile/".
func TilePath(t tlog.Tile) string {
	return strings.TrimPrefix(t.Path(), fmt.Sprintf("tile/%d/", tileHeight))
}

// Tile returns the hashes of a tile of a tree of so many leaves. Error: ErrTile, if the tree does not have all of them.
func Tile(t tlog.Tile, size int64, stored tlog.HashReader) ([]byte, error) {
	complete := int64(0) // hashes of the level
	if level := t.L * tileHeight; level < 63 {
		complete = size >> level
	}
	if t.W < 1 || t.N > complete/(1<<tileHeight) || complete-t.N<<tileHeight < int64(t.W) {
		return nil, fmt.Errorf("%w: the tree of %d entries does not have %s", ErrTile, size, TilePath(t))
	}
	return tlog.ReadTileData(t, stored)
}
