"""What the reader of a result must know, in words: one template for each code.

A warning is a code with facts (`evenhand.claims.DataWarning`). Its template is filled
in with the facts, in one of three lengths: the full sentence of JSON, reports and
--explain; a line for the terminal; and the plain one of a page's first screen. Lengths
that are equal are written once. Where one code has several causes, the fact `case`
names the template: "no_intervals/means".

A field of a template is shown as `format` does, or by these:

    {rows:#row}          4 rows
    {rows:was|were}      was if there is one, else were
    {items:list}         'x', 'y' and 3 more
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import plural, quote
from evenhand.words.check_sentences import SENTENCES, list_labels
from evenhand.words.claims import TIES_VOID, Wording, uneven_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.claims import DataWarning

    Facts = Mapping[str, Any]
    Length = Literal["full", "line", "plain"]


OWN_REVIEWER = (
    "Each of these counts as a reviewer of its own, so no person's scores of several "
    "items are compared."
)
EQUALLY_STRICT = (
    "Each score counts as a reviewer of its own: nothing says how strict anyone is, "
    "and scores are compared as if all were equally strict. If each label is one "
    "person, say reviewer='people' or --reviewer people."
)
STRICTNESS = (
    "Differences in strictness explain {rho:.0%} of the variance in scores, so "
    "adaptive "
)
NO_INTERVALS = "There are no intervals of ranks: "
GROUPS = "The items fall into {groups} groups that no reviewer links; "
LEVELS = (
    "Levels therefore say nothing between reviewers, whose offsets are 0 by "
    "construction; adaptive and bradley-terry use each reviewer's order alone."
)
ALIKE = "Labels that look alike are taken for different "
MERGED = " merged with others that look alike"
BLANKS = "Blanks around labels do not count, so spellings of "
AT_RANDOM = " are ordered at random: {groups:groups}."
LADDER = "The ladder is left out. "
NEEDED = "How many more reviews are needed takes a fitted model, and "

TEMPLATES: Mapping[str, str | Wording | Callable[[Facts], str | Wording]] = {
    # Reading a file.
    "missing_scores": "{rows:#row} without a score {rows:was|were} left "
    "out{examples:places}.",
    "missing_ranks": "{rows:#row} without a rank {rows:was|were} left "
    "out{examples:places}.",
    "unrated_items": "Items without any {noun} are not in the result: {items:list}.",
    "unrated_items/not_judged": "{unrated:,} of {total:#item} {unrated:was|were} not "
    "judged and {unrated:is|are} not in the result: {items:list}.",
    "unrated_items/middle": "{unrated:#item} without a rating stand in the middle.",
    "total_of_criteria": "Scores are totals of {criteria:names}: {total}.",
    "criterion_unranked": "Items have no estimates by {criterion}: {reason}",
    "missing_criteria/leave-out": "{rows:#rating} {rows:lacks|lack} a score for a "
    "criterion ({criteria:counts}) and {rows:has|have} no total; say "
    "--missing-criteria rescale to take the mean of the others.",
    "missing_criteria/rescale": "{rows:#rating} {rows:lacks|lack} a score for a "
    "criterion ({criteria:counts}): the total is the mean of the others, as you asked.",
    "constant_criterion": "'{criterion}' is {score:g} in every rating, so it changes "
    "nothing: leave it out.",
    "idle_reviewers": "{reviewers:#reviewer} without any score left out.",
    "rows_are_reviewers": "No column names the reviewers, so each row counts as "
    "another reviewer.",
    "coded_reviewers": "Reviewers are shown by codes. Draws follow the order of their "
    "names, so a repeat needs the key.",
    "similar_reviewers": f"{ALIKE}reviewers: {{pairs:alike}}. If they are the same, "
    "merge them with merge= or --column merge=reviewer.",
    "similar_items": f"{ALIKE}items: {{pairs:alike}}. If they are the same, merge them "
    "with merge= or --column merge=item.",
    "merged_reviewers": f"{{labels:#label}} of reviewers{MERGED}{{pairs:into}}.",
    "merged_items": f"{{labels:#label}} of items{MERGED}{{pairs:into}}.",
    "blanks_reviewers": f"{BLANKS}{{labels:#reviewer}} were merged{{pairs:bare}}.",
    "blanks_items": f"{BLANKS}{{labels:#item}} were merged{{pairs:bare}}.",
    "score_base": "Scores of {column!r} are out of {base:g}: {example} counts as "
    "{number:g}.",
    "words_as_steps": "Words of {column!r} stand for numbers: {steps:steps}. Methods "
    "that use the sizes of scores take these steps as equal.",
    "encoding": "The file is not UTF-8 (byte {byte} on line {line}); read as "
    "{encoding}. If names look wrong, say encoding= or --encoding.",
    "no_header": "The first line holds scores, so that there are no names: rows and "
    "columns are numbered.",
    "numbers_for_words": "Scores are the numbers of {column!r}, which say the same as "
    "{words!r}: {steps:steps}.",
    "lower_is_better": "Lower is better in {column!r}, as you said: its scores are "
    "shown with a minus sign.",
    "higher_is_better": "Higher is better in {column!r}, though its name suggests the "
    "opposite. If lower is better, say lower_is_better=True or --lower-is-better.",
    "repeats/last": "{ratings:#earlier rating} of the same item by the same reviewer "
    "left out: the last in the file counts, as you asked.",
    "repeats/mean": "{ratings:#repeated rating} of the same item by the same reviewer: "
    "their mean counts once, as you asked.",
    "repeats/all": "{ratings:#repeated rating} of the same item by the same reviewer "
    "kept, as you asked, each as that of a further reviewer, such as 'anna#2' beside "
    "'anna'. One person's ratings are not independent, so errors may be too small.",
    "other_columns": "{columns:#other column} left out: {names:list}.",
    "decimal_commas": "Commas in numbers are read as decimal points.",
    "excluded": "{ratings:#rating} left out as you asked.",
    "self_ratings": "{ratings:#rating} of the reviewer's own item kept{reviewers:of}. "
    "Leave such ratings out with exclude= or --exclude self.",
    "shared_names": "A name has several e-mails, so reviewers are known by their "
    "e-mails.",
    "earlier_responses": "{scores:#earlier score} of the same person for the same item "
    "left out: the last in the file counts.",
    "earlier_responses/by_name": "{scores:#earlier score} of the same person for the "
    "same item left out: the last in the file counts. If two people share a name, give "
    "them labels of their own first.",
    "pseudonyms/hotcrp": "{share:Review} do not say who wrote them. " + OWN_REVIEWER,
    "pseudonyms/cmt": "{share:Reviewer} are numbered anew for each paper. "
    + OWN_REVIEWER,
    "pseudonyms/openreview": "{share:Review} are signed with a pseudonym for one paper "
    "only, so the same person cannot be recognised again. Each of these counts as a "
    "reviewer of its own, and no person's scores of several items are compared.",
    "pseudonyms/easychair": "No reviewer is named: each review counts as a reviewer of "
    "its own, so no two scores can be compared as one person's.",
    "pseudonyms/form": "Responses do not say who wrote them. Each counts as a reviewer "
    "of its own.",
    "pseudonyms/numbered": "Reviewers are numbered from {first} within every item. If "
    "the numbers start again for each item, they are seats, and nobody's scores of "
    "several items may be compared: say reviewer='seats' or --reviewer seats. If each "
    "number is one person, say reviewer='people' or --reviewer people.",
    "pseudonyms/sections": "The {labels} reviewers are taken for the same people in "
    "all {sections} sections. If their numbers start again in each, they are {people} "
    "people: say --reviewer {joined}.",
    "pseudonyms/one_item": "Reviewers look like pseudonyms for one item: all but "
    "{several:,} of {reviewers:,} rated one item only. " + EQUALLY_STRICT,
    "seats": "The {seats} reviewers are seats, not people: items fill their numbers "
    "from the first on, {least} to {most} of them. " + EQUALLY_STRICT,
    "other_entries": "{rows:#row} without a review left out.",
    "meta_reviews": "{rows:#row} with a metareview left out.",
    "unfinished_reviews": "{rows:#row} with a review that was not submitted left out.",
    "other_notes": "{rows:#note} of another kind than a review left out.",
    "deleted_notes": "{rows:#note} marked as deleted left out.",
    "withdrawn_items": "{rows:#note} on withdrawn or desk-rejected submissions left "
    "out.",
    "older_versions": "{rows:#review} of an older version left out.",
    "deleted_submissions": "{rows:#review} of deleted submissions left out.",
    "subreviews": "{reviews:#review} written by a subreviewer: the reviewer is who "
    "wrote it, not the member.",
    "zero_weights": "{rows:#assessment} of weight 0 left out, as Moodle does.",
    "example_submissions": "{rows:#assessment} of example submissions left out.",
    "self_assessments": "{rows:#{noun}} of the reviewer's own work left out.",
    "unlisted_submissions": "{rows:#assessment} of submissions that are not in the "
    "other file left out.",
    "not_done": "{rows:#review} without any points left out.",
    "failed_votes": "{rows:#vote} that failed left out.",
    "unscored_comments": "{rows:#comment} without a score left out.",
    "repeated_records": "{rows:#review} that {rows:repeats|repeat} another word for "
    "word left out.",
    "cancelled_answers": "{rows:#answer} that {rows:was|were} not submitted left out.",
    "empty_lists": "{rows:#record} without any {list!r} left out.",
    "failed_judgments": "{rows:#judgment} without a score left out.",
    "control_items": "{rows:#judgment} of control items left out.",
    "prompts": "Judgments of one prompt are no independent evidence, so each "
    "{column} ({prompts:,} of them) is a cluster; cluster='none' or --cluster none "
    "undoes it.",
    "error_points": "A segment loses 25 by a non-translation, 5 by a major error, 1 by "
    "a minor one and .1 by one of punctuation (MQM, WMT weights).",
    "skipped_decisions": "{rows:#decision} without a winner or a loser left out.",
    "submissions_unknown": "Without the table of submissions and its columns "
    "'authorid' and 'example', assessments of example submissions and of one's own "
    "work cannot be recognised. Give it with companion= or --with.",
    "weights_used": "Ratings count by weights, but not in columns mean score and "
    "spread.",
    "confidence": "Scores at the highest confidence, {highest!r}, vary {spread:.2f} "
    "times as much as at the lowest, {lowest!r}, so that each counts {weight:.3g} "
    "times as much. This is estimated from the scores; columns mean score and spread "
    "do without it.",
    "confidence/alike": "Confidence counts for nothing: beyond chance, scores vary "
    "as much at the highest, {highest!r}, as at the lowest, {lowest!r}.",
    "missing_confidence": "{rows:#rating} without a confidence {rows:counts|count} as "
    "of level {level!r}.",
    "weights_unused": "Method {method!r} does not use weights: every rating counts "
    "once.",
    "weights_unused/moodle": "Weights of assessments differ, but are not used: each "
    "counts once.",
    # Counts instead of ratings.
    "from_counts/checked": "From counts: reviewers were not seen. That nobody gave two "
    "of the scores was checked when they were counted.",
    "from_counts/declared": "From counts: reviewers were not seen. That nobody gave "
    "two of the scores is declared.",
    "from_counts/per_item": "From counts: reviewers were not seen. Reviewers scored "
    "several items.",
    "from_counts/pairs": "From counts of pairs: left out are reviewers' own orders, "
    "and all that is worked out from single ratings.",
    # Two items.
    "unequal_counts": Wording(
        "{items[0]!r} has {scores[0]:#score} and {items[1]!r} has {scores[1]:,}, so "
        "votes pair {pairs:,} of each. If reviewers were assigned at random, the "
        "counts differ by chance and nothing need be done. For these counts alone, "
        "means, medians and rules of your own can be worse than a coin; on average "
        "over all counts that could have come out they are not (Theorem G).",
        "{items[0]!r} has {scores[0]:#score} and {items[1]!r} has {scores[1]:,}, so "
        "votes pair {pairs:,} of each. If reviewers were assigned at random, the "
        "counts differ by chance and nothing need be done.",
    ),
    "sampled_pairings": "p_first is estimated from {pairings} sampled pairings, "
    "standard error {error:.2g}; there are too many pairings for the exact average.",
    "groups_unknown": "There are no p-values: nothing says which {group} each reviewer "
    "belongs to. Name the column with --column pair=COLUMN, or give the assignment.",
    "both_dropped": "Reviewers who scored both items are left out: {reviewers:list}.",
    "both_decided": "{reviewers:#reviewer} scored both items and put {winner!r} above "
    "{loser!r}; that decides, and no other score was used.",
    "counts_contradict_design": lambda facts: (
        f"The counts contradict the design: {uneven_counts(facts)}, if whether people "
        "answer has nothing to do with their item. So nothing is claimed, and the "
        "p-values do not hold. Find out who did not answer, and why."
    ),
    "gap_beyond_floats/votes": "Some gaps in scores are so large that this weight all "
    "but decides their votes. There a larger gap weighs more by less than p_first "
    "shows.",
    # Many items.
    "gap_beyond_floats/coins": "Some gaps in scores are so large that this weight all "
    "but decides their coins. There a larger gap weighs more by less than p_first "
    "shows.",
    "gap_beyond_floats/ties": "Some gaps are so large that the noise hardly ever "
    'reverses them; there the guarantee is no more than "not worse than random". A '
    "larger noise, chosen before scores are seen, would mend that.",
    "no_free_pairs/coins": "No pair of items was free to be settled by a coin on its "
    "scores, so the ranking is an ordinal one.",
    "no_free_pairs/ties": "No items that the comparisons hold for equal had scores to "
    "settle them, so the ranking is an ordinal one.",
    "ties_within_reviewers": "{reviewers:#reviewer} gave equal scores to several "
    f"items; {TIES_VOID}.",
    "ties_within_reviewers/split": "{reviewers:#reviewer} gave equal scores to several "
    "items; the claim is no longer strict.",
    "unequal_loads": "Reviewers scored from {least} to {most:#item} each; the ranking "
    "guarantees need equal loads.",
    "tied_means": f"Items with equal means{AT_RANDOM}",
    "tied_estimates": f"Items with equal estimates{AT_RANDOM}",
    "tied_mean_ranks": f"Items with equal mean ranks{AT_RANDOM}",
    "tied_mean_ranks/proxy": f"Items with equal proxies of mean ranks{AT_RANDOM}",
    "rank_outside_interval": Wording(
        "{outside:,} of {items:,} items {outside:has a rank outside its|have a rank "
        "outside their} {level:percent} interval, most of all {item!r} (rank {rank:,}, "
        "ranks {low:,} to {high:,}). A rank is where this order puts an item, the "
        "interval where it probably stands; items with few reviews may be better or "
        "worse than they look.",
        "{outside:,} of {items:,} items {outside:has a rank outside its|have a rank "
        "outside their} {level:percent} interval, most of all {item!r} (rank {rank:,}, "
        "ranks {low:,} to {high:,}). Items with few reviews may be better or worse "
        "than they look.",
    ),
    "likelier_by_share": Wording(
        "By rank these {k:,} hold {chosen:.1f} of the true best {k:,} on average; the "
        "{k:,} with the largest shares would hold {best:.1f}. The order by rank has "
        "the highest values on average. To choose the items that are likeliest to be "
        "the best {k:,}, say --top share={k} (in Python top='share={k}').",
        "By rank these {k:,} hold {chosen:.1f} of the true best {k:,} on average; the "
        "{k:,} with the largest shares would hold {best:.1f}. To choose those, say "
        "--top share={k}.",
    ),
    "common_items/apart": "Everybody was given {items:list}: they help to compare "
    "reviewers, and are not ranked themselves.",
    "common_items/ranked": "Everybody was given {items:list}, which are ranked, too; "
    "methods by values, such as adaptive, leave them out.",
    "separate_groups": "The comparisons leave {groups} separate groups of items; items "
    "of different groups cannot be ordered by comparisons.",
    "no_information": Wording(
        "Reviewers agree about the items no more than random ratings would (mean "
        "correlation of two reviewers {correlation:.2f}, p = {p:.2f}). These ratings "
        "carry no detectable information about the items, so any order of them may be "
        "chance.",
        plain="Reviewers agree about the items no more than random ratings would.",
    ),
    "closure_proxy": "Mean ranks are not averages over orderings here but a proxy, the "
    "middle of the ranks that the comparisons allow: (n + 1 + items above - items "
    "below) / 2. It respects every comparison and in our experiments its Kendall tau "
    "was within a few per cent of that of mean ranks.",
    "sampled_orderings": "Mean ranks are from {samples:,} random orderings; their "
    "largest standard error is {error:.2g}.",
    "split_reviewers/contradict": "Reviewers contradict each other, so {ordered} of "
    "them, drawn at random, made {groups} groups of items, and the scores of the other "
    "{breakers} sorted each group.",
    "split_reviewers/always": "Reviewers are split always, so {ordered} of them, drawn "
    "at random, made {groups} groups of items, and the scores of the other {breakers} "
    "sorted each group.",
    "no_intervals": f"{NO_INTERVALS}method {{method!r}} does not say how sure it is. "
    "Methods such as 'adaptive' do.",
    "no_intervals/apart": f"{NO_INTERVALS}no reviewer links some groups of items, and "
    "counts of pairs do not say how their errors go together. Take the ratings "
    "themselves.",
    "no_intervals/means": f"{NO_INTERVALS}counts of pairs do not say how sure means "
    "are. Take the ratings themselves.",
    "independent_errors": "Intervals of ranks take the errors of different items for "
    "independent, as reviewers were not seen.",
    "intervals_by_cluster": "Intervals of ranks are by cluster ({clusters:,} of them), "
    "as reviewers of one cluster may err together.",
    "reviewer_offsets/across": f"{STRICTNESS}compares scores across reviewers.",
    "reviewer_offsets/in_part": f"{STRICTNESS}weighs both the scores and "
    "each reviewer's own order.",
    "reviewer_offsets/orders": f"{STRICTNESS}relies mostly on each "
    "reviewer's own order.",
    "reviewer_offsets/unknown": "Differences in strictness cannot be estimated here; "
    "scores are compared as if there were none.",
    # Models.
    "fixed_sums/votes": "{who:who} gave two items scores that add up to {total:g}, as "
    f"votes do. {LEVELS}",
    "fixed_sums/budget": "{who:who} gave scores that add up to {total:g}, as a fixed "
    f"budget does. {LEVELS}",
    "fixed_sums/by_number": "{who:who} gave scores whose sum depends only on how many "
    f"items they scored. {LEVELS}",
    "fixed_sums/ranks": "{who:who} gave the ranks from 1 to the number of their items "
    "as scores, higher for better. If 1 is the best, read them as ranks: --column "
    f"rank=COLUMN. {LEVELS}",
    "equal_scores": "Every score is the same, so the ratings do not distinguish items.",
    "not_converged": "The fit stopped before it had settled; estimates are "
    "approximate.",
    "one_rating_reviewers": "{reviewers:#reviewer} gave one rating only, so nothing "
    "says how strict they are.",
    "outside_window": lambda facts: (
        "Scores within the window, of reviewers whose time is over: "
        + ", ".join(
            f"{kept:,} of {size:,} of {item!r}"
            for item, kept, size in zip(
                facts["items"], facts["in_time"], facts["scores"], strict=True
            )
        )
        + ". Very different shares would mean that an item is answered more slowly: "
        "choose a longer window."
    ),
    "ordered_by_answers": "Nothing says when items were assigned, so scores are in the "
    "order of the answers. The evidence holds only if, given the answers so far, who "
    "answers next does not depend on the item. The share of {item!r} in each fifth of "
    "time was {shares}; a drift would speak against it, a constant share proves "
    "nothing.",
    "one_item_each": "Each reviewer rated one item, so nobody links the {items} items. "
    "If they were assigned at random, use compare: it tests which are better, whatever "
    "scales reviewers use.",
    "extreme_score": "The score {score:.3g} is more than a million times as far out as "
    "most; methods that use scores see little else. Check it.",
    "unlinked_groups/prior": f"{GROUPS}across groups only the prior compares their "
    "values.",
    "unlinked_groups/equal": f"{GROUPS}they are compared as if all groups were equally "
    "good.",
    "unlinked_groups/around_zero": f"{GROUPS}each group's values lie around 0, and "
    "groups are not compared.",
    "unlinked_groups/shares": f"{GROUPS}shares won in different groups say nothing "
    "about each other.",
    "unlinked_groups/orders": f"{GROUPS}levels mean little across reviewers here, so "
    "groups are not comparable.",
    "unlinked_groups/levels": Wording(
        f"{GROUPS}across groups only the level of scores compares items, which "
        "stricter or more lenient reviewers would explain as well.",
        plain=f"{GROUPS}only the level of scores compares them.",
    ),
    "no_spread": "{reviewers:#reviewer} gave all their items the same score; each "
    "counts as 0.",
    "confounded/reviewers": "Reviewers' offsets cannot be told from the rest here; "
    "they count as rest.",
    "confounded/items": "Items' values cannot be told from the rest here; half of it "
    "counts as value.",
    "no_noise": "Offsets and values explain the scores almost without error, so the "
    "variance of the rest was held at 1/1,000 of the larger of theirs.",
    "orders_only": "There are no scores, so only the order of each reviewer counts.",
    # Marks.
    "scores_mislead": "Each reviewer's order predicts better than the scores behind "
    "it, so marks by scores may mislead. Give anchors with different marks, so that "
    "orders can be used.",
    "form_assumed/marks": "Assumed that scores already use the {low:g}-{high:g} scale. "
    "Set the form's range with form= or --form LOW HIGH.",
    "form_assumed/ends": "The lowest and the highest score, {low:g} and {high:g}, were "
    "taken to stand for the lowest and the highest mark. Set the form's range with "
    "form= or --form LOW HIGH.",
    "anchors_differ": "The anchors' marks and the reviewers' scores differ by more "
    "than errors explain, so all errors are {factor:.2g} times as large.",
    "unequal_reliability": "Reviewers differ much in reliability (unreliable: "
    "{reviewers:list}). With --method 'adaptive(reliabilities)' they count less; "
    "`evenhand check` says more.",
    "scales_differ": "{wide!r} spreads scores {factor:.0f} times as widely as "
    "{narrow!r}. Each reviewer's scores were divided by their own spread. If one scale "
    "was meant, correct the file.",
    "judges_unrelated": "What judges say has no clear relation to people's marks "
    "(correlation {correlation:.2f}), so marks of single items are the mean of these.",
    # Diagnosis.
    "pairs_sampled": "There are too many pairs of items to count them all; some items "
    "of each busy reviewer were chosen at random.",
    "no_ladder/ranks": f"{LADDER}There are only ranks, no scores, so nothing but each "
    "reviewer's order can be used.",
    "no_ladder/comparisons": f"{LADDER}There are only comparisons, no scores, so "
    "nothing but each reviewer's order can be used.",
    "no_ladder/too_many": f"{LADDER}Reviewers made more than {{most:,}} comparisons, "
    "which would take too long.",
    "no_ladder/none_apart": f"{LADDER}No reviewer gave two items different scores, so "
    "there is no comparison to predict.",
    "no_ladder/one_apart": f"{LADDER}Only one reviewer gave two items different "
    "scores, so nobody else's ratings can predict what they put higher.",
    "no_ladder/none_tried": f"{LADDER}The part of the reviewers that was tried made no "
    "comparison: nothing can be tested.",
    "no_ladder/one_tried": f"{LADDER}One comparison only: nothing can be tested.",
    "no_needed/no_scores": f"{NEEDED}there are no scores to fit it to.",
    "no_needed/rated_once": f"{NEEDED}items' values cannot be told from the rest, as "
    "no item was rated twice.",
    "no_needed/fixed_sums": f"{NEEDED}it does not know that the form fixes reviewers' "
    "sums of scores.",
    "no_needed/no_spread": f"{NEEDED}it sees no difference between the items, or no "
    "noise.",
    **SENTENCES,
    # The laboratory.
    "no_theorem": "With {items:#item} and {reviewers:#reviewer} no theorem of the "
    "paper applies: it takes more than 2 items, more than 1 reviewer and fewer "
    "reviewers than pairs of items.",
    "no_theorem/figure": "n = 3: m = 1 is outside 1 < m < n(n-1)/2; no theorem "
    "applies.",
    "ties_within_reviewers/rank_trials": "In {percent:.3g}% of trials a reviewer gives "
    f"equal scores to unequal items; {TIES_VOID}.",
    "ties_within_reviewers/compare_trials": "In {percent:.3g}% of trials a reviewer "
    "gives equal scores to unequal items; ties leave 'never worse than a coin', not "
    "'strictly better'.",
    "fair_coin": "The start is the best ordinal ranking for exact recovery, not for "
    "Kendall tau: even fair coins on the same pairs improve it, so the gain of flips "
    "over fair-coin is what the scores bring.",
    "read_off_plot": "The paper's maximum, approximately (25%, 9%) at gamma = 1, was "
    "read off a plot: the point is ({perfect:.2f}%, {biased:.2f}%).",
}


def warning_text(warning: DataWarning, length: Length = "full") -> str:
    """Say a warning in words.

    Examples:
        >>> from evenhand.claims import DataWarning
        >>> warning_text(DataWarning("excluded", {"ratings": 1}))
        '1 rating left out as you asked.'
    """
    facts = warning.facts
    key = f"{warning.code}/{facts['case']}" if "case" in facts else warning.code
    template = TEMPLATES[key]
    fill = not callable(template)
    words = template(facts) if callable(template) else template
    if isinstance(words, Wording):
        line = words.line or words.full
        lengths = {"full": words.full, "line": line, "plain": words.plain or line}
        words = lengths[length]
    return _FORMATTER.vformat(words, (), facts) if fill else words


def codes() -> list[str]:
    """Return all codes, in the order of the templates.

    Examples:
        >>> codes()[:2]
        ['missing_scores', 'missing_ranks']
    """
    return list(dict.fromkeys(key.partition("/")[0] for key in TEMPLATES))


class _Formatter(string.Formatter):
    """Fills in templates, with fields that are shown as the module says."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - facts
        if format_spec in SHOWN:
            return SHOWN[format_spec](value)
        if format_spec in ("Review", "Reviewer"):
            return _part_of(value, format_spec)
        if format_spec.startswith("#"):
            return plural(value, format_spec[1:])
        if "|" in format_spec:
            singular, many = format_spec.split("|")
            return singular if value == 1 else many
        return format(value, format_spec)


