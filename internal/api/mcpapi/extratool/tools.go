package extratool

import "github.com/trapezehq/trapeze/internal/api/mcpapi/tool"

// Tools returns the tools, in the order in which they are listed.
func Tools() []tool.Tool {
	return []tool.Tool{constrainTool, artifactTool, channelTool, deadTool, agentTool, annotateTool, alertsTool, doTool}
}
