"""Files as the programs of others write them are read at the first try.

Each look-alike is generated: few rows, with the names, nesting and oddities of the
source. None needs an option.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

import evenhand as eh
from evenhand.formats.reading import read_ratings
from tests.formats import lookalikes, test_nested
from tests.formats.reader import Reader, scores

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Cells = list[list[object]]
MODELS = ("birch", "cedar", "dune")


def lines(*entries: object) -> str:
    """Write JSON lines."""
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def table(*rows: object) -> str:
    """Write CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]  # rows
    return text.getvalue()


@dataclass(frozen=True)
class LookAlike:
    """What a program writes, and what a right reading of it is.

    Attributes:
        files: The text of each file by its path.
        read_as: How "Read as" begins.
        scores: The score by reviewer and item.
        left_out: How many rows were left out, by the code of the warning.
    """

    files: dict[str, str]
    read_as: str
    scores: Mapping[Any, object]
    left_out: dict[str, int] = field(default_factory=dict)


def mt_bench() -> LookAlike:
    def judgment(question: int, model: str, turn: int, score: float) -> object:
        entry = {"question_id": question, "model": model, "score": score, "turn": turn}
        judge = ["gpt-4", "single-v1" if turn == 1 else "single-v1-multi-turn"]
        more = {"judge": judge, "user_prompt": "[Question]", "judgment": "[[7]]"}
        return entry | more | {"tstamp": 1686977341.5}

    marks = [(81, "birch", 1, 9), (81, "cedar", 1, 7.5), (81, "birch", 2, 8)]
    marks += [(81, "cedar", 2, -1), (82, "birch", 1, 3), (82, "cedar", 1, 4)]
    return LookAlike(
        {"gpt-4_single.jsonl": lines(*(judgment(*mark) for mark in marks))},
        "an evaluation log, by columns 'question_id', 'model', 'judgment' and 'score' "
        "of MT-Bench: item from 'model', reviewer from 'judge' + "
        "'question_id' + 'turn', score from 'score'.",
        {(f"gpt-4 / {q} / {turn}", model): s for q, model, turn, s in marks if s >= 0},
        {"failed_judgments": 1},
    )


def appraise() -> LookAlike:
    rows: Cells = []
    for place, system in enumerate(MODELS):
        rows += [
            [
                "engdeu01",
                system,
                str(segment),
                "TGT",
                "eng",
                "deu",
                60 + place + segment,
            ]
            for segment in (1, 2)
        ]
    rows += [["engdeu01", "birch", "1", "BAD", "eng", "deu", 3]]
    rows += [["engdeu01", "birch", "2", "CHK", "eng", "deu", 61]]
    return LookAlike(
        {"campaign.csv": table(*([*row, 1690.5, 1720.25] for row in rows))},
        "an evaluation log, by columns 'username', 'item type' and 'score' of Appraise",
        {(f"{row[0]} / {row[2]}", row[1]): row[6] for row in rows if row[3] == "TGT"},
        {"control_items": 2},
    )


def appraise_esa() -> LookAlike:
    errors = json.dumps([{"start_i": 3, "end_i": 9, "severity": "minor"}])
    marks = [
        ("deu5", system, f"en-de_#_news_#_d1_#_{segment}", 80.5 - 5 * place)
        for place, system in enumerate(MODELS)
        for segment in range(2)
    ]
    tutorial = ("deu5", "birch", "tutorial_#_1", 50.0)
    rows = [
        (user, system, segment, "TGT", "eng", "deu", score, "d1#1", False, errors, 1, 2)
        for user, system, segment, score in [tutorial, *marks]
    ]
    return LookAlike(
        {"wave1.csv": table(*rows)},
        "an evaluation log, by columns 'username', 'item type' and 'score' of Appraise",
        {(f"{u} / d1#1 / {segment}", system): s for u, system, segment, s in marks},
        {"control_items": 1},
    )


