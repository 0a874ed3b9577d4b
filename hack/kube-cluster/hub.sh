#!/usr/bin/env bash
# hub.sh STATE: PID 1 of the cluster's own pid, mount, ipc and uts namespaces, in the network namespace of the control plane. The
# control plane runs in it, and the nodes' namespaces are nested in it: killing this one process ends everything.
set -u
state=$1
here=$(dirname "$0")
mount -t proc proc /proc
hostname control
. "$here/services.sh"

# boot NODE NETNS: the node's PID 1, in the node's control groups; crash NODE: power loss
more_orders() {
  case $1 in
  boot)
    (
      exec 3<&-
      while read -r group; do echo "$BASHPID" >"$group/$2/cgroup.procs"; done <"$state/cgroups"
      exec nsenter "--net=/run/netns/$3" unshare --mount --pid --uts --ipc --cgroup --fork --kill-child --propagation private \
        bash "$here/node.sh" "$state/../$2"
    ) >>"$state/../$2/logs/init.log" 2>&1 </dev/null &
    service_pids[$2]=$!
    ;;
  crash) end_service "$2" KILL ;;
  esac
}
trap : TERM
serve_orders
