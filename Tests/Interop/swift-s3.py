"""Runs OpenStack Swift with its S3 interface, one process for each of its servers, until its input ends.

Usage: swift-s3.py FOLDER BUCKET...

FOLDER must be empty, in a file system with extended attributes. Writes a line of JSON: endpoint, key, secret. Swift checks signatures
and the digests of bodies.
"""
import base64
import email.utils
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

folder = os.path.abspath(sys.argv[1])
programs = os.path.dirname(sys.executable)
user = subprocess.check_output(["id", "-un"], text=True).strip()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.join(folder, name)


ports = {name: free_port() for name in ["account", "container", "object", "proxy"]}
for name in ["devices/d", "cache", "log"]:
    os.makedirs(os.path.join(folder, name))
write("swift.conf", "[swift-hash]\nswift_hash_path_suffix = tests\n[storage-policy:0]\nname = one\ndefault = yes\n"
      "[swift-constraints]\nmax_header_size = 16384\n")
for name in ["account", "container", "object"]:
    ring = os.path.join(folder, f"{name}.builder")
    for words in [["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{ports[name]}/d", "1"], ["rebalance"]]:
        subprocess.run([os.path.join(programs, "swift-ring-builder"), ring] + words, stdout=subprocess.DEVNULL, check=True)
    write(f"{name}.conf", f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {ports[name]}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
user = {user}
workers = 0
log_address = {folder}/log/none
disable_fallocate = true
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
recon_cache_path = {folder}/cache
fallocate_reserve = 0
""")
write("proxy.conf", f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {ports['proxy']}
swift_dir = {folder}
user = {user}
workers = 0
log_address = {folder}/log/none
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
recoverable_node_timeout = 30
node_timeout = 30
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{free_port()}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
minimum_segment_size = 1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
check_bucket_owner = false
dns_compliant_bucket_names = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
""")
children = []


def end(*_):
    for child in children:
        child.kill()
    os._exit(0)


signal.signal(signal.SIGTERM, end)
with open(os.path.join(folder, "log", "output"), "wb") as output:
    for name in ["account", "container", "object", "proxy"]:
        children.append(subprocess.Popen(
            [os.path.join(programs, f"swift-{name}-server"), os.path.join(folder, f"{name}.conf"), "-v"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output))
deadline = time.time() + 60
for port in ports.values():
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            if time.time() > deadline or any(child.poll() is not None for child in children):
                print(json.dumps({"error": "Swift does not start: see log/output"}), flush=True)
                end()
            time.sleep(0.1)
endpoint, key, secret = f"http://127.0.0.1:{ports['proxy']}", "test:tester", "testing"
for bucket in sys.argv[2:]:
    # Signature Version 2, which needs no package.
    date = email.utils.formatdate(usegmt=True)
    digest = hmac.new(secret.encode(), f"PUT\n\n\n{date}\n/{bucket}".encode(), hashlib.sha1).digest()
    headers = {"Date": date, "Authorization": f"AWS {key}:{base64.b64encode(digest).decode()}"}
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{bucket}", headers=headers, method="PUT")).read()
print(json.dumps({"endpoint": endpoint, "key": key, "secret": secret}), flush=True)
sys.stdin.read()
end()
