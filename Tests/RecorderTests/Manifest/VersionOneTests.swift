import Foundation
import Media
import NIOCore
import Recorder
import Testing

@Suite("Manifests of version 1")
struct VersionOneTests {
  /// A manifest as version 1 wrote it, with all its fields.
  private static let text = """
    {
      "alignment" : {
        "correction" : 0.012,
        "error" : 0.004,
        "reports" : 12,
        "source" : "senderReports"
      },
      "disk" : {
        "duration" : 2.5,
        "packetsDropped" : 4,
        "picturesDropped" : 31,
        "stalls" : 1
      },
      "duration" : 6.02,
      "files" : [
        {
          "bytes" : 61234,
          "complete" : true,
          "duration" : 6.02,
          "kind" : "webm",
          "name" : "anna.webm",
          "start" : 0
        }
      ],
      "finished" : true,
      "left" : "connectionLost",
      "memory" : {
        "packetsDropped" : 0,
        "picturesDropped" : 7
      },
      "name" : "Anna",
      "overload" : {
        "packetsDropped" : 9,
        "picturesDropped" : 5
      },
      "paths" : [
        {
          "localCandidateType" : "host",
          "protocol" : "udp",
          "relayed" : false,
          "remoteCandidateType" : "srflx",
          "since" : "2026-03-01T09:30:00.375Z"
        }
      ],
      "problems" : [
        "Cannot write."
      ],
      "room" : "100",
      "session" : {
        "id" : "0123456789abcdef0123456789abcdef",
        "offset" : 1.25
      },
      "start" : "2026-03-01T09:30:00.260Z",
      "tracks" : [
        {
          "bytes" : 60000,
          "codec" : "vp8",
          "decodeErrors" : 0,
          "dropped" : 0,
          "duplicated" : 0,
          "duration" : 6.02,
          "frames" : 180,
          "gapTotals" : {

          },
          "gaps" : [

          ],
          "keyframeRequests" : 1,
          "keyframes" : 6,
          "kind" : "video",
          "late" : 0,
          "lost" : 0,
          "packets" : 400,
          "padding" : 0,
          "received" : 400,
          "recovered" : 0,
          "refused" : 0,
          "sent" : 400,
          "sizes" : [
            {
              "height" : 48,
              "time" : 0,
              "width" : 64
            }
          ],
          "start" : 0,
          "timestampBreaks" : 0,
          "unverified" : 0
        }
      ],
      "user" : "3f2a",
      "version" : 1,
      "writer" : "chatbot"
    }

    """

  @Test("are read with their spelling of the fields")
  func reading() throws {
    let manifest = try RecordingManifest(parsing: Array(Self.text.utf8))
    #expect(manifest.version == 1 && manifest.endReason == .connectionLost && manifest.stream == .init(number: 1))
    #expect(manifest.disk?.framesDropped == 31 && manifest.disk?.packetsDropped == 4 && manifest.disk?.stalls == 1)
    #expect(manifest.memory?.framesDropped == 7 && manifest.overload?.framesDropped == 5)
    #expect(manifest.overload?.packetsDropped == 9 && manifest.session?.offset == 1.25)
    #expect(manifest.paths?.count == 1 && manifest.name == "Anna" && manifest.alignment.reports == 12)
    let track = try #require(manifest.tracks.first)
    #expect(track.codec == "vp8" && track.id == nil && track.profile == nil && track.sent == 400)
    // Written again, they have the new spelling.
    let json = String(buffer: try manifest.json)
    #expect(json.contains("\"framesDropped\" : 31") && json.contains("\"endReason\" : \"connectionLost\""))
    #expect(!json.contains("picturesDropped") && !json.contains("\"left\""))
    #expect(try RecordingManifest(parsing: Array(json.utf8)) == manifest)
  }

  @Test("are left alone by a repair if they are finished, and become version 2 if it completes them")
  func repair() async throws {
    let folder = TestFolder()
    try folder.store(try await Unfinished.files(after: 4))
    var manifest = try RecordingManifest(parsing: folder.bytes("anna.json"))
    manifest.disk = RecordingManifest.DiskStalls()
    manifest.disk?.framesDropped = 3
    let text = String(buffer: try manifest.json)
      .replacingOccurrences(of: "framesDropped", with: "picturesDropped")
      .replacingOccurrences(of: #"  "stream" : {\#n    "number" : 1\#n  },\#n"#, with: "")
      .replacingOccurrences(of: #""version" : 2"#, with: #""version" : 1"#)
    #expect(!text.contains("stream") && text.contains("\"version\" : 1"))
    try folder.store(["anna.json": Array(text.utf8), "old.json": Array(Self.text.utf8)])
    #expect(RoomRecorder.unfinished(in: folder.path) == ["anna.json"])
    let reports = RoomRecorder.repair(folder.path)
    #expect(reports.count == 3 && reports.allSatisfy(\.isComplete))
    let repaired = try RecordingManifest(parsing: folder.bytes("anna.json"))
    #expect(repaired.version == 2 && repaired.finished && repaired.disk?.framesDropped == 3)
    #expect(repaired.stream.number == 1 && repaired.session == manifest.session && repaired.start == manifest.start)
    #expect(RoomRecorder.repair("\(folder.path)/old.json").map(\.outcome) == [.intact])
    let isSame = try folder.bytes("old.json") == Array(Self.text.utf8)
    #expect(isSame)
  }

  @Test("a version that is not known is rejected in one sentence", arguments: [0, 3])
  func unknown(version: Int) throws {
    let text = Self.text.replacingOccurrences(of: "\"version\" : 1", with: "\"version\" : \(version)")
    // Whatever else it contains.
    for text in [text, "{\"version\":\(version)}"] {
      let error = #expect(throws: RecordingManifest.ReadingError.self) {
        try RecordingManifest(parsing: Array(text.utf8))
      }
      #expect(error?.reason == "its version is \(version), and this program knows up to 2")
    }
  }
}
