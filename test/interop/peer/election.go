package main

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/hashicorp/memberlist"
)

// scoreLooks is how often the health score is looked at: a failed probe stands in it for a second at least.
const scoreLooks = 50 * time.Millisecond

// leaderOf is MetalLB's election over this member's own list: who is alive or suspect, ascending by SHA-256 of "node#address".
func leaderOf(members []*memberlist.Node, address string) string {
	var leader string
	var lowest []byte
	for _, node := range members {
		hash := sha256.Sum256([]byte(node.Name + "#" + address))
		if lowest == nil || bytes.Compare(hash[:], lowest) < 0 {
			leader, lowest = node.Name, hash[:]
		}
	}
	return leader
}

// tellLeaders says who leads each address, at first and whenever it becomes another.
func tellLeaders(list *memberlist.Memberlist, addresses []string, changed <-chan struct{}) {
	told := map[string]string{}
	for range changed {
		for _, address := range addresses {
			if leader := leaderOf(list.Members(), address); leader != told[address] {
				told[address] = leader
				say("leads", object{"address": address, "name": leader})
			}
		}
	}
}

// tellScore says the health score whenever it becomes another; it begins with 0.
func tellScore(list *memberlist.Memberlist) {
	told := 0
	for range time.Tick(scoreLooks) {
		if score := list.GetHealthScore(); score != told {
			told = score
			say("score", object{"score": score})
		}
	}
}
