"""pass^k and pass@k of one task, unbiased, from n attempts of which c passed.

Both draw k of the n attempts without putting them back. Putting the observed rate into the formula
instead, (c/n)^k or 1-(1-c/n)^k, is biased: too high for pass^k, too low for pass@k. The second is
here under its own name, to compare with figures that were made with it.
"""

from math import comb


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Estimate pass^k, the chance that all of k attempts pass: C(c,k)/C(n,k).

    Source: Yao et al. 2024, tau-bench. Raises ValueError unless 0 <= c <= n and 1 <= k <= n: with
    fewer than k attempts it is undefined, not 0.
    """
    _check_counts(n, c, k)
    return comb(c, k) / comb(n, k)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Estimate pass@k, the chance that at least one of k attempts passes: 1 - C(n-c,k)/C(n,k).

    Source: Chen et al. 2021, HumanEval. Raises ValueError as `pass_hat_k` does.
    """
    _check_counts(n, c, k)
    return 1 - comb(n - c, k) / comb(n, k)


def plug_in_pass_at_k(n: int, c: int, k: int) -> float:
    """Return 1-(1-c/n)^k, which is too low for pass@k on average; exact only for k = 1.

    1-(1-x)^k is concave, so by Jensen's inequality its mean over samples lies below its value at
    the true rate: at n = 5, k = 2 and a rate of one half the truth is 0.75, and this 0.70 on
    average. Only for comparison with others' figures; use `pass_at_k`. Raises ValueError as
    `pass_hat_k` does.
    """
    _check_counts(n, c, k)
    return 1 - ((n - c) / n) ** k


def _check_counts(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"{c} passes of {n} attempts are impossible")
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} is undefined for {n} attempts")
