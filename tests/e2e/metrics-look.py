# SPDX-License-Identifier: GPL-2.0-or-later
"""What looks at hvtrace's metrics, looked at. Says what is wrong and exits with 1.

usage: metrics-look.py names NAMES RULES DASHBOARD   each name and label that these use is one of NAMES
       metrics-look.py described NAMES MANUAL        the manual's tables have these names and labels, and no others
       metrics-look.py panels DASHBOARD              the dashboard is one that Grafana can show
       metrics-look.py tested RULES TEST             each alert is silent in a test, and fires in one
       metrics-look.py rules DASHBOARD               its expressions, as rules for promtool
       metrics-look.py same TEXT URL                 Prometheus at URL has what TEXT has, and nothing else
       metrics-look.py answers DASHBOARD URL         each expression of it, and of its rules, gives something there
"""

import json
import re
import sys
import urllib.parse
import urllib.request

NAME = re.compile(r"\bhvtrace_[a-z_]+")
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"(?:,|$)')
# What Prometheus adds, or a query's own.
OTHER_LABELS = {"instance", "job", "le", "alertname", "severity"}


def fail(*what):
    print(*what, file=sys.stderr)
    sys.exit(1)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def ask(url, **parameters):
    """Of Prometheus' HTTP API. No proxy has a say in that."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    if parameters:
        url += "?" + urllib.parse.urlencode(parameters)
    with opener.open(url, timeout=30) as answer:
        answer = json.load(answer)
    if answer["status"] != "success":
        fail(url, answer)
    return answer["data"]


# --- a dashboard ---


def panels_of(path):
    dashboard = json.loads(read(path))
    return [p for panel in dashboard["panels"] for p in [panel, *panel.get("panels", [])]]


def expressions(path):
    """As Grafana would have them for all hosts and guests."""
    dashboard = json.loads(read(path))
    found = [target["expr"] for panel in panels_of(path) for target in panel.get("targets", [])]
    found += [a["expr"] for a in dashboard["annotations"]["list"]]
    for expression in found:
        expression = expression.replace("$__rate_interval", "1m")
        yield re.sub(r"\$(instance|guest)", ".*", expression)


def panels(path):
    ids, taken = set(), set()
    for panel in panels_of(path):
        title, place = panel["title"], panel["gridPos"]
        if panel["id"] in ids:
            fail(title, "has the number of another panel")
        ids.add(panel["id"])
        if place["x"] + place["w"] > 24:
            fail(title, "is not within the page")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if (x, y) in taken:
                    fail(title, "lies on another panel")
                taken.add((x, y))
        if panel["type"] == "row":
            continue
        if not panel["targets"]:
            fail(title, "shows nothing")
        references = [target["refId"] for target in panel["targets"]]
        if len(set(references)) < len(references):
            fail(title, "has two targets of one name")
        for part in [panel, *panel["targets"]]:
            if part["datasource"]["uid"] != "${datasource}":
                fail(title, "is not of the data source that is chosen")
    variables = {v["name"] for v in json.loads(read(path))["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]+)\b", read(path)))
    if variables != used:
        fail("variables:", sorted(variables), "used:", sorted(used))


# --- names ---


def labels_used(text):
    found = set(re.findall(r"\b([a-z]+)=~?\s*\"", text))
    for group in re.findall(r"\b(?:by|on|without|group_left)\s*\(([^)]*)\)", text):
        found.update(word.strip() for word in group.split(",") if word.strip())
    found.update(re.findall(r"\{\{\s*(?:\$labels\.)?([a-z]+)\s*\}\}", text))
    return found


def names(path, rules, dashboard):
    known, labels = set(), set(OTHER_LABELS)
    for line in read(path).splitlines():
        name, *of_it = line.split()
        known.add(name)
        labels.update(of_it)
    texts = [read(rules), *expressions(dashboard)]
    texts += [t.get("legendFormat", "") for p in panels_of(dashboard) for t in p.get("targets", [])]
    texts += [v["definition"] for v in json.loads(read(dashboard))["templating"]["list"] if "definition" in v]
    for text in texts:
        for name in NAME.findall(text):
            if name not in known:
                fail("there is no", name)
        for label in labels_used(text):
            if label not in labels:
                fail("there is no label", label)


def described(path, manual):
    told = {}
    for line in read(path).splitlines():
        name, *labels = line.split()
        if not name.endswith(("_sum", "_count")):
            told[name.removesuffix("_bucket")] = [label for label in labels if label != "le"]
    found = {}
    for line in read(manual).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `hvtrace_"):
            for name in NAME.findall(cells[0]):
                found[name] = cells[1].split(", ") if cells[1] else []
    for name in told.keys() | found.keys():
        if told.get(name) != found.get(name):
            fail(name, "has", told.get(name), "and is described with", found.get(name))


def tested(rules, test):
    test = read(test)
    for alert in re.findall(r"^ *- alert: (\w+)$", read(rules), re.MULTILINE):
        if not re.search(rf"alertname: {alert} \}}", test):
            fail(alert, "is never silent")
        if not re.search(rf"alertname: {alert}\n +exp_alerts:\n", test):
            fail(alert, "never fires")


def rules_of(dashboard):
    rules = [{"record": f"x:x{i}:x", "expr": e} for i, e in enumerate(expressions(dashboard))]
    print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))


# --- what Prometheus has ---


def unescaped(value):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value)


def samples(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        if not match:
            fail("what is", line)
        labels = {name: unescaped(value) for name, value in LABEL.findall(match[2] or "")}
        labels["__name__"] = match[1]
        found[frozenset(labels.items())] = float(match[3])
    return found


def same(path, url):
    told, kept = samples(read(path)), {}
    for series in ask(url + "/api/v1/query", query='{__name__=~"hvtrace_.+"}')["result"]:
        labels = series["metric"]
        for added in ("instance", "job"):
            del labels[added]
        kept[frozenset(labels.items())] = float(series["value"][1])
    for labels in told.keys() | kept.keys():
        if told.get(labels) != kept.get(labels):
            fail(dict(labels), "is", told.get(labels), "and Prometheus has", kept.get(labels))
    print(f"# {len(told)} samples are the same")


def answers(path, url):
    for expression in expressions(path):
        # Of what is marked only where it is so, there would be nothing.
        expression = expression.removesuffix(" > 0")
        if not ask(url + "/api/v1/query", query=expression)["result"]:
            fail(expression, "gives nothing")
    rules = [r for g in ask(url + "/api/v1/rules")["groups"] for r in g["rules"]]
    if not rules:
        fail("there are no rules")
    for rule in rules:
        if rule["health"] != "ok":
            fail(rule["name"], rule["health"], rule.get("lastError"))
    print(f"# {len(rules)} rules are evaluated")


def main(arguments):
    commands = {
        ("names", 3): names,
        ("described", 2): described,
        ("panels", 1): panels,
        ("tested", 2): tested,
        ("rules", 1): rules_of,
        ("same", 2): same,
        ("answers", 2): answers,
    }
    command = commands.get((arguments[0] if arguments else "", len(arguments) - 1))
    if not command:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        command(*arguments[1:])
    except OSError as error:
        fail(error)


main(sys.argv[1:])