def _more(few: Facts) -> str:
    """Say how many more there are than the first few."""
    more = few["number"] - len(few["first"])
    return f" and {more:,} more" if more > 0 else ""


def _part_of(share: list[int], noun: str) -> str:
    """Begin a sentence about all, or about some of them."""
    part, everything = share
    if part == everything:
        return f"{noun}s"
    return f"{part} of {plural(everything, noun.lower())}"


def _who(share: list[int]) -> str:
    part, everything = share
    if part == everything:
        return f"Each of {plural(part, 'reviewer')}"
    return f"{part:,} of {everything:,} reviewers"


def _list_groups(groups: Facts) -> str:
    parts = [list_labels(group) for group in groups["first"]]
    more = groups["number"] - len(parts)
    parts += [f"and {plural(more, 'group')} more"] if more > 0 else []
    return "; ".join(parts)


def _list_places(few: Facts) -> str:
    places = ", ".join(f"item {item} by {reviewer}" for item, reviewer in few["first"])
    return f": {places}{_more(few)}" if places else ""


def _spell_pairs(between: str, pairs: Facts, before: str = ": ") -> str:
    if not pairs["first"]:
        return ""
    shown = (f" {between} ".join(map(quote, pair)) for pair in pairs["first"])
    return f"{before}{', '.join(shown)}{_more(pairs)}"


SHOWN: Mapping[str, Callable[[Any], str]] = {
    "list": list_labels,
    "of": lambda few: f": {list_labels(few)}" if few["first"] else "",
    "groups": _list_groups,
    "alike": lambda pairs: _spell_pairs("and", pairs, ""),
    "into": lambda pairs: _spell_pairs("into", pairs),
    "bare": lambda pairs: _spell_pairs("is", pairs),
    "steps": lambda steps: ", ".join(f"{word} = {step:g}" for word, step in steps),
    "counts": lambda counts: ", ".join(f"{name}: {rows:,}" for name, rows in counts),
    "names": lambda names: f"{len(names)} criteria",
    "places": _list_places,
    "percent": lambda share: f"{100 * share:g}%",
    "who": _who,
}
_FORMATTER = _Formatter()
