"""Whatever is written to a file: whole or not at all, into what the path leads to, and with its mode and owner."""

from __future__ import annotations

import gc
import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

resource = pytest.importorskip("resource", reason="limits the size of files, as POSIX systems do")

from aesara_nondecomp import Model, TrainFunctions, linear, measures  # noqa: E402
from aesara_nondecomp._figures import save_figure  # noqa: E402
from aesara_nondecomp.cli import report_lines  # noqa: E402
from aesara_nondecomp.cli.predictions import writing  # noqa: E402
from aesara_nondecomp.history import Step, plot_history  # noqa: E402
from aesara_nondecomp.metrics import ClassSums  # noqa: E402
from aesara_nondecomp.models.archive import write_archive  # noqa: E402
from aesara_nondecomp.models.onnx import export_onnx  # noqa: E402

FUNCTIONS = TrainFunctions(linear(300))
HISTORY = [Step(1, 8, 0.1, 0.1, {"alpha": 1.0}, ClassSums(*map(float, range(1, 9))), 0.5)]
MODEL = Model(FUNCTIONS, FUNCTIONS.parameters(), measures.get("f1"), (0, 1), 0.3, history=HISTORY)
OLD = b"what was there before" * 100


def picture(path):
    figure = pytest.importorskip("matplotlib.figure", reason="needs the extra plots").Figure((0.2, 0.2))
    save_figure(figure, path, dpi=100)


