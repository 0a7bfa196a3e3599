"""`fit` of files: a streamed table gives the model of the same rows in memory, in little memory."""

import tracemalloc

import numpy as np
import pytest

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra files")
pandas = pytest.importorskip("pandas", reason="needs the extra files")

from pyarrow import parquet  # noqa: E402

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp.data import InputEncoder, TableFiles, disk_rows, streamed_tables, table_survey  # noqa: E402
from aesara_nondecomp.data.table_survey import survey  # noqa: E402
from aesara_nondecomp.parallel import LOCAL  # noqa: E402
from aesara_nondecomp.training import streamed_rows  # noqa: E402
from aesara_nondecomp.training.streamed_rows import learned_together  # noqa: E402

N = 900
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
X[RNG.random(X.shape) < 0.05] = np.nan
FRAME = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "colour": RNG.choice(["red", "blue", None], N)})
POSITIVE = np.nan_to_num(X[:, 0]) + (FRAME["colour"] == "red") + 0.3 * RNG.normal(size=N) > 1.2
TABLE = FRAME.assign(label=np.where(POSITIVE, "yes", "no"), kind=np.where(POSITIVE, 2, np.arange(N) % 2))
QUICK = {"network": "linear", "steps": 40, "batch_size": 64, "seed": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("files")
    TABLE.drop(columns="kind").to_parquet(found / "one.parquet")
    TABLE.drop(columns="kind").to_csv(found / "one.csv", index=False)
    TABLE.drop(columns="label").to_parquet(found / "kinds.parquet")
    (found / "parts").mkdir()
    for k in range(3):
        TABLE.drop(columns="kind")[k * 300 : (k + 1) * 300].to_csv(found / "parts" / f"{k}.csv", index=False)
    return found


@pytest.fixture
def streamed(monkeypatch):
    """Every table is too large for memory, and read in blocks of a few rows."""
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 500)


def same_model(first, second):
    bits, others = ([p.tobytes() for p in model.parameters] for model in (first, second))
    return first.threshold == second.threshold and bits == others


@pytest.mark.parametrize("source", ["one.parquet", "one.csv", "parts", "parts/*.csv"])
@pytest.mark.parametrize("network", ["linear", "auto"])
def test_a_streamed_table_gives_the_model_of_the_table_in_memory(source, network, folder, streamed):
    options = {**QUICK, "network": network, "steps": 15, "validation": None}
    expected = an.fit(FRAME, TABLE["label"], "qmean", **options)
    model = an.fit(str(folder / source), target="label", measure="qmean", **options)
    assert same_model(model, expected) and model.encoder.table == expected.encoder.table
    assert model.classes == ("no", "yes") and np.array_equal(model.predict(FRAME), expected.predict(FRAME))


@pytest.mark.parametrize("source", ["one.parquet", "one.csv", "parts"])
def test_a_small_table_is_fitted_as_in_memory_with_folds_and_all(source, folder):
    expected = an.fit(FRAME, TABLE["label"], **QUICK)
    model = an.fit(folder / source, target="label", **QUICK)
    assert len(model.voters) == 4 and same_model(model, expected)


@pytest.mark.parametrize("validation", ["auto", 0.3, "last"])
def test_rows_held_out_are_not_trained_on_and_choose_the_threshold(validation, folder, streamed, monkeypatch):
    # Without missing values, as medians of a streamed table are those of all rows.
    table = TABLE.drop(columns="kind").fillna({"a": 0.0, "b": 0.0, "c": 0.0})
    table.to_parquet(folder / "filled.parquet")
    found, original = [], streamed_rows._held

    def held(codes, n_classes, asked, rng):  # leaves the numbers for training to those of the run in memory
        found.append(original(codes, n_classes, asked, np.random.default_rng(5)))
        return found[-1]

    monkeypatch.setattr(streamed_rows, "_held", held)
    model = an.fit(folder / "filled.parquet", target="label", validation=validation, **QUICK)
    out = found[0]
    assert out.sum() == {"auto": 180, 0.3: 270, "last": 180}[validation]
    X, y = table.drop(columns="label"), table["label"]
    expected = an.fit(X[~out], y[~out], validation=(X[out], y[out]), **QUICK)
    assert same_model(model, expected)
    assert model.validation_matrix == expected.validation_matrix and model.best_step == expected.best_step


