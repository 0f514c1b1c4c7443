#!/usr/bin/env python3
"""Writes signatures.ndjson: requests with the signatures that botocore computes for them.

Usage: python3 -m venv V && V/bin/pip install botocore==1.44.8 && V/bin/python3 make-signatures.py >signatures.ndjson

The first line has lists: servers, regions, services and credentials. Each further line is a request:
m method, e index of the server, p path (not encoded), q query, h headers, b body, t time, r index of the region,
s index of the service, c index of the credentials, x seconds that a link is valid (absent: signed by headers),
u path and query as botocore sends them (without signature), n names of the signed headers, a signature.
"""
import datetime
import json
import random
import urllib.parse

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SEED = 37
ENDPOINTS = ["https://bucket.s3.eu-central-1.amazonaws.com", "http://127.0.0.1:9000", "https://s3.example:8443",
             "http://[::1]:5000", "https://storage.example"]
REGIONS = ["us-east-1", "eu-central-1", "RegionOne", "ap-southeast-2"]
SERVICES = ["s3", "sts"]
CREDENTIALS = [
    ["AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None],
    ["ASIAIOSFODNN7EXAMPLE", "abc/def+ghi=", "IQoJb3JpZ2luX2VjE/+==//token&with=everything"],
    ["test:tester", "testing", None],
]
PLAIN = "abcXYZ019-_.=~"
STRANGE = " +%&?#=:;,@!$'()*[]{}|\\^`\"<>~äßé漢字🎥\u0301"
HEADERS = ["x-amz-meta-chatbot-sha256", "If-None-Match", "Content-Type", "Range", "x-amz-server-side-encryption",
           "X-Amz-Meta-Other", "Content-Length"]
QUERIES = ["partNumber", "uploadId", "uploads", "list-type", "prefix", "continuation-token", "max-keys", "versionId",
           "response-content-type", "X-Amz-Upper", "a b", "ü"]

now = [None]
botocore.auth.get_current_datetime = lambda *_, **__: now[0]
pick = random.Random(SEED)


def text(alphabets, longest):
    return "".join(pick.choice(pick.choice(alphabets)) for _ in range(pick.randint(0, longest)))


def path():
    parts = [text([PLAIN, PLAIN, STRANGE], 10) for _ in range(pick.randint(1, 4))]
    if pick.random() < 0.1:
        parts.insert(0, pick.choice(["..", ".", ""]))
    return "/bucket/" + "/".join(parts) if pick.random() < 0.95 else "/"


def request(number):
    signs_query = number % 5 >= 3
    query = [[name, text([PLAIN, STRANGE], 12)] for name in pick.sample(QUERIES, pick.randint(0, 4))]
    headers = []
    for name in pick.sample(HEADERS, 0 if signs_query else pick.randint(0, 4)):
        value = text([PLAIN, PLAIN, " ,;="], 20)
        headers.append([name, value if pick.random() < 0.8 else f"  a   {value}  b "])
    at = datetime.datetime(2015, 1, 1) + datetime.timedelta(seconds=pick.randint(0, 20 * 365 * 86400))
    now[0] = at
    entry = {"m": "GET" if signs_query else pick.choice(["GET", "PUT", "POST", "HEAD", "DELETE"]),
             "e": pick.randrange(len(ENDPOINTS)), "p": path(), "q": query, "h": headers,
             "b": "" if signs_query else text([PLAIN, STRANGE], 15), "t": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
             "r": pick.randrange(len(REGIONS)), "s": 0 if signs_query or pick.random() < 0.9 else 1,
             "c": pick.randrange(len(CREDENTIALS))}
    quoted = "&".join(urllib.parse.quote(k, safe="-_.~") + "=" + urllib.parse.quote(v, safe="-_.~") for k, v in query)
    url = ENDPOINTS[entry["e"]] + urllib.parse.quote(entry["p"], safe="/~") + ("?" + quoted if quoted else "")
    aws = AWSRequest(method=entry["m"], url=url, data=entry["b"].encode())
    for name, value in headers:
        aws.headers[name] = value
    credentials = Credentials(*CREDENTIALS[entry["c"]])
    service, region = SERVICES[entry["s"]], REGIONS[entry["r"]]
    if signs_query:
        entry["x"] = pick.choice([1, 300, 604800])
        S3SigV4QueryAuth(credentials, service, region, expires=entry["x"]).add_auth(aws)
        entry["u"], entry["a"] = urllib.parse.urlsplit(aws.url)[2], aws.url.rpartition("=")[2]
        entry["n"] = "host"
    else:
        S3SigV4Auth(credentials, service, region).add_auth(aws)
        words = dict(word.split("=", 1) for word in aws.headers["Authorization"].replace("AWS4-HMAC-SHA256 ", "").split(", "))
        parts = urllib.parse.urlsplit(url)
        entry["u"] = parts.path + ("?" + parts.query if parts.query else "")
        entry["a"], entry["n"] = words["Signature"], words["SignedHeaders"]
    return {name: value for name, value in entry.items() if value not in ([], "", 0) or name in "ecr"}


def line(value):
    print(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


line({"servers": ENDPOINTS, "regions": REGIONS, "services": SERVICES, "credentials": CREDENTIALS})
for number in range(500):
    line(request(number))
