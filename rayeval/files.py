"""Files anywhere pyarrow.fs reaches: local paths, s3://, gs://, …"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from rayeval import packed
from rayeval.errors import ConfigError
from rayeval.folders import below, unwritten

_NO_PATH = re.compile("[\0\ud800-\udfff]")  # NUL, and bytes that are not UTF-8


def is_uri(path: str) -> bool:
    """Whether `path` names a file system (s3://…) rather than a local place."""
    return "://" in path


def resolve(path: str, base: str) -> str:
    """`path` seen from the folder `base`; URIs and absolute paths stay as they are."""
    if is_uri(path):
        return path
    if is_uri(base):
        return path if path.startswith("/") else f"{base.rstrip('/')}/{path}"
    return str((Path(base) / path).absolute())


def open_fs(path: str) -> tuple[pafs.FileSystem, str]:
    """The file system of `path` and the path within it.

    Raises ConfigError if nothing can lie there, or what does is no file or folder.
    """
    if _NO_PATH.search(path):
        raise ConfigError(f"no path: {path!r} holds a NUL character, or bytes that are not UTF-8")
    if not is_uri(path):
        _check_kind(path)
        return pafs.LocalFileSystem(), str(Path(path).absolute())
    try:
        fs, inner = pafs.FileSystem.from_uri(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ConfigError(
            f"can't open {path}: {error}. Expected a path, or a URI such as file:///data, "
            "s3://bucket/data or gs://bucket/data; other characters than ASCII are written as %XX"
        ) from error
    return fs, inner


def _check_kind(path: str) -> None:
    """Files are read more than once, which only regular ones bear; a pipe may wait for ever."""
    mode = stat.S_IFREG
    with suppress(OSError):  # who reads or writes it says what is wrong
        mode = Path(path).stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        raise ConfigError(f"{path}: this is a pipe; write it to a file, and name that")
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ConfigError(f"{path}: this is a device; name a file")


def exists(path: str) -> bool:
    """Whether there is a file or folder at `path`."""
    fs, inner = open_fs(path)
    return bool(fs.get_file_info(inner).type != pafs.FileType.NotFound)


def is_folder(path: str) -> bool:
    """Whether there is a folder at `path`."""
    fs, inner = open_fs(path)
    return bool(fs.get_file_info(inner).type == pafs.FileType.Directory)


def check_file(path: str, what: str) -> None:
    """Raises ConfigError unless there is a file at `path`; messages call it `what`."""
    if is_folder(path):
        raise ConfigError(f"{what}: {path} is a folder; name a file in it")
    if not exists(path):
        raise ConfigError(f"{what}: there is no file at {path}")


def version(path: str) -> tuple[int, int]:
    """What tells a file from another one that is put in its place: (time in ns, size in bytes)."""
    fs, inner = open_fs(path)
    info = fs.get_file_info(inner)
    return info.mtime_ns or 0, info.size or 0


def list_files(path: str) -> list[str]:
    """Every file below the folder `path`, relative to it, sorted.

    Links are followed, except back to a folder that they lie in. A local name that isn't UTF-8
    holds lone surrogates, as Python writes it.
    """
    fs, inner = open_fs(path)
    if isinstance(fs, pafs.LocalFileSystem):
        return sorted(below(inner))
    root = inner.rstrip("/") + "/"
    infos = fs.get_file_info(pafs.FileSelector(inner, recursive=True, allow_not_found=True))
    return sorted(info.path[len(root) :] for info in infos if info.is_file)


def names_in(path: str) -> list[str]:
    """What files lie in the folder `path` itself, sorted; none where there is no folder."""
    fs, inner = open_fs(path)
    infos = fs.get_file_info(pafs.FileSelector(inner, allow_not_found=True))
    return sorted(info.base_name for info in infos if info.is_file)


@contextmanager
def reading(path: str) -> Iterator[pa.NativeFile]:
    """The file as a stream, unpacked if it is packed; DataError while it is read if that fails."""
    fs, inner = open_fs(path)
    try:
        with fs.open_input_stream(inner) as stream:
            yield stream
    except OSError as error:
        if refused := packed.refused(path, error):
            raise refused from error
        raise


def read_bytes(path: str) -> bytes:
    """The whole file, unpacked if it is packed."""
    with reading(path) as stream:
        return bytes(stream.read())


def make_folder(path: str) -> None:
    """The folder, and those that it lies in; raises what `write_bytes` does."""
    fs, inner = open_fs(path)
    try:
        fs.create_dir(inner, recursive=True)
    except OSError as error:
        raise unwritten(path, path, error, local=not is_uri(path)) from error


def write_bytes(path: str, data: bytes) -> None:
    """The file at once or not at all, moved into place when it is whole; packed if called so.

    A local one that was there keeps who may read and write it.
    """
    fs, inner = open_fs(path)
    folder, _, name = inner.rpartition("/")
    temporary = f"{folder}/.{name}.{uuid.uuid4().hex[:12]}.tmp"
    try:
        fs.create_dir(folder, recursive=True)
        with fs.open_output_stream(temporary, compression=packed.codec(inner)) as stream:
            if isinstance(fs, pafs.LocalFileSystem):
                with suppress(FileNotFoundError):
                    Path(temporary).chmod(stat.S_IMODE(Path(inner).stat().st_mode))
            stream.write(data)
        fs.move(temporary, inner)
    except OSError as error:
        discard(fs, temporary)
        raise unwritten(path, folder, error, local=not is_uri(path)) from error


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Waits until nobody else who asks for it so writes in the folder of `path`.

    Object stores, and file systems without locks, keep nobody out.
    """
    fs, inner = open_fs(path)
    if not isinstance(fs, pafs.LocalFileSystem):
        yield
        return
    folder = Path(inner).resolve().parent
    make_folder(str(folder))
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def described(data: bytes) -> dict[str, Any]:
    """What a manifest says of a file."""
    return {"sha256": hashlib.sha256(data).hexdigest(), "size_bytes": len(data)}


def put(folder: str, name: str, data: bytes) -> dict[str, Any]:
    """Writes one file; returns what a manifest says of it."""
    write_bytes(f"{folder}/{name}", data)
    return described(data)


def write_json(path: str, value: Any) -> None:
    """`value` as JSON with sorted keys, at once or not at all."""
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"
    write_bytes(path, text.encode())


def read_json(path: str) -> Any:
    """The value in a JSON file."""
    return json.loads(read_bytes(path))


def write_table(path: str, table: pa.Table) -> None:
    """`table` as Parquet, at once or not at all; the same table, the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=True)
    write_bytes(path, sink.getvalue())


def read_table(path: str, columns: list[str] | None = None) -> pa.Table:
    """A Parquet file."""
    fs, inner = open_fs(path)
    return pq.read_table(inner, filesystem=fs, columns=columns)


def absolute(path: str) -> str:
    """`path` from the root of its file system."""
    return path if is_uri(path) else str(Path(path).absolute())


def clear_folder(path: str, *, keep: str) -> None:
    """Removes every file in a folder but the one named `keep`."""
    fs, inner = open_fs(path)
    for name in list_files(path):
        if name != keep:
            fs.delete_file(f"{inner}/{name}")


def delete_folder(path: str) -> None:
    """Removes a folder and everything below it, if it is there."""
    fs, inner = open_fs(path)
    fs.delete_dir_contents(inner, missing_dir_ok=True)
    if exists(path):
        fs.delete_dir(inner)


def discard(fs: pafs.FileSystem, path: str) -> None:
    """Removes what a failed write left, if it is there."""
    with suppress(OSError):
        fs.delete_file(path)