def test_each_class_is_held_out_by_the_same_share_all_over_the_file():
    codes = (np.random.default_rng(0).random(20_000) < 0.03).astype("uint8")
    held = streamed_rows._held(codes, 2, "auto", np.random.default_rng(1))
    for label in (0, 1):
        rows = np.flatnonzero(codes == label)
        assert held[rows].sum() == round(0.2 * len(rows))
        assert all(abs(part.mean() - 0.2) < 0.03 for part in np.array_split(held[rows], 5))
    others = streamed_rows._held(codes, 2, "auto", np.random.default_rng(2))
    assert 0.1 < np.mean(others[held]) < 0.3  # drawn, not every fifth row


@pytest.mark.parametrize("validation", ["auto", 0.5, "last"])
def test_at_most_so_many_rows_are_held_out(validation, monkeypatch):
    monkeypatch.setattr(streamed_rows, "HELD_ROWS", 1000)
    held = streamed_rows._held(np.arange(40_000) % 4, 4, validation, np.random.default_rng(0))
    assert held.sum() == 1000


def test_rows_of_your_own_validate_a_streamed_table(folder, streamed):
    validation = (FRAME[:300], TABLE["label"][:300])
    expected = an.fit(FRAME, TABLE["label"], validation=validation, **QUICK)
    model = an.fit(folder / "one.parquet", target="label", validation=validation, **QUICK)
    assert same_model(model, expected)


def test_several_classes_are_streamed_too(folder, streamed):
    options = {"measure": "min_recall", "steps": 30, "seed": 0}
    expected = an.fit(FRAME, TABLE["kind"], validation=None, **options)
    model = an.fit(folder / "kinds.parquet", target="kind", validation=None, **options)
    assert [p.tobytes() for p in expected.parameters] == [p.tobytes() for p in model.parameters]
    judged = an.fit(folder / "kinds.parquet", target="kind", **options)
    assert judged.classes == (0, 1, 2) and len(judged.voters) == 0


def test_a_streamed_run_is_resumed_to_the_last_bit(folder, streamed, tmp_path, monkeypatch):
    monkeypatch.setattr(disk_rows, "BLOCK_BYTES", 40)  # a row each, of which 256 are shuffled together
    path, options = folder / "one.parquet", {**QUICK, "target": "label"}
    whole = an.fit(path, **options)
    stop = {"on_step": lambda step: step.step == 25}
    an.fit(path, checkpoint=an.Checkpoint(tmp_path / "c", every=10), **stop, **options)
    resumed = an.fit(path, checkpoint=an.Checkpoint(tmp_path / "c", every=10, resume=True), **options)
    assert same_model(whole, resumed)


def test_a_model_is_trained_further_on_a_streamed_table(folder, streamed):
    first = an.fit(FRAME, TABLE["label"], **{**QUICK, "validation": None})
    options = {"network": first, "steps": 20, "batch_size": 64, "seed": 1, "validation": None}
    further, expected = an.fit(folder / "one.csv", target="label", **options), an.fit(FRAME, TABLE["label"], **options)
    assert same_model(further, expected)


def test_options_say_how_files_are_read(tmp_path, streamed):
    FRAME.assign(code=np.arange(N) % 3, gap=-999, label=POSITIVE).fillna({"a": -999}).to_csv(
        tmp_path / "t.csv", sep=";", decimal=",", index=False
    )
    files = TableFiles(tmp_path / "t.csv", ["gap"], ["code"], ["-999"], ";", ",")
    model = an.fit(files, target="label", **QUICK)
    encoder = model.encoder.table
    assert encoder.numeric == ("a", "b", "c") and encoder.categorical == ("colour", "code")
    assert encoder.medians == pytest.approx(FRAME[["a", "b", "c"]].median().tolist())


