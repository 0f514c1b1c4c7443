"""What schemathesis must know about the service under test beyond its OpenAPI document. Loaded as its module of hooks."""

import hashlib
import re

import schemathesis


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # Which servers, files and secrets there are depends on the settings of a service. At the receiver's port nothing listens.
    receiver = raw_schema["components"]["schemas"]["NewWebhook"]["properties"]
    receiver["url"] = {"const": "http://127.0.0.1:9/hook"}
    receiver["secret"] = {"const": "app"}
    for name, schema in raw_schema["components"]["schemas"].items():
        if not name.startswith("New"):
            continue
        fields = schema.get("properties", {})
        if "server" in fields:
            fields["server"] = {"const": "main"}
        for options in fields.values():
            if "input" in options.get("properties", {}):
                options["properties"]["input"] = {"const": "pattern"}


@schemathesis.hook
def before_call(context, case, kwargs):
    # One key with two bodies is refused, as it must be. The same body keeps its key, so that submissions are replayed.
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch("[!-~]([ -~]{0,200}[!-~])?", key):
        case.headers["Idempotency-Key"] = key + hashlib.sha256(repr(case.body).encode()).hexdigest()[:16]
    # A pattern cannot list the visible characters of all scripts, of which a name needs one: a name that should be refused has none.
    for options in case.body.values() if isinstance(case.body, dict) else ():
        name = options.get("name") if isinstance(options, dict) else None
        if isinstance(name, str) and not re.search("[0-9A-Za-z\u00C0-\uD7A3]", name):
            options["name"] = ""
    # A part of a JSON file is not JSON.
    name = str((case.path_parameters or {}).get("name", ""))
    if name.endswith("json"):
        for header in ("Range", "If-Range"):
            (case.headers or {}).pop(header, None)
