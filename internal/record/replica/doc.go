// Package replica says where the replicas of a record are, and whether one of their servers can be spared.
//
// A group is so many replicas of one thing: of the record, of what is kept beside it, or of what is known about all of them. It goes on while a majority
// of its replicas is there.
//
// Start reading at [Group.Without].
package replica
