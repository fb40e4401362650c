#!/usr/bin/env bash
# A Ray head on this machine alone: loopback, token authentication, job server on 8265.
#
#   cluster/local.sh start [further `ray start` options]
#   cluster/local.sh status
#   cluster/local.sh stop
#
# Only processes that `start` started are ended by `stop`. Settings: RAYEVAL_CLUSTER (folder of the
# pid and log files), RAY (the ray command), RAYEVAL_DASHBOARD_PORT, RAYEVAL_RAY_PORT,
# RAYEVAL_AGENT_PORT.
set -euo pipefail

folder=${RAYEVAL_CLUSTER:-${XDG_RUNTIME_DIR:-/tmp}/rayeval-cluster-$(id -u)}
ray=${RAY:-ray}
dashboard=${RAYEVAL_DASHBOARD_PORT:-8265}
port=${RAYEVAL_RAY_PORT:-6379}
# Ray's own default is one fixed port, so that a second head's jobs would wait for ever.
agent=${RAYEVAL_AGENT_PORT:-$((dashboard + 1))}
export RAY_AUTH_MODE=token
# Without this, Ray's jobs look for a loopback head at the machine's outward address.
export RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0

running() { [[ -f $folder/pid ]] && kill -0 -- "-$(cat "$folder/pid")" 2>/dev/null; }

start() {
  if running; then echo "already running (pid $(cat "$folder/pid"))"; return; fi
  mkdir -p "$folder"
  chmod 700 "$folder"
  [[ -f ${RAY_AUTH_TOKEN_PATH:-$HOME/.ray/auth_token} ]] || "$ray" get-auth-token --generate >/dev/null
  setsid "$ray" start --head --block --node-ip-address=127.0.0.1 --port="$port" \
    --dashboard-host=127.0.0.1 --dashboard-port="$dashboard" \
    --dashboard-agent-listen-port="$agent" --disable-usage-stats "$@" \
    >"$folder/log" 2>&1 </dev/null &
  local head=$!
  echo "$head" >"$folder/pid"
  local end=$((SECONDS + 120))
  while ((SECONDS < end)); do
    # It has a group of its own once setsid has run; before that it is a process all the same.
    if ! running && ! kill -0 "$head" 2>/dev/null; then echo "the head did not start:"; tail -20 "$folder/log"; exit 4; fi
    # The job server answers before anything can run a job, so try one.
    if timeout 30 "$ray" job submit --address "http://127.0.0.1:$dashboard" -- true >/dev/null 2>&1; then
      echo "running (pid $(cat "$folder/pid")); submit with:"
      echo "  export RAY_AUTH_MODE=token RAY_ADDRESS=http://127.0.0.1:$dashboard"
      echo "  ray job submit --working-dir . -- python jobs/evaluate.py configs/quickstart.yaml"
      return
    fi
    sleep 1
  done
  echo "the head did not answer within 2 minutes:"; tail -20 "$folder/log"; stop; exit 4
}

stop() {
  if ! running; then echo "not running"; rm -f "$folder/pid"; return; fi
  pid=$(cat "$folder/pid")
  kill -TERM -- "-$pid" 2>/dev/null || true
  for _ in $(seq 20); do running || break; sleep 0.5; done
  running && kill -KILL -- "-$pid" 2>/dev/null
  rm -f "$folder/pid"
  echo "stopped"
}

case ${1:-} in
  start) shift; start "$@" ;;
  stop) stop ;;
  status) if running; then echo "running (pid $(cat "$folder/pid"))"; else echo "not running"; fi ;;
  *) sed -n '2,13p' "$0"; exit 2 ;;
esac
