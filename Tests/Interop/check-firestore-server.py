#!/usr/bin/env python3
"""Checks firestore-server.py with the official client, google-cloud-firestore, over its REST transport.

    check-firestore-server.py          in the virtual environment of scripts/install-firestore-python.sh

prints what was checked; exits with 1 at the first difference.
"""

import json
import os
import subprocess
import sys

from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports.rest import FirestoreRestTransport


def main():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "firestore-server.py")
    server = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = json.loads(server.stdout.readline())["port"]
        check("127.0.0.1:%d" % port)
    finally:
        server.stdin.close()
        server.wait(timeout=10)


def expect(condition, sentence):
    print(("ok: " if condition else "FAILED: ") + sentence)
    if not condition:
        sys.exit(1)


def check(host):
    transport = FirestoreRestTransport(host=host, url_scheme="http", credentials=AnonymousCredentials())
    api = FirestoreClient(transport=transport)
    root = "projects/p/databases/(default)/documents"

    def text(value):
        return types.Value(string_value=value)

    room = api.create_document(types.CreateDocumentRequest(
        parent=root + "/tests/1", collection_id="rooms", document=types.Document(fields={"name": text("Unit test")})))
    expect(room.name.startswith(root + "/tests/1/rooms/"), "a created document gets an id")
    expect(api.get_document({"name": room.name}).fields["name"].string_value == "Unit test", "it can be read")
    sdp = room.name + "/host/sdp"
    try:
        api.get_document({"name": sdp})
        expect(False, "a missing document is not found")
    except exceptions.NotFound:
        expect(True, "a missing document is not found")
    first = api.update_document(types.UpdateDocumentRequest(
        document=types.Document(name=sdp, fields={"sdp": text("v=0"), "type": text("offer")})))
    second = api.update_document(types.UpdateDocumentRequest(
        document=types.Document(name=sdp, fields={"sdp": text("v=1")})))
    expect(list(second.fields) == ["sdp"], "an update without a mask replaces the document")
    expect(second.update_time > first.update_time, "its update time advances")
    expect(second.create_time == first.create_time, "its creation time stays")
    parent = room.name + "/host/candidates"
    writes = [types.Write(update=types.Document(
        name="%s/candidate/%04d" % (parent, index),
        fields={"sdp": text("candidate:%d" % index), "sdpMLineIndex": types.Value(integer_value=index)}))
        for index in range(25)]
    result = api.commit(types.CommitRequest(database="projects/p/databases/(default)", writes=writes))
    expect(len(result.write_results) == 25 and result.commit_time is not None, "a commit writes 25 documents")
    pages = list(api.list_documents(types.ListDocumentsRequest(
        parent=parent, collection_id="candidate", page_size=10)).pages)
    expect([len(page.documents) for page in pages] == [10, 10, 5], "they are listed in pages of 10")
    documents = [document for page in pages for document in page.documents]
    expect([d.fields["sdpMLineIndex"].integer_value for d in documents] == list(range(25)), "in the order of their ids")
    too_many = [types.Write(delete="%s/candidate/%d" % (parent, index)) for index in range(501)]
    try:
        api.commit(types.CommitRequest(database="projects/p/databases/(default)", writes=too_many))
        expect(False, "a commit of 501 writes is rejected")
    except exceptions.BadRequest:
        expect(True, "a commit of 501 writes is rejected")
    api.delete_document({"name": sdp})
    api.delete_document({"name": sdp})
    expect(True, "a document can be deleted twice")

    client = firestore.Client(project="p", credentials=AnonymousCredentials())
    client._firestore_api_internal = api
    guest = client.document("rooms/1/guest/sdp")
    guest.set({"sdp": "v=0", "type": "answer"})
    expect(guest.get().to_dict() == {"sdp": "v=0", "type": "answer"}, "the client writes and reads a document")
    expect(not client.document("rooms/1/host/sdp").get().exists, "the client sees that another one does not exist")
    candidates = client.collection("rooms/1/guest/candidates/candidate")
    for index in range(3):
        candidates.add({"sdp": "candidate:%d" % index, "sdpMLineIndex": index, "sdpMid": "0"})
    expect(len(list(candidates.stream())) == 3, "the client queries three added documents")
    guest.delete()
    expect(not guest.get().exists, "the client deletes a document")


if __name__ == "__main__":
    main()
