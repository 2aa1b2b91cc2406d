"""Logs of lm-evaluation-harness and Inspect are answers: replies whole, failures counted and never read as text."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.storage.errors import TableError
from molaudit.storage.tables import imports

DATE = "2026-11-30T02-54-12.345678"


def sample_line(doc: dict[str, Any], resps: list[Any], doc_id: int = 0, **more: Any) -> dict[str, Any]:
    """A line as EvaluationTracker.save_results_samples of lm_eval 0.4.13 writes it."""
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": "-3.10",
        "arguments": {
            "gen_args_0": {"arg_0": "logS of it?", "arg_1": {"until": ["\n\n"], "temperature": 0.0}}
        },
        "resps": resps,
        "filtered_resps": [each[0] if isinstance(each, list) else each for each in resps],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "0" * 64,
        "prompt_hash": "1" * 64,
        "target_hash": "2" * 64,
        "exact_match": 0.0,
        **more,
    }


def lm_eval_run(folder: Path, lines: list[dict[str, Any]], results: dict[str, Any] | None) -> Path:
    run = folder / "org__model-7b"
    run.mkdir(parents=True)
    if results is not None:
        (run / f"results_{DATE}.json").write_text(json.dumps(results))
    path = run / f"samples_free_solv_{DATE}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return path


def taken(found: imports.Answers, *columns: str) -> list[tuple[Any, ...]]:
    return found.frame.select(columns).rows()


class TestLmEvaluationHarness:
    def test_repeats_are_samples_and_the_results_file_names_the_model(self, tmp_path: Path) -> None:
        lines = [
            sample_line({"name": "water", "smiles": "O"}, [["It is -3.10.", "−3.1 ± 0.2"]]),
            sample_line({"SMILES": "CC"}, [["\n2.50"]], doc_id=1),
            sample_line({"question": "x?", "n": 3}, [["7"]], doc_id=17),
        ]
        path = lm_eval_run(tmp_path, lines, {"results": {}, "model_name": "org/model-7b", "config": {}})
        found = imports.load_answers(path)
        assert taken(found, "row", "model", "benchmark", "molecule", "smiles", "sample", "answer") == [
            (1, "org/model-7b", "free_solv", "water", "O", 0, "It is -3.10."),
            (1, "org/model-7b", "free_solv", "water", "O", 1, "−3.1 ± 0.2"),
            (2, "org/model-7b", "free_solv", "CC", "CC", 0, "\n2.50"),
        ]
        # The third document says nothing of its molecule, and a doc_id is none.
        assert found.left_out == {"no molecule named": 1}
        assert found.frame["prediction"].null_count() == 3

    def test_a_folder_is_searched_and_results_files_are_no_logs(self, tmp_path: Path) -> None:
        path = lm_eval_run(tmp_path, [sample_line({"id": "a"}, [["1"]])], {"model_name": "m"})
        (tmp_path / "notes.json").write_text('{"eval": 1}')
        found = imports.load_answers(tmp_path)
        assert found.files == (str(path),)
        assert taken(found, "model", "molecule") == [("m", "a")]

    @pytest.mark.parametrize(
        ("results", "model"),
        [
            ({"config": {"model_args": "dtype=auto,pretrained=org/x,revision=main"}}, "org/x"),
            ({"config": {"model_args": {"model": "gpt-z", "num_concurrent": 4}}}, "gpt-z"),
            ({"config": {"model_args": None}, "model_name": None}, "org__model-7b"),
            ([], "org__model-7b"),
            (None, "org__model-7b"),
        ],
    )
    def test_the_model_is_named_by_its_arguments_or_its_folder(
        self, tmp_path: Path, results: dict[str, Any] | None, model: str
    ) -> None:
        found = imports.load_answers(lm_eval_run(tmp_path, [sample_line({"id": "a"}, [["1"]])], results))
        assert taken(found, "model") == [(model,)]
        assert any("called 'org__model-7b'" in note for note in found.notes) == (model == "org__model-7b")

    def test_the_results_of_the_same_run_name_the_model(self, tmp_path: Path) -> None:
        path = lm_eval_run(tmp_path, [sample_line({"id": "a"}, [["1"]])], {"model_name": "mine"})
        (path.parent / "results_2027-01-01T00-00-00.0.json").write_text('{"model_name": "later"}')
        assert taken(imports.load_answers(path), "model") == [("mine",)]

    def test_a_damaged_results_file_is_noted(self, tmp_path: Path) -> None:
        path = lm_eval_run(tmp_path, [sample_line({"id": "a"}, [["1"]])], None)
        (path.parent / f"results_{DATE}.json").write_text('{"model_name": ')
        found = imports.load_answers(path)
        assert taken(found, "model") == [("org__model-7b",)]
        assert any("not valid JSON" in note for note in found.notes)

    def test_each_reply_counts_once_whatever_the_filters(self, tmp_path: Path) -> None:
        lines = [
            sample_line({"id": "a"}, [["x 1"]], filter="strict"),
            sample_line({"id": "b"}, [["x 2"]], filter="strict"),
            sample_line({"id": "a"}, [["x 1"]], filter="flexible"),
            sample_line({"id": "b"}, [["x 2"]], filter="flexible"),
        ]
        found = imports.load_answers(lm_eval_run(tmp_path, lines, {"model_name": "m"}))
        assert taken(found, "molecule", "answer") == [("a", "x 1"), ("b", "x 2")]
        assert found.left_out == {"same reply under another filter": 2}

    def test_likelihoods_and_missing_replies_are_no_answers(self, tmp_path: Path) -> None:
        lines = [
            sample_line({"id": "a"}, [[["-1.5", "False"]], [["-0.5", "True"]]]),
            sample_line({"id": "b"}, [[["-1.5", "False"]]]),
            sample_line({"id": "c"}, [["None", "-3.1"]]),
            sample_line({"id": "d"}, [[""]]),
        ]
        found = imports.load_answers(lm_eval_run(tmp_path, lines, {"model_name": "m"}))
        assert taken(found, "molecule", "sample", "answer", "outcome") == [
            ("c", 0, None, "empty"),
            ("c", 1, "-3.1", None),
            ("d", 0, "", None),
        ]
        assert found.left_out == {"no generated text": 2}

    def test_a_line_that_is_no_sample_is_refused(self, tmp_path: Path) -> None:
        path = lm_eval_run(
            tmp_path, [sample_line({"id": "a"}, [["1"]]), {"doc_id": 1, "doc": 3, "resps": []}], None
        )
        with pytest.raises(TableError, match=r"row 2, key 'doc': expected an object"):
            imports.load_answers(path)

    def test_a_table_of_answers_in_json_lines_is_still_a_table(self, tmp_path: Path) -> None:
        path = tmp_path / "samples_mine.jsonl"
        path.write_text('{"model": "m", "molecule": "a", "answer": "the \\"resps\\" of \\"doc\\""}\n')
        assert taken(imports.load_answers(path), "molecule") == [("a",)]

    def test_a_folder_without_logs_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "results_1.json").write_text("{}")
        with pytest.raises(TableError, match="this folder holds no logs"):
            imports.load_answers(tmp_path)


def inspect_sample(name: Any, epoch: int, content: Any, **more: Any) -> dict[str, Any]:
    """A sample as inspect_ai 0.3.285 logs it, without its events."""
    choice = {
        "message": {"role": "assistant", "content": content, "source": "generate"},
        "stop_reason": "stop",
    }
    return {
        "id": name,
        "epoch": epoch,
        "input": "CO?",
        "target": "-5.10",
        "messages": [{"role": "user", "content": "CO?"}, choice["message"]],
        "output": {
            "model": "mockllm/model",
            "choices": [choice],
            "completion": content if isinstance(content, str) else "the parts",
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "reasoning_tokens": 7},
        },
        "scores": {"match": {"value": "I"}},
        "metadata": {"smiles": "CO"},
        "error_retries": [],
        **more,
    }


def ended(sample: dict[str, Any], reason: str) -> dict[str, Any]:
    sample["output"]["choices"][0]["stop_reason"] = reason
    return sample


HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "inspect_evals/freesolv",
        "model": "mockllm/model",
        "model_generate_config": {"reasoning_effort": "low"},
        "config": {"epochs": 2},
    },
    "plan": {"name": "plan", "config": {}},
}
PARTS = [
    {"type": "reasoning", "reasoning": "-9.9"},
    {"type": "document", "text": "-8.8"},
    {"type": "text", "text": "It is "},
    {"type": "text", "text": "-3.10"},
]
FAILED = {"model": "mockllm/model", "choices": [], "completion": ""}
SAMPLES = [
    inspect_sample("methanol", 1, "It is -5.10"),
    inspect_sample(2, 1, PARTS, metadata={"molecule": "ethane", "smiles": "CC"}),
    inspect_sample(
        "bad", 1, "", error={"message": "no reply from provider", "traceback": "..."}, output=FAILED
    ),
    inspect_sample("methanol", 2, "-5.1", output={"choices": [], "completion": "-5.1", "usage": None}),
    ended(inspect_sample(2, 2, "It is -"), "max_tokens"),
    ended(inspect_sample("bad", 2, "Sorry"), "content_filter"),
    inspect_sample("none", 1, None, output=FAILED),
]
# Sample 5 is numbered by the harness: it goes by its structure.
ROWS = [
    (1, "mockllm/model", "freesolv", "methanol", "CO", "low", 0, 7, "It is -5.10", None),
    (2, "mockllm/model", "freesolv", "ethane", "CC", "low", 0, 7, "It is -3.10", None),
    (3, "mockllm/model", "freesolv", "bad", "CO", "low", 0, None, None, "failed"),
    (4, "mockllm/model", "freesolv", "methanol", "CO", "low", 1, None, "-5.1", None),
    (5, "mockllm/model", "freesolv", "CO", "CO", "low", 1, 7, "It is -", "truncated"),
    (6, "mockllm/model", "freesolv", "bad", "CO", "low", 1, 7, "Sorry", "filtered"),
    (7, "mockllm/model", "freesolv", "none", "CO", "low", 0, None, None, "empty"),
]
COLUMNS = (
    "row",
    "model",
    "benchmark",
    "molecule",
    "smiles",
    "effort",
    "sample",
    "reasoning_tokens",
    "answer",
    "outcome",
)


def json_log(folder: Path, header: Any = HEADER, samples: Any = SAMPLES) -> Path:
    path = folder / "2026-11-30T02-54-15_freesolv_x.json"
    path.write_text(json.dumps({**header, "samples": samples}, indent=2))
    return path


def eval_log(folder: Path, *, zstandard: bool = False, start: str = "header.json") -> Path:
    path = folder / "2026-11-30T02-54-15_freesolv_x.eval"
    documents = {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in SAMPLES}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"_journal/summaries/1.json": [], **documents, start: HEADER}.items():
            data = json.dumps(content).encode()
            archive.writestr(name, data) if not zstandard else write_zstandard(archive, name, data)
    return path


def write_zstandard(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Store the compressed bytes, then say in both headers that they are method 93, as newer writers do."""
    packed = b"".join(bytes(pa.compress(part, "zstd")) for part in (data[:50], data[50:]))
    archive.writestr(zipfile.ZipInfo(name), packed)
    info = archive.getinfo(name)
    info.compress_type, info.file_size, info.CRC = 93, len(data), zlib.crc32(data)