def onnx(path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    export_onnx(MODEL, path)


def predictions(path):
    with writing(str(path), ["prediction"]) as write:
        write(1, [np.arange(1000)])


def benchmark(path):
    from benchmarks.experiment import write_json

    write_json(str(path), list(range(1000)))


WRITERS = {
    "model": lambda path: MODEL.save(path),
    "checkpoint": lambda path: write_archive(path, "checkpoint", {}, {"weights": np.arange(1000.0)}),
    "report": lambda path: report_lines.write_report(str(path), list(range(1000))),
    "predictions": predictions,
    "picture": picture,
    "onnx": onnx,
    "benchmark": benchmark,
}
each_writer = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


@contextmanager
def full_disk(left: int = 100):
    """No file of this process grows beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "written.png"


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


# -- whole or not at all ---------------------------------------------------------------------------------------------


@each_writer
def test_a_full_disk_leaves_the_former_file_and_nothing_else(write, path):
    path.write_bytes(OLD)
    with full_disk(), pytest.raises(OSError, match=f"{path.name}'$"):
        write(path)
    assert path.read_bytes() == OLD and names(path.parent) == [path.name]


@each_writer
def test_a_full_disk_is_reported_once(write, path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with full_disk(), pytest.raises(OSError):
        write(path)
    gc.collect()
    assert said == [] and names(path.parent) == []


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.bz2", ".csv.xz"])
def test_a_full_disk_leaves_no_half_of_compressed_predictions(suffix, path, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    path = path.with_suffix(suffix)
    path.write_bytes(OLD)
    with full_disk(), pytest.raises(OSError, match=f"{path.name}'$"):
        predictions(path)
    gc.collect()
    assert said == [] and path.read_bytes() == OLD and names(path.parent) == [path.name]


@each_writer
def test_a_file_of_the_users_own_beside_it_is_not_touched(write, path):
    beside = path.with_name(path.name + ".partial")
    beside.write_bytes(OLD)
    write(path)
    assert beside.read_bytes() == OLD and names(path.parent) == [path.name, beside.name]


def test_only_old_leftovers_of_writes_that_were_killed_are_removed(path):
    def left(name, age):
        (path.parent / name).write_bytes(OLD)
        os.utime(path.parent / name, (time.time() - age,) * 2)

    token = "0123456789abcdef"
    left(f".{path.name}.{token}.partial", 4000)
    kept = [f".{path.name}.f{token[1:]}.partial", f".other.png.{token}.partial", f".{path.name}.mine.partial"]
    for name, age in zip(kept, (3000, 4000, 4000)):
        left(name, age)
    MODEL.save(path)
    assert names(path.parent) == sorted([*kept, path.name])


# -- where a path leads ----------------------------------------------------------------------------------------------


@each_writer
def test_a_link_is_followed_and_stays_a_link(write, path, tmp_path_factory):
    target = tmp_path_factory.mktemp("elsewhere") / "target.png"
    path.symlink_to(target)
    for _ in range(2):  # the target is missing at first
        write(path)
        assert path.is_symlink() and not target.is_symlink() and target.stat().st_size > 0
    assert names(path.parent) == [path.name] and names(target.parent) == [target.name]


@each_writer
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_mode_of_a_former_file_is_kept(write, mode, path):
    path.write_bytes(OLD)
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_bytes() != OLD


@each_writer
def test_a_new_file_has_the_mode_of_any_other(write, path):
    write(path)
    (path.parent / "other").write_text("other")
    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@each_writer
def test_the_owner_of_a_former_file_is_kept(write, path):
    path.write_bytes(OLD)
    os.chown(path, 1234, 2345)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


@each_writer
def test_a_pipe_gets_what_a_file_would(write, path):
    write(path)
    pipe, got = path.with_name("pipe.png"), io.BytesIO()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.write(pipe.read_bytes()), daemon=True)
    reader.start()
    write(pipe)
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    if path.read_bytes()[:2] == b"PK":  # an archive that is written without going back differs, in its layout alone
        with np.load(io.BytesIO(got.getvalue())) as piped, np.load(path) as stored:
            assert all(piped[name].tobytes() == stored[name].tobytes() for name in stored.files)
    else:
        assert got.getvalue() == path.read_bytes()


def device(path, minor):
    """A node of its own for /dev/null or /dev/full, so that a failing test leaves those alone."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open("wb").close()
    except (AttributeError, PermissionError):
        pytest.skip("only root makes devices, and not everywhere")


@each_writer
def test_a_device_is_written_to_and_not_replaced(write, path):
    device(path, 3)
    write(path)
    assert stat.S_ISCHR(path.stat().st_mode) and names(path.parent) == [path.name]


@each_writer
def test_a_full_device_is_an_error(write, path):
    device(path, 7)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert stat.S_ISCHR(path.stat().st_mode)


@each_writer
def test_what_is_no_file_is_refused_and_left(write, path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(OSError, match="a file to write is needed, not a socket"):
            write(path)
    assert stat.S_ISSOCK(path.stat().st_mode)


@each_writer
def test_a_link_to_itself_a_folder_and_a_missing_folder_are_refused(write, path):
    path.symlink_to(path)
    folder = path.with_name("folder.png")
    folder.mkdir()
    dangling = path.with_name("dangling.png")
    dangling.symlink_to(path.parent / "missing" / "file.png")
    for wrong, reason in ((path, "leads back to itself"), (folder, "not a folder"), (dangling, "there is no folder")):
        if write is benchmark and wrong is dangling:
            continue
        with pytest.raises(OSError, match=reason):
            write(wrong)
    assert path.is_symlink() and names(path.parent) == ["dangling.png", "folder.png", path.name]


def test_the_output_of_the_process_itself_is_continued(tmp_path):
    code = (
        "from aesara_nondecomp._files import replacing\n"
        "print('before', flush=True)\n"
        "with replacing('/dev/stdout', text=True) as file: file.write('within\\n')\n"
        "print('after')"
    )
    log = tmp_path / "log"
    log.write_text("earlier\n")
    with log.open("a") as file:
        subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], stdout=file, check=True)
    words = log.read_text().split()
    assert words == ["earlier", "before", "within", "after"] and names(tmp_path) == ["log"]


def test_a_picture_without_a_suffix_gets_that_of_its_format(tmp_path):
    plot_history(MODEL, tmp_path / "figure")
    picture(str(tmp_path / "drawing.svg"))
    with full_disk(), pytest.raises(OSError):
        plot_history(MODEL, tmp_path / "figure")
    assert names(tmp_path) == ["drawing.svg", "figure.png"]
    assert (tmp_path / "figure.png").read_bytes()[1:4] == b"PNG"
    assert b"<svg" in (tmp_path / "drawing.svg").read_bytes()


def test_a_report_is_the_json_that_it_was(path):
    report_lines.write_report(str(path), {"a": [1.5, None]})
    assert json.loads(path.read_text()) == {"a": [1.5, None]} and path.read_text().endswith("}\n")
