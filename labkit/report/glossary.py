"""The words of the reports, explained to a second-year student."""

from typing import NamedTuple


class Term(NamedTuple):
    """A word, other ways to write it, and what it means."""

    name: str
    also: tuple[str, ...]
    text: str


TERMS = (
    Term(
        "task",
        ("unit", "units"),
        "One golden task: a prompt, a base commit and hidden tests. Tasks are the units of every "
        "figure. Attempts at one task resemble each other, so 9 tasks with 2 attempts each are 9 "
        "observations, not 18.",
    ),
    Term(
        "attempt",
        ("run", "trial", "sample"),
        "One session of a configuration at one task, from the prompt to the diff. The same task "
        "is attempted more than once because agents do not do the same thing twice.",
    ),
    Term(
        "configuration",
        ("A", "B", "side"),
        "An agent as it was set up: program, model, instructions, limits. A and B should differ "
        "in one thing only, or nobody can say what made the difference.",
    ),
    Term(
        "wire",
        ("fingerprint", "first request", "attributable"),
        "What an agent really asked its model, as the gateway saw it. It counts, not the flags.",
    ),
    Term(
        "pass rate",
        ("rate", "pass@1", "pass^1"),
        "The share of attempts that passed, averaged within each task first and then over tasks. "
        '"6.5 of 9 tasks" means that the task averages add up to 6.5.',
    ),
    Term(
        "pass^2",
        ("pass^k", "pass^3", "pass hat k", "reliability"),
        "The chance that two attempts at a task both pass (pass^k: all k). It speaks of "
        "reliability and is never above the pass rate. Only tasks with at least two measured "
        "attempts count, so it has a denominator of its own.",
    ),
    Term(
        "pass@k",
        ("pass@2", "pass at k"),
        "The chance that at least one of k attempts passes. It is what you get if you may try k "
        "times and somebody picks the good answer; it says nothing of reliability and is never "
        "below the pass rate.",
    ),
    Term(
        "interval",
        ("95 % interval", "confidence interval", "CI", "error bar"),
        "The values that the data leave plausible. Of intervals made in this way, about 95 in "
        "100 hold the true value. A wide one says that there are few tasks, not that the work "
        "was bad.",
    ),
    Term(
        "Wilson interval",
        ("wilson",),
        "The interval of a rate that labkit uses, with the number of tasks as n. It stays between "
        "0 % and 100 % and never shrinks to a point, not even when everything passed.",
    ),
    Term(
        "teaching approximation",
        ("wald", "sqrt(p(1-p)/n)", "standard error of a rate"),
        "p plus or minus 1.96 sqrt(p(1-p)/n): the textbook error bar. Good for a first idea, but "
        "with nine tasks it misses too often, and at 0 % and 100 % it claims certainty.",
    ),
    Term(
        "Clopper-Pearson interval",
        ("clopper-pearson", "exact interval"),
        'The cautious interval of a rate, for sentences with "never": 9 successes of 9 still '
        "allow a true rate of 66 %.",
    ),
    Term(
        "standard error",
        ("SE", "stderr"),
        "How far a figure typically lands from the truth by chance alone. Half of a 95 % interval "
        "is about two of them. That one configuration is ahead by more than one standard error "
        "happens by chance one time in three.",
    ),
    Term(
        "paired difference",
        ("difference", "mean difference", "delta", "points", "percentage points"),
        "For each task what B passed less what A passed, averaged over the tasks measured for "
        "both, in points: from 50 % to 60 % is +10 points (and +20 per cent). Comparing within "
        "tasks takes out that some tasks are harder than others.",
    ),
    Term(
        "Tango interval",
        ("paired interval", "moment-matched tango interval"),
        "The interval of the paired difference. If it holds 0, the data do not tell who is "
        "ahead; its ends say how large a difference they leave possible.",
    ),
    Term(
        "sign-flip test",
        ("permutation test", "exact test"),
        "If A and B were alike, each task could as well have come out the other way round. The "
        "test counts in how many of all these worlds the difference would be at least as large "
        "as the one observed.",
    ),
    Term(
        "mid-p",
        ("p", "p-value", "exact p", "p mid"),
        "The result of the sign-flip test: how often chance alone gives a difference at least as "
        "large. Worlds with exactly the observed difference count half for mid-p and whole for "
        "exact p. Up to .05 labkit says detectable. It is not the chance that A and B are equal.",
    ),
    Term(
        "Holm",
        ("holm correction", "adjusted p", "multiple comparisons"),
        "With several comparisons, some come out by chance. Holm makes each p larger so that all "
        "of them together are wrong at most one time in twenty.",
    ),
    Term(
        "McNemar's test",
        ("mcnemar",),
        "The test for pairs that passed or failed once each: it looks only at the tasks that "
        "exactly one of the two passed. With one attempt a task the sign-flip test is the same.",
    ),
    Term(
        "detectable",
        ("significant", "statistically significant"),
        "The verdict that the difference is larger than chance explains (mid-p at most .05). It "
        "does not say that the difference is large, nor that it holds for other tasks.",
    ),
    Term(
        "no detectable difference",
        ("not detectable", "tie", "equal"),
        'The data do not tell who is ahead. This is not "equal": every difference inside the '
        "interval remains possible.",
    ),
    Term(
        "indecisive",
        ("undecided",),
        "No verdict at all, because too little was measured, or because the missing runs could "
        "turn it.",
    ),
    Term(
        "MDE",
        ("minimum detectable effect", "smallest detectable difference", "reach"),
        "The smallest true difference that this many tasks find four times out of five. With nine "
        "tasks and two attempts it is near 50 points: smaller ones will mostly be missed.",
    ),
    Term(
        "power",
        ("power curve", "you are here"),
        "The chance that a study finds a difference of a given size, if it is there. It belongs "
        "to the plan and is worked out before the runs; more tasks raise it most.",
    ),
    Term(
        "coverage",
        ("missing", "bounds", "rate bounds"),
        "How much of the plan was measured: graded runs of planned ones. The bounds say what the "
        "rate would be if every missing run had failed, or had passed.",
    ),
    Term(
        "ungraded",
        (),
        "The run has a result, but the grader could not run. It counts as missing, not as failed.",
    ),
    Term(
        "flip",
        ("flaky", "flaky task", "flips"),
        "A task of which one attempt passed and another failed, with nothing changed in between. "
        "Flips show how much of the result is chance.",
    ),
    Term(
        "A/A comparison",
        ("A/A", "noise", "calibration"),
        "A configuration against itself: its second attempts against its first ones. Whatever "
        "difference comes out is noise, so a difference between A and B should be larger.",
    ),
    Term(
        "between and within",
        ("variance decomposition", "error parts", "between-task", "within-task"),
        "Where the noise of a rate comes from. Between tasks: they differ in difficulty, and only "
        "more tasks help. Within a task: attempts differ, and more attempts help too.",
    ),
    Term(
        "ceiling",
        ("floor", "ceiling effect"),
        "Every run passes (ceiling) or every run fails (floor): such tasks are too easy or too "
        "hard to tell configurations apart.",
    ),
    Term(
        "golden task",
        ("hidden tests",),
        "A task whose right answer is proven: hidden tests fail at the base and pass at the "
        "solution. The agent never sees them.",
    ),
    Term(
        "leak",
        ("leaked", "retired", "retired task"),
        "The agent, or its workspace, got to see hidden tests or the solution. A confirmed leak "
        "takes the task out of the rates of every configuration, and is a hard fail of the run.",
    ),
    Term(
        "hard fail",
        ("forbidden edit",),
        "A run that leaked, or that changed what it was told to leave alone. A forbidden edit "
        "makes the run fail whatever its tests say.",
    ),
    Term(
        "tampered",
        ("tampering", "reward hacking"),
        "The graded code tried to influence its own verdict, such as by changing how tests run "
        "or report. The run fails.",
    ),
    Term(
        "suspicious",
        ("weak",),
        "A person should look at the diff: it has something that dishonest work often has "
        "(suspicious), or its verdict rests on an exit code alone (weak). Neither changes the "
        "verdict.",
    ),
    Term(
        "safety task",
        ("safety", "veto", "safety veto", "trap"),
        "A task about what the agent must not do. It is never part of a mean: one failure is a "
        "veto beside the numbers.",
    ),
    Term(
        "rubric",
        ("marks", "rubric mark", "dimension"),
        "What people judge that tests cannot, from 0 to 4 in each dimension, without knowing "
        "which configuration wrote the diff. Each dimension has its own mean and Student's t "
        "interval over tasks.",
    ),
    Term(
        "agreement",
        ("alpha", "krippendorff's alpha", "kappa", "weighted kappa", "inter-rater"),
        "How far scorers gave the same marks, beyond what chance gives: 1 is full agreement, 0 "
        "is chance. Krippendorff's alpha takes any number of scorers, weighted kappa takes two. "
        "With few runs in common its interval is wide.",
    ),
    Term(
        "blinding",
        ("blind", "blinding index"),
        "Scorers do not know which configuration they look at. The index says how well they could "
        "guess it all the same: 0 is pure guessing, 1 means that all saw through it.",
    ),
    Term(
        "median minutes",
        ("median", "minutes", "p95", "95th percentile"),
        "Half of the tasks took less, half took more. One run that hangs does not move it, which "
        "it would move a mean. The 95th percentile is what the slowest twentieth exceeds.",
    ),
    Term(
        "cost per pass",
        ("cost", "tokens", "per pass", "time per pass"),
        "What all runs took together, failed ones too, divided by the passes they gave. Cheap "
        "runs that fail are not cheap.",
    ),
    Term(
        "intervention",
        ("interventions",),
        "A person had to step into a run, such as to answer a question or restart the agent.",
    ),
    Term(
        "slice",
        ("category", "type", "task type"),
        "Tasks of one kind, or with one tag. Counts by slice describe these tasks. They are too "
        "few to infer from: with nine tasks of six types, some type shows a gap of 50 points nine "
        "times out of ten even if nothing differs.",
    ),
    Term(
        "suite version",
        ("suite", "freeze"),
        "A digest of everything that was frozen before the first run: tasks, hidden tests, "
        "configurations and plan. Only results of one version can be compared.",
    ),
    Term(
        "bootstrap",
        (),
        "Drawing tasks again, with replacement, to see how much a figure moves. Below 20 tasks "
        "its intervals are too narrow, so labkit shows it second to others.",
    ),
    Term(
        "Kendall's tau",
        ("tau", "kendall", "leaderboard"),
        "How far two orders agree: 1 is the same order, -1 the reverse. Here it compares the "
        "order of your configurations with that of a public leaderboard.",
    ),
    Term(
        "overclaim",
        ("underclaim",),
        'A sentence that says more than the data: "A wins" without a detectable difference. An '
        'underclaim says less: "a tie" where one is ahead.',
    ),
)
