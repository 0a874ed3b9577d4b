// Command peer is a real memberlist member for the interop tests.
//
// It reads commands from stdin, one a line, and prints JSON objects to stdout, one a line: what its delegates are told, the
// answers to commands, and every line of the library's log.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

type object map[string]any

var stdout sync.Mutex

func say(event string, fields object) {
	if fields == nil {
		fields = object{}
	}
	fields["event"] = event
	line, err := json.Marshal(fields)
	if err != nil {
		log.Fatal(err)
	}
	stdout.Lock()
	defer stdout.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

// logLines turns each line of the library's log into an event.
type logLines struct{}

func (logLines) Write(line []byte) (int, error) {
	say("log", object{"text": strings.TrimSpace(string(line))})
	return len(line), nil
}

// events tells what the library does, and that its list of members may have changed: the library holds a lock meanwhile.
type events struct{ changed chan struct{} }

func (e events) NotifyJoin(node *memberlist.Node)   { e.tell("join", node) }
func (e events) NotifyLeave(node *memberlist.Node)  { e.tell("leave", node) }
func (e events) NotifyUpdate(node *memberlist.Node) { e.tell("update", node) }

func (e events) tell(event string, node *memberlist.Node) {
	say(event, describe(node))
	select {
	case e.changed <- struct{}{}:
	default: // it is going to look anyway
	}
}

// conflicts tells of two members with one name; the one that was there first stays.
type conflicts struct{}

func (conflicts) NotifyConflict(existing, other *memberlist.Node) {
	say("conflict", object{"name": existing.Name, "address": other.Addr.String()})
}

func describe(node *memberlist.Node) object {
	return object{"name": node.Name, "address": node.Addr.String(), "meta": hex.EncodeToString(node.Meta)}
}

type delegate struct {
	mutex sync.Mutex
	meta  []byte
	state []byte
}

func (d *delegate) NodeMeta(int) []byte {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.meta
}

func (d *delegate) setMeta(meta []byte) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.meta = meta
}

func (d *delegate) LocalState(bool) []byte        { return d.state }
func (*delegate) GetBroadcasts(int, int) [][]byte { return nil }
func (*delegate) NotifyMsg(message []byte) {
	say("message", object{"hex": hex.EncodeToString(message)})
}
func (*delegate) MergeRemoteState(state []byte, _ bool) {
	if len(state) > 0 {
		say("state", object{"bytes": len(state), "first": state[0]})
	}
}

func main() {
	name := flag.String("name", "", "node name")
	bind := flag.String("bind", "127.0.0.1", "address to bind")
	port := flag.Int("port", 7946, "UDP and TCP port")
	key := flag.String("key", "", "AES keys, hexadecimal, with commas between; the first is sent with; empty: no encryption")
	addresses := flag.String("addresses", "", "addresses, with commas between, of which it says who leads them by MetalLB's election")
	label := flag.String("label", "", "label of packets and streams")
	meta := flag.String("meta", "", "metadata, hexadecimal")
	state := flag.Int("state", 0, "bytes of user state in a push/pull")
	plain := flag.Bool("no-compression", false, "send nothing compressed")
	lan := flag.Bool("lan", false, "memberlist's LAN timing, as MetalLB has it; else a faster one")
	probe := flag.Duration("probe-interval", 300*time.Millisecond, "ProbeInterval; half of it is ProbeTimeout")
	flag.Parse()

	config := memberlist.DefaultLocalConfig()
	if *lan {
		config = memberlist.DefaultLANConfig()
	}
	config.Name = *name
	config.BindAddr, config.BindPort, config.AdvertisePort = *bind, *port, *port
	config.Keyring = keyring(*key)
	config.Label = *label
	config.EnableCompression = !*plain
	if !*lan {
		config.ProbeInterval, config.ProbeTimeout = *probe, *probe/2
		config.GossipInterval = 30 * time.Millisecond
		config.PushPullInterval = 2 * time.Second
		// Patient, so that a busy machine is neither a dead member nor a failed push/pull.
		config.SuspicionMult, config.TCPTimeout = 6, 5*time.Second
		// A dead name is forgotten soon, and may then move to another address.
		config.GossipToTheDeadTime = 3 * time.Second
	}
	config.Logger = log.New(logLines{}, "", 0)
	changed := make(chan struct{}, 1)
	config.Events = events{changed}
	config.Conflict = conflicts{}
	mine := &delegate{meta: unhex(*meta), state: bytes.Repeat([]byte{0xab}, *state)}
	config.Delegate = mine

	list, err := memberlist.Create(config)
	if err != nil {
		log.Fatal(err)
	}
	say("ready", object{"port": int(list.LocalNode().Port)})
	go tellLeaders(list, strings.FieldsFunc(*addresses, isComma), changed)
	go tellScore(list)
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		verb, argument, _ := strings.Cut(commands.Text(), " ")
		obey(list, config.Keyring, mine, verb, argument)
	}
}

func obey(list *memberlist.Memberlist, keys *memberlist.Keyring, mine *delegate, verb, argument string) {
	switch verb {
	case "join":
		_, err := list.Join(strings.FieldsFunc(argument, isComma))
		answer(verb, err)
	case "leave":
		answer(verb, list.Leave(10*time.Second))
	case "meta":
		mine.setMeta(unhex(argument))
		answer(verb, list.UpdateNode(10*time.Second))
	case "send", "send-reliable":
		to, message, _ := strings.Cut(argument, " ")
		answer(verb, send(list, verb, to, unhex(message)))
	case "add-key":
		answer(verb, keys.AddKey(unhex(argument)))
	case "use-key":
		answer(verb, keys.UseKey(unhex(argument)))
	case "remove-key":
		answer(verb, keys.RemoveKey(unhex(argument)))
	case "leader":
		say("done", object{"verb": verb, "name": leaderOf(list.Members(), argument)})
	case "members":
		var names []string
		for _, node := range list.Members() {
			names = append(names, node.Name)
		}
		say("done", object{"verb": verb, "names": names})
	case "where":
		say("done", object{"verb": verb, "text": addressOf(list, argument)})
	case "shutdown":
		answer(verb, list.Shutdown())
	default:
		answer(verb, fmt.Errorf("unknown command"))
	}
}

func send(list *memberlist.Memberlist, verb, name string, message []byte) error {
	for _, node := range list.Members() {
		switch {
		case node.Name != name:
		case verb == "send":
			return list.SendBestEffort(node, message)
		default:
			return list.SendReliable(node, message)
		}
	}
	return fmt.Errorf("no member %s", name)
}

func addressOf(list *memberlist.Memberlist, name string) string {
	for _, node := range list.Members() {
		if node.Name == name {
			return node.Addr.String()
		}
	}
	return ""
}

// keyring is nil without a key: nothing is encrypted.
func keyring(list string) *memberlist.Keyring {
	var keys [][]byte
	for _, key := range strings.FieldsFunc(list, isComma) {
		keys = append(keys, unhex(key))
	}
	if len(keys) == 0 {
		return nil
	}
	ring, err := memberlist.NewKeyring(keys, keys[0])
	if err != nil {
		log.Fatal(err)
	}
	return ring
}

func isComma(letter rune) bool { return letter == ',' }

func answer(verb string, err error) {
	if err != nil {
		say("failed", object{"verb": verb, "error": err.Error()})
		return
	}
	say("done", object{"verb": verb})
}

func unhex(text string) []byte {
	value, err := hex.DecodeString(text)
	if err != nil {
		log.Fatal(err)
	}
	if len(value) == 0 {
		return nil
	}
	return value
}
