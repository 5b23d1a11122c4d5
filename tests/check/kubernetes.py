#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks the manifest for Kubernetes, and the Helm chart without helm. Prints TAP.

The chart's templates use only two forms, which this program can fill in: PATH | toJson, and
printf FORMAT PATH... | toJson. Any other form fails.
"""
import copy
import json
import re
import sys

import yaml

HERE = "integrations/kubernetes/"
points = 0
failed = 0


def check(good, name, why=""):
    global points, failed
    points += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {points} - {name}")
    for line in str(why).splitlines() if not good else []:
        print("# " + line)


class Strict(yaml.SafeLoader):
    """A loader that refuses duplicate keys, as Kubernetes does."""


def mapping(loader, node, deep=False):
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    if len(keys) != len(set(keys)):
        raise yaml.YAMLError(f"line {node.start_mark.line + 1}: a key is there twice: {keys}")
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, lambda l, n: mapping(l, n, True))


def load(text):
    return [doc for doc in yaml.load_all(text, Strict) if doc]


def read(path):
    with open(HERE + path, encoding="utf-8") as f:
        return f.read()


def value_at(path, values):
    at = {"Values": values, "Release": {"Namespace": "gpusched", "Name": "gpusched"}}
    for key in path.lstrip(".").split("."):
        at = at[key]
    return at


def render(template, values):
    def fill(match):
        form = match.group(1).strip()
        plain = re.fullmatch(r"(\.[\w.]+) \| toJson", form)
        if plain:
            return json.dumps(value_at(plain.group(1), values))
        made = re.fullmatch(r'printf "([^"]*)"((?: \.[\w.]+)+) \| toJson', form)
        args = tuple(value_at(path, values) for path in made.group(2).split())
        return json.dumps(made.group(1).replace("%v", "%s") % args)

    return load(re.sub(r"\{\{(.*?)\}\}", fill, template))


def by_name(docs):
    return {(d["kind"], d["metadata"]["name"]): d for d in docs}


def containers(docs):
    for doc in docs:
        if doc["kind"] == "DaemonSet":
            spec = doc["spec"]["template"]["spec"]
            for one in spec["containers"]:
                yield doc, spec, one


manifest = load(read("gpusched.yaml"))
named = by_name(manifest)
check(len(named) == 4, "the manifest has a namespace, a configuration and two DaemonSets", named.keys())
check(
    named["Namespace", "gpusched"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged",
    "its namespace allows privileged pods",
)
bad = [
    f"{one['name']}: {mount['name']}"
    for _, spec, one in containers(manifest)
    for mount in one["volumeMounts"]
    if mount["name"] not in [v["name"] for v in spec["volumes"]]
]
check(not bad, "each mount is of a volume", bad)
bad = [
    f"{doc['metadata']['name']}: {volume['name']}"
    for doc, spec, _ in containers(manifest)
    for volume in spec["volumes"]
    if not any(m["name"] == volume["name"] for c in spec["containers"] for m in c["volumeMounts"])
]
check(not bad, "each volume is mounted", bad)
bad = [
    doc["metadata"]["name"]
    for doc, _, _ in containers(manifest)
    if doc["spec"]["selector"]["matchLabels"] != doc["spec"]["template"]["metadata"]["labels"]
]
check(not bad, "each DaemonSet selects its own pods", bad)
bad = [
    one["name"]
    for _, spec, one in containers(manifest)
    if not spec.get("hostPID") or not one["securityContext"].get("readOnlyRootFilesystem")
]
check(not bad, "each sees the node's processes, and has a read-only root", bad)
privileged = sorted(one["name"] for _, _, one in containers(manifest) if one["securityContext"].get("privileged"))
check(privileged == ["daemon", "guardian"], "the exporter and the runtime's plugin have no privilege", privileged)
bad = [
    one["name"]
    for _, _, one in containers(manifest)
    if one["name"] in ("exporter", "nri") and one["securityContext"]["capabilities"] != {"drop": ["ALL"]}
]
check(not bad, "they have no capability", bad)
conf = named["ConfigMap", "gpusched"]["data"]["gpusched.conf"]
uid = [o["securityContext"]["runAsUser"] for _, _, o in containers(manifest) if o["name"] == "exporter"][0]
check(f"AllowTrace = uid={uid}\n" in conf, "its user may see series by pod", conf)

sources = open("src/process/pod_bundles.c", encoding="utf-8").read() + open("src/process/pod_names.h", encoding="utf-8").read()
folders = set(re.findall(r'"(/[^"]*/k8s\.io)"', re.sub(r'"\s*"', "", sources)))
mounts = [m for _, _, one in containers(manifest) if one["name"] == "daemon" for m in one["volumeMounts"]]
hosts = {v["name"]: v["hostPath"]["path"] for _, spec, _ in containers(manifest) for v in spec["volumes"] if "hostPath" in v}
mounted = {m["mountPath"] for m in mounts if m.get("mountPropagation") == "HostToContainer" and hosts[m["name"]] == m["mountPath"]}
check(len(folders) == 4 and folders == mounted, "every folder of bundles that is read by default is mounted", folders ^ mounted)

values = load(read("chart/values.yaml"))[0]
templates = "\n---\n".join(read(f"chart/templates/{t}.yaml") for t in ("config", "guardian", "daemon"))
chart = by_name(render(templates, values))
for key, doc in chart.items():
    check(doc == named[key], f"the chart makes the same {key[0]} {key[1]}", json.dumps(doc, sort_keys=True))
other = copy.deepcopy(values)
other["image"] = {"repository": "registry.example/gpusched", "tag": "9", "pullPolicy": "Always"}
other["nodeSelector"] = {"pool": "gpu"}
other["service"]["port"] = 9500
other["config"] = "[Classes]\nDefaultClass = normal\n"
chart = render(templates, other)
check(
    {one["image"] for _, _, one in containers(chart)} == {"registry.example/gpusched:9"}
    and {json.dumps(spec["nodeSelector"]) for _, spec, _ in containers(chart)} == {'{"pool": "gpu"}'},
    "other values take their places",
)
exporter = [one for _, _, one in containers(chart) if one["name"] == "exporter"][0]
check(
    exporter["command"][-1] == "0.0.0.0:9500" and exporter["ports"][0]["containerPort"] == 9500,
    "the exporter's port is one value",
    exporter,
)
version = re.search(r"^  version: '(.*)',", open("meson.build", encoding="utf-8").read(), re.M).group(1)
meta = load(read("chart/Chart.yaml"))[0]
check(
    [meta["version"], meta["appVersion"], values["image"]["tag"]] == [version] * 3
    and {one["image"] for _, _, one in containers(manifest)} == {f"gpusched:{version}"},
    "manifest and chart have the version of meson.build",
    meta,
)
try:
    load("a: 1\na: 2\n")
    check(False, "a key that is there twice is found")
except yaml.YAMLError:
    check(True, "a key that is there twice is found")
print(f"1..{points}")
sys.exit(failed != 0)