class TestInspect:
    @pytest.mark.parametrize("make", [json_log, eval_log])
    def test_samples_are_answers_and_failures_are_counted(self, tmp_path: Path, make: Any) -> None:
        found = imports.load_answers(make(tmp_path))
        assert taken(found, *COLUMNS) == ROWS
        assert found.left_out == {}
        assert [note.split(": ", 1)[1] for note in found.notes] == [
            f"1 without an answer ({outcome})." for outcome in ("failed", "truncated", "filtered", "empty")
        ]

    def test_archives_packed_with_zstandard_are_read(self, tmp_path: Path) -> None:
        path = eval_log(tmp_path, zstandard=True)
        with zipfile.ZipFile(path) as archive, pytest.raises(NotImplementedError):
            archive.read("header.json")
        found = imports.load_answers(path)
        assert taken(found, *COLUMNS) == ROWS

    def test_an_entry_whose_checksum_differs_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.eval"
        with zipfile.ZipFile(path, "w") as archive:
            write_zstandard(archive, "header.json", json.dumps(HEADER).encode())
            write_zstandard(archive, "samples/a_epoch_1.json", json.dumps(SAMPLES[0]).encode())
            archive.getinfo("samples/a_epoch_1.json").CRC ^= 1
        with pytest.raises(TableError, match=r"entry samples/a_epoch_1\.json: damaged"):
            imports.load_answers(path)

    def test_a_run_that_did_not_end_is_read_with_a_note(self, tmp_path: Path) -> None:
        path = eval_log(tmp_path, start="_journal/start.json")
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("other.txt", "")
        assert taken(imports.load_answers(path), *COLUMNS) == ROWS
        cut = json_log(tmp_path, {**HEADER, "status": "cancelled"})
        assert any("ended as 'cancelled'" in note for note in imports.load_answers(cut).notes)

    def test_both_kinds_in_a_folder_are_found(self, tmp_path: Path) -> None:
        paths = [eval_log(tmp_path), json_log(tmp_path)]
        found = imports.load_answers(tmp_path)
        assert set(found.files) == {str(path) for path in paths}
        # The same epochs of the same run twice: the second log adds nothing.
        assert found.frame.height == len(ROWS)
        assert found.left_out["same sample again"] == len(ROWS)

    def test_a_long_reply_stored_as_attachment_is_found(self, tmp_path: Path) -> None:
        sample = inspect_sample("a", 1, "attachment://abc", attachments={"abc": "It is -1.25"})
        assert taken(imports.load_answers(json_log(tmp_path, samples=[sample])), "answer") == [
            ("It is -1.25",)
        ]

    def test_effort_may_stand_in_the_plan(self, tmp_path: Path) -> None:
        header = {
            **HEADER,
            "eval": {"task": "t", "model": "m"},
            "plan": {"config": {"reasoning_effort": "high"}},
        }
        path = json_log(tmp_path, header, SAMPLES[:1])
        assert taken(imports.load_answers(path), "model", "benchmark", "effort") == [("m", "t", "high")]

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("{}", "not an Inspect log: 'eval.model' is missing"),
            ("[1]", "row 1: found a JSON text or number. Expected an object in braces."),
            ('{"eval": ', "not valid JSON"),
            (json.dumps({**HEADER, "samples": []}), "holds no samples"),
            (json.dumps({**HEADER, "samples": [3]}), "sample 1: expected a JSON object"),
        ],
    )
    def test_json_that_is_no_log_is_refused(self, tmp_path: Path, content: str, says: str) -> None:
        path = tmp_path / "x.json"
        path.write_text(content)
        with pytest.raises(TableError) as caught:
            imports.load_answers(path)
        assert str(path) in str(caught.value)
        assert says in str(caught.value)

    def test_archives_that_are_no_log_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.eval"
        with pytest.raises(TableError, match="no such file"):
            imports.load_answers(path)
        path.write_bytes(b"no archive")
        with pytest.raises(TableError, match=r"not a readable \.eval archive"):
            imports.load_answers(path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("samples/a_epoch_1.json", "{}")
        with pytest.raises(TableError, match=r"neither header\.json nor"):
            imports.load_answers(path)

    @settings(deadline=None, max_examples=150)
    @given(zstandard=st.booleans(), data=st.data())
    def test_damaged_archives_give_answers_or_a_table_error(
        self, zstandard: bool, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        path = eval_log(tmp_path_factory.getbasetemp(), zstandard=zstandard)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content))
        try:
            frame = imports.load_answers(path).frame
        except TableError:
            return
        # Every entry carries a checksum, so what is read is what was written, or fewer samples of it.
        assert set(frame.select("molecule", "answer").rows()) <= {(row[3], row[8]) for row in ROWS}


