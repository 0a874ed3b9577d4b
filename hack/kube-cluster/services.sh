# Sourced by hub.sh and node.sh, which are PID 1 of their pid namespace: runs the orders that come through a pipe, one a line:
#   TOKEN start SERVICE | TOKEN kill SERVICE SIGNAL (and wait for its end) | TOKEN signal SERVICE SIGNAL
# and says that one is done by making the file replies/TOKEN. A service is a command line in services/SERVICE, so that a killed one starts again.
# bash as PID 1 reaps every orphan.
declare -A service_pids=()

start_service() { # start_service NAME: its output goes to logs/NAME.log
  bash "$state/services/$1" >>"$state/logs/$1.log" 2>&1 </dev/null 3<&- &
  service_pids[$1]=$!
}

end_service() { # end_service NAME SIGNAL: and waits for its end; nothing when it does not run
  [ -n "${service_pids[$1]:-}" ] || return
  kill "-$2" "${service_pids[$1]}" && wait "${service_pids[$1]}"
  unset "service_pids[$1]"
}

serve_orders() { # ends never; `more_orders` is the caller's own
  local token verb name argument
  exec 3<>"$state/orders" # open for writing too: it does not end when a writer closes it
  touch "$state/ready"
  while :; do
    read -r -u 3 token verb name argument || continue
    case $verb in
    start) start_service "$name" ;;
    kill) end_service "$name" "$argument" ;;
    signal) [ -z "${service_pids[$name]:-}" ] || kill "-$argument" "${service_pids[$name]}" ;;
    *) more_orders "$verb" "$name" "$argument" ;;
    esac
    touch "$state/replies/$token"
  done
}
