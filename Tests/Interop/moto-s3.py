"""Runs moto as a store that checks signatures, until its input ends.

Usage: moto-s3.py [--unchecked] BUCKET...

Writes a line of JSON: endpoint, key, secret, role (which a web identity token can assume), and the key of a user without rights.
moto checks signatures only after a POST to /moto-api/reset-auth, and never the digests of bodies. Then it fails with 500 for links and for
web identities, whose requests have no signature in their headers: --unchecked leaves the checks out.
"""
import json
import logging
import sys
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://{host}:{port}"
plain = {"endpoint_url": endpoint, "region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "y"}
iam = boto3.client("iam", **plain)


def user(name, effect):
    iam.create_user(UserName=name)
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Action": "s3:*", "Resource": "*"}]}
    iam.put_user_policy(UserName=name, PolicyName="s3", PolicyDocument=json.dumps(policy))
    return iam.create_access_key(UserName=name)["AccessKey"]


key = user("recorder", "Allow")
other = user("stranger", "Deny")
trust = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"Federated": "*"}, "Action": "sts:AssumeRoleWithWebIdentity"}]}
role = iam.create_role(RoleName="recorder", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_role_policy(RoleName="recorder", PolicyName="s3", PolicyDocument=json.dumps(policy))
s3 = boto3.client("s3", **plain)
for bucket in [word for word in sys.argv[1:] if word != "--unchecked"]:
    s3.create_bucket(Bucket=bucket)
request = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"}, method="POST")
if "--unchecked" not in sys.argv:
    urllib.request.urlopen(request).read()
print(json.dumps({"endpoint": endpoint, "key": key["AccessKeyId"], "secret": key["SecretAccessKey"], "role": role,
                  "otherKey": other["AccessKeyId"], "otherSecret": other["SecretAccessKey"]}), flush=True)
sys.stdin.read()
server.stop()