@settings(deadline=None, max_examples=100)
@given(
    document=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "epoch", "output", "choices", "message", "content", "error", "usage", "metadata"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=25,
    )
)
def test_any_sample_gives_answers_or_a_table_error(
    document: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    good = inspect_sample("a", 1, "1")
    lines = [sample_line({"id": "a"}, [["1"]]), {**sample_line({"id": "b"}, []), "resps": document}]
    odd = folder / "samples_odd.jsonl"
    odd.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path in (json_log(folder, samples=[good, document]), odd):
        try:
            found = imports.load_answers(path).frame
        except TableError as error:
            refused = str(error)
            assert str(path) in refused
        else:
            assert found["answer"].dtype == pl.String


def promptfoo_result(variables: dict[str, Any], output: Any, **more: Any) -> dict[str, Any]:
    """A result as the evaluator of promptfoo (0.120) writes it."""
    return {
        "cost": 0,
        "failureReason": 0,
        "id": "b7f9",
        "latencyMs": 12,
        "namedScores": {},
        "prompt": {"raw": "logS?", "label": "logS of {{smiles}}?"},
        "promptId": "e1",
        "promptIdx": 0,
        "provider": {"id": "openai:chat:gpt-z", "label": ""},
        "response": {
            "output": output,
            "tokenUsage": {"total": 9, "completionDetails": {"reasoning": 7}},
            "cached": False,
        },
        "score": 1,
        "success": True,
        "testCase": {"vars": variables, "assert": [], "metadata": {}},
        "testIdx": 0,
        "vars": variables,
        "metadata": {},
        **more,
    }


PROMPTFOO = [
    promptfoo_result({"smiles": "CO", "id": 4}, "It is -5.10"),
    promptfoo_result({"compound": "ethane", "smiles": "CC"}, {"value": -3.10}, testIdx=1),
    # A grade that failed is no call that failed, though both stand under `error`.
    promptfoo_result({"smiles": "CCC"}, "-1.5", failureReason=1, error="Expected output to equal -1.50"),
    promptfoo_result({"smiles": "CCCC"}, None, failureReason=2, error="API error: 500"),
    promptfoo_result({"smiles": "CCO"}, None),
    promptfoo_result({"question": "x?"}, "9.9"),
]
PROMPTFOO_ROWS = [
    (1, "openai:chat:gpt-z", "CO", "CO", "It is -5.10", 7, None),
    (2, "openai:chat:gpt-z", "ethane", "CC", '{"value": "-3.1"}', 7, None),
    (3, "openai:chat:gpt-z", "CCC", "CCC", "-1.5", 7, None),
    (4, "openai:chat:gpt-z", "CCCC", "CCCC", None, 7, "failed"),
    (5, "openai:chat:gpt-z", "CCO", "CCO", None, 7, "empty"),
]


class TestPromptfoo:
    @pytest.mark.parametrize("kind", ["json", "jsonl"])
    def test_results_are_answers_by_what_their_variables_name(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / f"out.{kind}"
        document = {
            "evalId": "eval-x",
            "results": {"version": 3, "prompts": [], "results": PROMPTFOO, "stats": {}},
            "config": {},
        }
        lines = "".join(json.dumps(one) + "\n" for one in PROMPTFOO)
        path.write_text(lines if kind == "jsonl" else json.dumps(document))
        found = imports.load_answers(path)
        columns = ("row", "model", "molecule", "smiles", "answer", "reasoning_tokens", "outcome")
        assert taken(found, *columns) == PROMPTFOO_ROWS
        assert found.left_out == {"no molecule named": 1}
        assert found.frame["condition"].null_count() == found.frame.height

    def test_a_folder_of_results_is_searched(self, tmp_path: Path) -> None:
        document = {"evalId": "eval-x", "results": {"version": 3, "results": PROMPTFOO[:1]}}
        (tmp_path / "out.json").write_text(json.dumps(document))
        (tmp_path / "other.json").write_text('{"results": {}}')
        assert taken(imports.load_answers(tmp_path), "molecule") == [("CO",)]

    def test_each_of_several_prompts_is_a_condition(self, tmp_path: Path) -> None:
        path = tmp_path / "out.jsonl"
        results = [promptfoo_result({"smiles": "CO"}, "1", promptIdx=at) for at in (0, 1, 1)]
        path.write_text("".join(json.dumps(one) + "\n" for one in results))
        assert taken(imports.load_answers(path), "condition", "sample") == [
            ("prompt 0", 0), ("prompt 1", 0), ("prompt 1", 1)
        ]  # fmt: skip


def batch_line(name: str, body: Any, status: int = 200) -> dict[str, Any]:
    """A line of the output file of an OpenAI batch."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def completion(content: Any, reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "gpt-z",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": reason}
        ],
        "usage": {"completion_tokens_details": {"reasoning_tokens": 5}},
        **more,
    }


RESPONSE = {
    "object": "response",
    "model": "gpt-z",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "-9.9"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "It is -2.22"}]},
    ],
    "usage": {"output_tokens_details": {"reasoning_tokens": 6}},
}
BATCH = [
    batch_line("water", completion("It is -3.10")),
    batch_line("ethane", RESPONSE),
    batch_line("cut", completion("It is -", "length")),
    batch_line("blocked", completion(None, "content_filter")),
    batch_line("away", {"error": {"message": "overloaded"}}, status=500),
    {"id": "batch_req_2", "custom_id": "late", "response": None, "error": {"code": "batch_expired"}},
    batch_line("17", completion("4.44")),
]


class TestBatches:
    def test_lines_are_answers_of_what_their_custom_id_names(self, tmp_path: Path) -> None:
        path = tmp_path / "batch_output.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in BATCH))
        found = imports.load_answers(path)
        assert taken(found, "model", "molecule", "answer", "reasoning_tokens", "outcome") == [
            ("gpt-z", "water", "It is -3.10", 5, None),
            ("gpt-z", "ethane", "It is -2.22", 6, None),
            ("gpt-z", "cut", "It is -", 5, "truncated"),
            ("gpt-z", "blocked", None, 5, "filtered"),
            ("gpt-z", "away", None, None, "failed"),
            ("gpt-z", "late", None, None, "failed"),
        ]
        assert found.left_out == {"no molecule named": 1}

    def test_batches_of_another_provider_are_read(self, tmp_path: Path) -> None:
        message = {
            "type": "message", "model": "claude-z", "stop_reason": "end_turn",
            "content": [{"type": "thinking", "thinking": "-9.9"}, {"type": "text", "text": "-1.25"}],
        }  # fmt: skip
        lines = [
            {"custom_id": "water", "result": {"type": "succeeded", "message": message}},
            {"custom_id": "ethane", "result": {"type": "expired"}},
        ]
        path = tmp_path / "results.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert taken(imports.load_answers(path), "model", "molecule", "answer", "outcome") == [
            ("claude-z", "water", "-1.25", None),
            ("claude-z", "ethane", None, "failed"),
        ]

    def test_positions_as_custom_ids_are_refused_with_the_way_on(self, tmp_path: Path) -> None:
        path = tmp_path / "batch_output.jsonl"
        path.write_text("".join(json.dumps(batch_line(str(n), completion("1"))) + "\n" for n in range(3)))
        with pytest.raises(
            TableError, match=r"none of 3 samples names its molecule; .* or write a table with model"
        ):
            imports.load_answers(path)


class TestListsOfJson:
    def test_a_list_of_rows_is_a_table(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text(
            '[{"model": "m", "smiles": "CO", "answer": "1"}, {"model": "m", "smiles": "C", "prediction": 2.50}]'
        )
        assert taken(imports.load_answers(path), "row", "molecule", "answer", "prediction") == [
            (1, "CO", "1", None),
            (2, "C", None, "2.50"),
        ]

    def test_labels_are_read_from_one(self, tmp_path: Path) -> None:
        path = tmp_path / "esol.json"
        path.write_text('\ufeff[{"Drug": "CO", "Y": -3.10}]', encoding="utf-8")
        found = imports.load_labels(path).frame
        assert found.select("benchmark", "molecule", "label").rows() == [("esol", "CO", "-3.10")]

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (
                '{"molecule": {"0": "a"}}',
                "found a JSON object. Expected a list of objects, one a row (pandas: to_json",
            ),
            ("[]", "the list is empty"),
            ("[3]", "row 1: found a JSON text or number. Expected an object in braces"),
            ("[{", "not valid JSON"),
        ],
    )
    def test_other_documents_are_refused_with_the_way_on(
        self, tmp_path: Path, content: str, says: str
    ) -> None:
        path = tmp_path / "esol.json"
        path.write_text(content)
        with pytest.raises(TableError) as caught:
            imports.load_labels(path)
        assert says in str(caught.value)


def test_an_answer_of_a_retried_run_goes_before_its_failure(tmp_path: Path) -> None:
    failed = inspect_sample("a", 1, None, error={"message": "away"}, output=FAILED)
    json_log(tmp_path, samples=[failed])
    second = tmp_path / "z_retried.json"
    second.write_text(json.dumps({**HEADER, "samples": [inspect_sample("a", 1, "1.23")]}))
    found = imports.load_answers(tmp_path)
    assert taken(found, "molecule", "answer", "outcome") == [("a", "1.23", None)]
    assert found.left_out == {"same sample again": 1}


def test_two_samples_of_one_molecule_in_a_log_are_two_answers(tmp_path: Path) -> None:
    samples = [inspect_sample(name, epoch, f"{epoch}.{name}") for epoch in (1, 2) for name in (5, 9)]
    found = imports.load_answers(json_log(tmp_path, samples=samples))
    assert taken(found, "molecule", "sample", "answer") == [
        ("CO", 0, "1.5"), ("CO", 1, "1.9"), ("CO", 2, "2.5"), ("CO", 3, "2.9")
    ]  # fmt: skip
    assert found.left_out == {}


@settings(deadline=None, max_examples=150)
@given(
    data=st.data(),
    document=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
)
def test_any_value_in_a_result_or_line_gives_answers_or_a_table_error(
    data: st.DataObject, document: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.jsonl"
    odd: dict[str, Any] = json.loads(json.dumps(data.draw(st.sampled_from([*PROMPTFOO, *BATCH]))))
    place = odd
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if isinstance(place[key], dict) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = document
        break
    first = PROMPTFOO[0] if "vars" in odd or "provider" in odd else BATCH[0]
    path.write_text(json.dumps(first) + "\n" + json.dumps(odd) + "\n")
    try:
        found = imports.load_answers(path).frame
    except TableError as error:
        refused = str(error)
        assert str(path) in refused
    else:
        assert found["answer"][0] in ("It is -5.10", "It is -3.10")
