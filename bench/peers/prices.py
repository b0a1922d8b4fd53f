"""The prices that penalised peers are told: those at which k features are best, and of these the one that suits each peer.

Which price in the interval it is does not change the answer, but the time of a peer by a factor of a hundred. Nobody who has
a penalised solver would look for the worst one, so each peer is given its fastest.
"""

# Places in the interval, as shares of its length, in the order in which they are tried.
SHARES = (0.6, 0.4, 0.8, 0.2, 0.95, 0.05)


def interval(values, k):
    """The prices that make k best among all sizes of `values` (size -> objective), or the largest size below it that has
    such prices: (size, low, high). None where there is none.
    """
    for size in range(k, min(values), -1):
        low = max((values[size] - values[more]) / (more - size) for more in values if more > size)
        high = min((values[less] - values[size]) / (size - less) for less in values if less < size)
        if max(low, 0) < high:
            return size, max(low, 0.0), high
    return None


def at(found, share):
    """The price at a share of an interval."""
    _, low, high = found
    return low + share * (high - low)


def fastest(ask, found, time_limit):
    """A peer's answer at the price at which it is fastest. `ask(price, time_limit)` is one run. A run that takes longer than
    the best one so far is of no use and is cut off there. The answer says what was tried.
    """
    size = found[0]
    best, other, tried = None, None, []
    for share in SHARES:
        limit = best["seconds"] if best else time_limit
        answer = ask(at(found, share), limit)
        count = len(answer.get("coefficients") or {})
        tried.append({"share": share, "status": answer["status"], "seconds": answer.get("seconds"), "size": count})
        is_right = answer["status"] == "optimal" and count == size
        if is_right and (best is None or answer["seconds"] < best["seconds"]):
            best = answer
            best["share"] = share
        elif best is None and (other is None or rank(answer) < rank(other)):
            other = answer
        if answer["status"] in ("unsupported", "failed"):
            break
    answer = best or other
    answer["tried"] = tried
    return answer


def rank(answer):
    """Of answers that are no solutions: one with another number of features says more than one that was cut off."""
    order = ("optimal", "time_limit", "failed", "unsupported")
    return order.index(answer["status"]) if answer["status"] in order else len(order)
