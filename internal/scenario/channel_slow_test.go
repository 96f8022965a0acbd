//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
)

func TestChannelsOfAWorkspaceAreBounded(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("lead")
		for n := range channels.MaxChannels {
			h.channel(fmt.Sprintf("c%d", n))
		}
		h.settle()
		no(h, h.agent("lead"), refusal.Limit, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Create(ctx(h), c, channels.ChannelInput{Name: "one-more"})
		})
		h.channel("c7") // which is there already
		no(h, h.agent("lead"), refusal.TooLarge, func(c caller.Caller) (channels.Channel, error) {
			return h.app.Channels.Describe(ctx(h), c, channels.DescribeInput{Name: "c7", Description: strings.Repeat("x", 2001)})
		})
	})
}