REFUSED = {
    "no labels": ({"y": None}, "y must hold a label for each row; files name their column by target="),
    "a file": ({"X": "one.parquet", "y": None}, "files need target=, the name of their column of labels"),
    "labels twice": ({"X": "one.parquet", "target": "label"}, "target names the labels of files: leave y out"),
    "no file": ({"target": "label", "y": None}, "target goes with files, .* got 'DataFrame'"),
    "no name": ({"X": "one.parquet", "y": None, "target": 4}, "target must be the name of a column, got 4"),
    "no column": ({"X": "one.parquet", "y": None, "target": "lable"}, "no column 'lable' of labels. Did you mean 'lab"),
    "folds": ({"validation": 5}, "needs validation='auto', 'last', a share, .* got 5"),
    "weights": ({"sample_weight": np.ones(N)}, "sample_weight is not available for a table that does not"),
    "groups": ({"groups": np.ones(N)}, "groups is not available for a table"),
    "a sampler": ({"sampler": "balanced"}, "sampler is not available for a table.*got 'balanced'"),
    "refitting": ({"validation": an.EarlyStopping(refit=True)}, "refit is not available for a table"),
    "the head alone": ({"algorithm": "paper", "network": "mlp"}, "trains the head on features of all rows"),
    "two classes": ({"target": "kind", "X": "kinds.parquet"}, "labels for 'f1' must be of two classes, got 3"),
    "another label": ({"positive": "maybe"}, "positive must be one of the two labels, got 'maybe'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_with_files_is_refused_before_training(name, folder, streamed):
    given, message = REFUSED[name]
    arguments = {"X": "one.parquet", "y": None, "target": "label"}
    if "y" in given or "target" in given and given["target"] == "label":
        arguments = {"X": FRAME, "y": TABLE["label"], "target": None}
    if name == "two classes":
        arguments["y"] = None
    arguments.update(given)
    if isinstance(arguments["X"], str):
        arguments["X"] = folder / arguments["X"]
    with pytest.raises(ValueError, match=message):
        an.fit(**{**QUICK, **arguments})


def test_files_that_change_between_the_passes_are_refused(tmp_path, streamed):
    TABLE.drop(columns="kind").to_parquet(tmp_path / "t.parquet")
    files = TableFiles(tmp_path / "t.parquet")
    with files.opened() as table:
        found = learned_together(survey(files, table, files.features(table.names, "label"), "label"), LOCAL)
    TABLE.drop(columns="kind")[:100].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="the files must keep their 900 rows while they are read, got 100"):
        an.fit(found, found.classes, **QUICK)


def test_an_infinite_cell_is_named_by_its_row_in_the_file(tmp_path, streamed):
    table = TABLE.drop(columns="kind")
    table.loc[517, "b"] = np.inf
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'b' must hold finite numbers, got inf in row 518 \(from 1\)"):
        an.fit(tmp_path / "t.parquet", target="label", **QUICK)


def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    for module, name, value in (
        (streamed_tables, "IN_MEMORY_CELLS", 0), (table_survey, "_BLOCK_CELLS", 2**17),
        (table_survey, "SAMPLED_ROWS", (5000, 5000)), (disk_rows, "BLOCK_BYTES", 2**12),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    rng, peaks = np.random.default_rng(0), []
    for rows in (1_000, 50_000, 100_000):  # the first one compiles
        columns = {f"x{k}": rng.normal(size=rows).astype("float32") for k in range(30)}
        parquet.write_table(pyarrow.table({**columns, "y": columns["x0"] > 1}), tmp_path / "t.parquet")
        del columns
        tracemalloc.start()
        an.fit(tmp_path / "t.parquet", target="y", **{**QUICK, "validation": None})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] - peaks[1] < 3e6  # where the further rows take 6e6 as float32


def test_an_encoder_of_a_streamed_table_is_that_of_a_model(folder, streamed):
    model = an.fit(folder / "one.parquet", target="label", **QUICK)
    assert model.encoder.table == InputEncoder.learn(FRAME, add_indicator=True).table