def wmt25() -> LookAlike:
    def document(number: int) -> dict[str, Any]:
        marks = {
            system: {
                "human1": 70 + 5 * place,
                "errors1": [],
                "annotator1": "a1",
                "human2": 60 + 7 * place,
                "errors2": [],
                "annotator2": "a2",
            }
            for place, system in enumerate(MODELS)
        }
        texts = dict.fromkeys(MODELS, "Hallo")
        return {
            "scores": marks,
            "src_text": "Hello",
            "tgt_text": texts,
            "doc_id": f"en-de_DE_#_news_#_x_#_{number}",
        }

    documents = [document(1), document(2), document(3) | {"scores": {}}]
    documents[1]["scores"]["dune"]["human2"] = None
    expected = {
        (f"{marks[f'annotator{wave}']} / {entry['doc_id']}", system): score
        for entry in documents
        for system, marks in entry["scores"].items()
        for wave in (1, 2)
        if (score := marks[f"human{wave}"]) is not None
    }
    return LookAlike(
        {"wmt25-humeval.jsonl": lines(*documents)},
        "an evaluation log, by column 'doc_id' of WMT: item from 'system'",
        expected,
        {"failed_judgments": 1},
    )


def pearmut() -> LookAlike:
    def entry(user: str, place: int | str, *marks: dict[str, float]) -> object:
        segments = [
            {name: {"score": mark, "error_spans": []} for name, mark in models.items()}
            for models in marks
        ]
        texts = [
            {"src": "Hi", "tgt": {}, "item_id": f"d{place}.{n}"}
            for n, _ in enumerate(marks)
        ]
        more = {"item": texts, "annotation": segments, "actions": [{"time": 1}]}
        return {
            "user_id": user,
            "item_i": place,
            **more,
            "start_time": 1,
            "end_time": 2,
        }

    return LookAlike(
        {
            "campaign.jsonl": lines(
                entry("ada", "welcome_0", {"birch": 1, "cedar": 2}),
                entry("ada", 0, {"birch": 71, "cedar": 80}, {"birch": 60, "cedar": 50}),
                entry("ben", 0, {"birch": 30, "cedar": 44}),
                entry("ben", "random_1", {"birch": 0, "cedar": 0}),
            )
        },
        "an evaluation log, by columns 'user_id' and 'item_i' of pearmut:",
        {
            ("ada / d0.0", "birch"): 71,
            ("ada / d0.0", "cedar"): 80,
            ("ada / d0.1", "birch"): 60,
            ("ada / d0.1", "cedar"): 50,
            ("ben / d0.0", "birch"): 30,
            ("ben / d0.0", "cedar"): 44,
        },
        {"control_items": 4},
    )


def cje() -> LookAlike:
    marks = [(1, "old", 0.62), (1, "new", 0.7), (2, "old", 0.5), (2, "new", 0.4)]
    names = ("prompt_id", "policy", "judge_score", "oracle_label")
    return LookAlike(
        {"draws.csv": table(names, *((*mark, "") for mark in marks))},
        "an evaluation log, by columns 'prompt_id' and 'judge_score' of CJE:",
        {(prompt, policy): score for prompt, policy, score in marks},
    )


def edx() -> LookAlike:
    names = ("submission_uuid", "scorer_id", "score_type", "points_earned")
    marks = [("s1", "u2", "PE", 7), ("s1", "u3", "PE", 5), ("s2", "u3", "PE", 4)]
    return LookAlike(
        {"assessments.csv": table(names, *marks, ("s1", "u1", "SE", 10))},
        "an evaluation log, by columns 'scorer_id' and 'points_earned' of edX",
        {(scorer, item): points for item, scorer, _, points in marks},
        {"control_items": 1},
    )


def sample(document: int, **metrics: float) -> dict[str, object]:
    hashes = {"doc_hash": "d", "prompt_hash": "p", "target_hash": "t"}
    answers = {"resps": [["A"]], "filtered_resps": ["A"], "filter": "none"}
    entry = {"doc_id": document, "doc": {"question": "?"}, "target": "A"}
    return {**entry, **answers, **hashes, "metrics": [*metrics], **metrics}


