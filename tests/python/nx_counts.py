"""A pytest plugin for NetworkX's own suite: writes how often Tandem computed each function, and NetworkX's version.

    NETWORKX_TEST_BACKEND=tandem python -m pytest -p nx_counts --nx-counts FILE --pyargs networkx
"""

import json


def pytest_addoption(parser):
    parser.addoption("--nx-counts", default=None, help="where to write the counts of dispatched calls")


def pytest_sessionfinish(session):
    target = session.config.getoption("--nx-counts")
    if target is None:
        return
    import networkx
    from tandem_networkx.backend import calls
    with open(target, "w") as file:
        json.dump({"networkx": networkx.__version__, "calls": dict(calls)}, file)
