#!/usr/bin/env bash
# node.sh STATE: PID 1 of one node's pid, mount, uts, ipc and cgroup namespaces; its network namespace is the one it was started in. Gives the
# node a root folder of its own, in which every default path of containerd and kubelet is the node's.
#   STATE/etc → /etc   STATE/var → /var   STATE → /opt/state   STATE/../opt/* → /opt/* (read-only)
set -eu
state=$(cd "$1" && pwd)
here=$(dirname "$0")
root=$state/root
mkdir -p "$root" "$state/var"
mount -t tmpfs -o mode=755 tmpfs "$root"
cd "$root"
mkdir -p usr etc var run tmp proc sys dev old root opt/state
for link in bin sbin lib lib32 lib64 libx32; do [ ! -L "/$link" ] || ln -s "$(readlink "/$link")" "$link"; done
mount --bind /usr usr
mount -o remount,bind,ro usr
for folder in "$state"/../opt/*; do
  name=$(basename "$folder")
  source=$(readlink -f "$folder")
  if [ -d "$source" ]; then mkdir -p "opt/$name"; else touch "opt/$name"; fi
  mount --bind "$source" "opt/$name"
  mount -o remount,bind,ro "opt/$name"
done
mount --bind "$state" opt/state
mount --bind "$state/var" var
mkdir -p var/lib
[ -e var/run ] || ln -s /run var/run
for file in passwd group nsswitch.conf ld.so.cache alternatives protocols services; do [ ! -e "/etc/$file" ] || cp -a "/etc/$file" etc/; done
cp -a "$state/etc/." etc/
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /dev dev
mount --make-rprivate dev
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
while IFS=: read -r _ controllers _; do # every version 1 hierarchy, as this cgroup namespace sees it
  [ -n "$controllers" ] || continue
  folder=sys/fs/cgroup/${controllers#name=}
  mkdir -p "$folder"
  case $controllers in
  name=*) mount -t cgroup -o "none,$controllers" cgroup "$folder" ;;
  *)
    mount -t cgroup -o "$controllers" cgroup "$folder"
    for one in ${controllers//,/ }; do [ -e "sys/fs/cgroup/$one" ] || ln -s "$controllers" "sys/fs/cgroup/$one"; done
    ;;
  esac
done </proc/self/cgroup

# What kubelet would set for the whole machine, it sets in files that lie over those entries, here only.
own_sysctl() { # own_sysctl NAME VALUE
  local file=run/sysctl/${1//\//.}
  mkdir -p run/sysctl
  echo "$2" >"$file"
  mount --bind "$file" "proc/sys/$1"
}
own_sysctl vm/overcommit_memory 1
own_sysctl vm/panic_on_oom 0
own_sysctl kernel/panic 10
own_sysctl kernel/panic_on_oops 1
own_sysctl kernel/keys/root_maxkeys 1000000
own_sysctl kernel/keys/root_maxbytes 25000000
own_sysctl kernel/random/boot_id "$(cat /proc/sys/kernel/random/uuid)" # each start of a node is a boot

services=$(cat "$here/services.sh")
pivot_root . old # runc pivots itself, so a chroot would not do
cd /
umount -l /old
rmdir /old
mount --make-rshared /
state=/opt/state
hostname "$(cat /etc/hostname)"
export PATH=/opt/tools/usr/bin:/opt/tools/usr/sbin:/usr/sbin:/usr/bin HOME=/root
set +eu
eval "$services"
more_orders() { :; }
start_service containerd
until ctr version >/dev/null 2>&1; do sleep 0.1; done
ctr --namespace k8s.io images import /opt/images/pause.tar >>"$state/logs/import.log" 2>&1
start_service kubelet
start_service kube-proxy
trap : TERM
serve_orders