def lm_eval() -> LookAlike:
    marks = {("birch", 1): 1.0, ("birch", 2): 0.0, ("cedar", 1): 0.0, ("cedar", 2): 1.0}
    files = {
        f"{model}/samples_arc_2026-01-0{day}T03-04.jsonl": lines(
            *(sample(number, acc=marks[model, number]) for number in (1, 2))
        )
        for day, model in enumerate(("birch", "cedar"), start=1)
    }
    return LookAlike(
        files,
        "an evaluation log, by columns 'doc_id', 'filter' and 'target' of lm-eval: "
        "item from 'model', reviewer from 'task' + 'doc_id' + 'filter', score from "
        "'acc'.",
        {(f"arc / {n} / none", model): mark for (model, n), mark in marks.items()},
    )


def samples_df() -> LookAlike:
    names = ("eval_id", "log", "id", "epoch", "model", "score_match", "score_rubric")
    rows = [
        (f"e{place}", f"logs/{model}.eval", number, 1, model, letter, 0.25 * number)
        for place, model in enumerate(("birch", "cedar"))
        for number, letter in enumerate("CIPN"[place:], start=1)
    ]
    grades = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
    expected = {(f"match / {row[2]} / 1", row[4]): grades[row[5]] for row in rows}
    expected |= {(f"rubric / {row[2]} / 1", row[4]): row[6] for row in rows}
    return LookAlike(
        {"samples.csv": table(names, *rows)},
        "an evaluation log, by columns 'eval_id' and 'epoch' of inspect_ai samples: "
        "item from 'model', reviewer from 'scorer' + 'id' + 'epoch', score from "
        "'score'.",
        expected,
    )


def wmt_mqm() -> LookAlike:
    names = ("system", "doc", "seg_id", "rater", "target", "category", "severity")
    errors = [
        ("birch", 1, "Accuracy/Omission", "Major"),
        ("birch", 1, "Fluency/Punctuation", "Minor"),
        ("birch", 2, "No-error", "No-error"),
        ("cedar", 1, "Non-translation!", "Major"),
        ("cedar", 2, "Style/Awkward", "Minor"),
        ("cedar", 2, "Style/Awkward", "Minor"),
        ("cedar", 2, "Accuracy", "HOTW-test"),
    ]
    rows = [
        (system, "d1", segment, "r1", "a <v>b</v>", kind, severity)
        for system, segment, kind, severity in errors
    ]
    points = {("1", "birch"): -5.1, ("2", "birch"): 0.0, ("1", "cedar"): -25.0}
    points[("2", "cedar")] = -2.0
    return LookAlike(
        {"mqm.tsv": table(names, *rows).replace(",", "\t")},
        "an evaluation log, by columns 'seg_id', 'rater' and 'severity' of WMT MQM",
        {
            (f"r1 / d1 / {seg}", system): score
            for (seg, system), score in points.items()
        },
        {"control_items": 1},
    )


LOOK_ALIKES = (
    samples_df,
    wmt_mqm,
    lm_eval,
    mt_bench,
    appraise,
    appraise_esa,
    wmt25,
    pearmut,
    cje,
    edx,
)


@pytest.mark.parametrize("make", LOOK_ALIKES, ids=lambda make: make.__name__)
def test_a_look_alike_is_read_at_the_first_try(make: Any, tmp_path: Path) -> None:  # noqa: ANN401
    look_alike: LookAlike = make()
    for name, text in look_alike.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [str(tmp_path / name) for name in look_alike.files]
    ratings = read_ratings(paths if len(paths) > 1 else paths[0])
    assert ratings.read_as.startswith(look_alike.read_as)
    assert scores(ratings) == look_alike.scores
    left_out = {w.code: w.facts["rows"] for w in ratings.notices if "rows" in w.facts}
    assert left_out == look_alike.left_out


