"""The prices given to penalised peers: those at which k features are best, and among these the fastest for each peer.

The price within the interval does not change the answer, but it changes the time of a peer by up to a factor of a
hundred. A user of a penalised solver would not look for the worst price, so each peer gets its fastest.
"""

# Positions in the interval, as shares of its length, in the order in which they are tried.
SHARES = (0.6, 0.4, 0.8, 0.2, 0.95, 0.05)


def interval(values, k):
    """Returns (size, low, high): the prices at which k is best among the sizes of `values` (size -> objective).

    If k has no such prices, the largest smaller size that has some takes its place. None if there is none.
    """
    for size in range(k, min(values), -1):
        low = max((values[size] - values[more]) / (more - size) for more in values if more > size)
        high = min((values[less] - values[size]) / (size - less) for less in values if less < size)
        if max(low, 0) < high:
            return size, max(low, 0.0), high
    return None


def at(found, share):
    """Returns the price at a share of an interval."""
    _, low, high = found
    return low + share * (high - low)


def fastest(ask, found, time_limit):
    """Returns a peer's answer at the price at which it is fastest; `ask(price, time_limit)` is one run.

    A run is cut off at the time of the fastest one so far. The answer lists the prices that were tried.
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
    """Ranks answers that are not solutions: another number of features tells more than a run that was cut off."""
    order = ("optimal", "time_limit", "failed", "unsupported")
    return order.index(answer["status"]) if answer["status"] in order else len(order)
