package endpoint

// The groups of routes in the description.
const (
	TagTasks         = "Tasks"
	TagHandoffs      = "Handoffs"
	TagInbox         = "Inbox"
	TagTickets       = "Tickets"
	TagDead          = "Dead letters"
	TagAgents        = "Agents"
	TagChannels      = "Channels"
	TagMemory        = "Memory"
	TagConversations = "Conversations"
	TagArtifacts     = "Artifacts"
	TagPolicy        = "Policy"
	TagTokens        = "Tokens"
	TagWorkspaces    = "Workspaces"
	TagCluster       = "Cluster"
	TagRecord        = "Record"
	TagAlerts        = "Alerts"
)

// Tags returns all groups in the order of the documentation.
func Tags() []string {
	return []string{
		TagTasks, TagHandoffs, TagInbox, TagTickets, TagDead, TagAgents, TagChannels, TagMemory, TagConversations, TagArtifacts, TagPolicy, TagTokens, TagWorkspaces, TagCluster, TagAlerts, TagRecord,
	}
}
