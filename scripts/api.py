#!/usr/bin/env python3
"""Writes docs/api.md from the OpenAPI document of the service.

Usage: scripts/api.py            writes the file
       scripts/api.py check      fails if the file is not up to date
"""
import json
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
source = root / "Sources/Service/OpenAPI/openapi.json"
target = root / "docs/api.md"
document = json.loads(source.read_text())
schemas = document["components"]["schemas"]
responses = document["components"]["responses"]


def name_of(schema):
    """Returns a schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(name_of(part) for part in schema[key]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema and len(schema["enum"]) <= 8:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        if "items" not in schema:
            return "array of " + " and ".join(dict.fromkeys(name_of(part) for part in schema["prefixItems"]))
        return f"array of {name_of(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {name_of(schema['additionalProperties'])}"
    return {"date-time": "time"}.get(schema.get("format"), kind)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def rows_of(schema, prefix=""):
    for name, value in schema.get("properties", {}).items():
        need = "" if name not in schema.get("required", []) else "yes"
        yield f"| `{prefix}{name}` | {cell(name_of(value))} | {need} | {cell(value.get('description', ''))} |"
        if value.get("type") == "object" and "properties" in value:
            yield from rows_of(value, f"{prefix}{name}.")


lines = [
    "# The API of chatbot-service",
    "",
    "This document answers which requests the service of jobs answers, with which fields. It is made from the OpenAPI document, which the",
    "service has at `/openapi.json`, by `scripts/api.py`. How the service is set up is in [service.md](service.md).",
    "",
    document["info"]["description"],
    "",
    "```",
    "curl -H \"Authorization: Bearer $(cat chatbot-data/admin.token)\" -d '{\"kind\": \"record\", \"room\": \"100\"}' \\",
    "  http://127.0.0.1:8080/v1/jobs",
    "```",
    "",
]
operations = [
    (path, method, operation, item.get("parameters", []))
    for path, item in document["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
]
for tag in document["tags"]:
    lines += [f"## {tag['description']}", ""]
    for path, method, operation, shared in operations:
        if tag["name"] not in operation["tags"]:
            continue
        lines += [f"### `{method.upper()} {path}`", "", f"{operation['summary']}. {operation['description']}", ""]
        parameters = [one for one in shared + operation.get("parameters", []) if one["in"] != "path"]
        if parameters:
            lines += ["| parameter | in | value | |", "|---|---|---|---|"]
            for one in parameters:
                lines.append(
                    f"| `{one['name']}` | {one['in']} | {cell(name_of(one['schema']))} | {cell(one.get('description', ''))} |")
            lines.append("")
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            lines += [f"Body: {name_of(body)}{'' if operation['requestBody'].get('required') else ', optional'}.", ""]
        lines += ["| status | body | |", "|---|---|---|"]
        for status, answer in operation["responses"].items():
            if "$ref" in answer:
                answer = responses[answer["$ref"].rsplit("/", 1)[1]]
            bodies = []
            for kind, content in answer.get("content", {}).items():
                schema = content.get("schema", {})
                bodies.append(name_of(schema) if "$ref" in schema else f"`{kind}`")
            shown = ", ".join(bodies[:3]) + (", …" if len(bodies) > 3 else "")
            lines.append(f"| {status} | {cell(shown)} | {cell(answer['description'])} |")
        lines.append("")
lines += ["## Values", ""]
for name, schema in schemas.items():
    lines += [f"### {name}", ""]
    if "description" in schema:
        lines += [schema["description"], ""]
    if "oneOf" in schema:
        lines += [", ".join(name_of(part) for part in schema["oneOf"]) + ".", ""]
    if "enum" in schema:
        lines += [", ".join(f"`{value}`" for value in schema["enum"]) + ".", ""]
    rows = list(rows_of(schema))
    if rows:
        lines += ["| field | value | required | |", "|---|---|---|---|", *rows, ""]
lines += [
    "## Types of problems",
    "",
    "`type` of a [Problem](#problem), which is `urn:chatbot:problem:` and one of these words. Statuses and titles are in",
    "`Sources/Service/HTTP/Values/APIProblem.swift`.",
    "",
    ", ".join(f"`{value.rsplit(':', 1)[1]}`" for value in schemas["Problem"]["properties"]["type"]["enum"]) + ".",
    "",
]
text = "\n".join(lines)
if sys.argv[1:] == ["check"]:
    if target.read_text() != text:
        sys.exit("docs/api.md is not up to date: run scripts/api.py")
else:
    target.write_text(text)