def platforms() -> dict[str, tuple[list[tuple[str, bytes]], dict[str, Any]]]:
    """Return files of sources that have tests of their own, with their options."""
    pair = {"question_id": 1, "model_1": "tea", "model_2": "milk", "turn": 1}
    games = [("model_1", "model_1"), ("model_1", "model_2"), ("error", "tie")]
    pairs = [
        pair | {"judge": ["gpt-4", "pair-v2"], "g1_winner": first, "g2_winner": second}
        for first, second in games
    ]
    votes = [("tea", "milk", "model_a"), ("milk", "soup", "model_b")]
    votes += [("soup", "tea", "tie"), ("tea", "milk", "both_bad")]
    arena = table(("model_a", "model_b", "winner"), *votes)
    flags = [(a, b, *(int(winner == w) for w in WINNERS)) for a, b, winner in votes[:3]]
    lmsys = table(("model_a", "model_b", *(f"winner_{w}" for w in WINNERS)), *flags)
    preferences = (1.0, 2.0, 1.5, 1.23, None)
    annotations = [
        {
            "instruction": f"Say {number}",
            "output_1": "Yes.",
            "generator_1": "tea",
            "output_2": "No.",
            "generator_2": "milk",
            "annotator": "gpt4",
            "preference": preference,
        }
        for number, preference in enumerate(preferences)
    ]
    texts = {
        "arena.csv": arena,
        "lmsys.csv": lmsys,
        "annotations.json": json.dumps(annotations),
        "mt-bench-pair.jsonl": lines(*pairs),
        "pretalx.json": json.dumps(test_nested.pretalx()),
        "pretalx.csv": test_nested.PRETALX_CSV,
        "label-studio.json": json.dumps(test_nested.label_studio()),
        "argilla.json": json.dumps(test_nested.argilla()),
    }
    files: dict[str, Any] = {
        name: ([(name, text.encode())], {}) for name, text in texts.items()
    }
    logs = [("birch", ("C", "P", "I")), ("cedar", ("C", "C", "N"))]
    inspect = [
        (f"{name}.json", json.dumps(test_nested.inspect_log(name, *grades)).encode())
        for name, grades in logs
    ]
    surveys = ("qualtrics.csv", "limesurvey.csv", "surveymonkey.csv")
    survey = {name: lookalikes.FILES[name] for name in surveys}
    files |= {
        name: ([(name, file.data)], file.options) for name, file in survey.items()
    }
    return files | {"inspect": (inspect, {})}


WINNERS = ("model_a", "model_b", "tie")
PLATFORMS = platforms()
SUMMARIES = {
    "arena.csv": ("votes", "4 comparisons of 3 items, 2 of them ties"),
    "lmsys.csv": ("votes", "3 comparisons of 3 items, 1 of them a tie"),
    "annotations.json": ("votes", "4 comparisons of 2 items, 1 of them a tie"),
    "mt-bench-pair.jsonl": ("votes", "2 comparisons of 2 items, 1 of them a tie"),
    "pretalx.json": ("the long form", "3 scores by 2 reviewers of 2 items"),
    "pretalx.csv": ("the long form", "3 scores by 2 reviewers of 2 items"),
    "label-studio.json": ("an evaluation log", "6 scores by 2 reviewers of 3 items"),
    "argilla.json": ("an evaluation log", "4 scores by 2 reviewers of 2 items"),
    "inspect": ("", "6 scores by 3 reviewers of 2 items"),
    "qualtrics.csv": ("responses to a form", "27 scores by 9 reviewers of 4 items"),
    "limesurvey.csv": ("responses to a form", "27 scores by 9 reviewers of 4 items"),
    "surveymonkey.csv": ("responses to a form", "36 ranks by 9 reviewers of 4 items"),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_platform_is_read_at_the_first_try(name: str, tmp_path: Path) -> None:
    files, options = PLATFORMS[name]
    paths = [tmp_path / file for file, _ in files]
    for path, (_, data) in zip(paths, files, strict=True):
        path.write_bytes(data)
    ratings = read_ratings(paths if len(paths) > 1 else paths[0], **options)
    title, summary = SUMMARIES[name]
    assert ratings.read_as.startswith(title)
    assert repr(ratings) == f"Ratings({summary})"


CASES = {
    "one model": (
        lines(sample(1, acc=0.0), sample(2, acc=1.0)),
        "birch/samples_arc_2026-01-02T03-04.jsonl: All judgments are of one model, "
        "'birch', and one model cannot be ranked. Give the logs of several models "
        "together.",
    ),
    "two metrics": (
        lines(sample(1, acc=0.0, f1=0.5) | {"model": "birch"}),
        "birch/samples_arc_2026-01-02T03-04.jsonl: Several fields may be the score: "
        "'acc', 'f1'. Say which with score= or --score, once for each of several "
        "criteria.",
    ),
    "no judge": (
        mt_bench().files["gpt-4_single.jsonl"].replace('["gpt-4", "single-v1"]', "[]"),
        "birch/samples_arc_2026-01-02T03-04.jsonl: 4 problems:\n  line 1: judge must "
        "be given, got nothing.",
    ),
    "only checks": (
        table(("u", "birch", "1", "BAD", "eng", "deu", 3, 1, 2)),
        "birch/samples_arc_2026-01-02T03-04.jsonl: There is no judgment left. 1 "
        "judgment of control items left out.",
    ),
    "no score": (
        table(
            ("u", "birch", "1", "TGT", "eng", "deu", 3, 1, 2),
            ("u", "cedar", "1", "TGT", "eng", "deu", "well", 1, 2),
        ),
        "birch/samples_arc_2026-01-02T03-04.jsonl:2: score must be a number, got "
        "'well'.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_no_log_says_is_asked_for(case: str) -> None:
    text, sentence = CASES[case]
    file = Reader("birch/samples_arc_2026-01-02T03-04.jsonl")
    assert file.refused(text).startswith(sentence)


def judged(prompts: int, models: str = "abc") -> str:
    """Write marks of two judges on some prompts, in the columns of CJE."""
    rows = [
        (judge, prompt, model, 0.1 * ((prompt * 7 + place * 3 + len(judge)) % 9))
        for judge in ("ada", "bot")
        for prompt in range(prompts)
        for place, model in enumerate(models)
    ]
    return table(("judge", "prompt_id", "policy", "judge_score"), *rows)


def test_prompts_of_judges_are_clusters_and_it_is_said() -> None:
    ratings = Reader("draws.csv").read(judged(8))
    assert ratings.cluster_codes is not None
    assert len({*ratings.cluster_codes.tolist()}) == 8
    facts = next(w for w in ratings.notices if w.code == "prompts").facts
    assert facts == {"column": "prompt_id", "prompts": 8}
    assert eh.rank(ratings, method="mean", rng=7).uncertainty.clusters == 8  # type: ignore[union-attr]  # known
    # What a method does not use by itself is no reason to refuse it.
    assert eh.rank(ratings, method="safe", rng=7).order


@pytest.mark.parametrize(
    ("prompts", "options"),
    [(5, {}), (8, {"cluster": "none"}), (8, {"reviewer": "judge+prompt_id"})],
)
def test_few_prompts_or_a_word_leave_clusters_out(
    prompts: int, options: dict[str, Any]
) -> None:
    ratings = Reader("draws.csv").read(judged(prompts), **options)
    assert ratings.cluster_codes is None
    assert "prompts" not in {warning.code for warning in ratings.notices}


def test_a_named_cluster_counts_before_the_prompt() -> None:
    text = judged(12).replace("prompt_id", "prompt_id,topic", 1)
    lines_ = text.splitlines()
    rows = [line.split(",") for line in lines_[1:]]
    more = [",".join([a, b, f"t{int(b) // 2}", *rest]) for a, b, *rest in rows]
    again = "\n".join([lines_[0], *more]) + "\n"
    ratings = Reader("draws.csv").read(again, cluster="topic")
    assert len({*ratings.cluster_codes.tolist()}) == 6  # type: ignore[union-attr]  # named


def test_k_samples_of_one_judge_are_repeats_of_a_prompt() -> None:
    rows = [
        (prompt, policy, draw, 0.1 * ((prompt + draw) % 7))
        for prompt in range(8)
        for policy in "ab"
        for draw in range(3)
    ]
    ratings = Reader("draws.csv").read(
        table(("prompt_id", "policy", "draw_idx", "judge_score"), *rows)
    )
    assert ratings.n_reviewers == 24
    assert len({*ratings.cluster_codes.tolist()}) == 8  # type: ignore[union-attr]  # prompts
