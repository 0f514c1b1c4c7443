import Codecs
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

@Suite("Counts in the manifest")
struct CountTests {
  private func counts(
    expected: UInt64, received: UInt64, padding: UInt64 = 0, lost: UInt64, recovered: UInt64 = 0, late: UInt64 = 0
  ) -> TrackStatistics {
    var counts = TrackStatistics()
    counts.packetsExpected = expected
    counts.packetsReceived = received
    counts.packetsPadding = padding
    counts.packetsLost = lost
    counts.packetsRecovered = recovered
    counts.packetsLate = late
    counts.bytesReceived = received * 100
    return counts
  }

  private func entry(_ all: [TrackStatistics]) throws -> RecordingManifest.Track {
    let pipeline = FramePipeline(alignmentDelay: .zero, verification: nil)
    for counts in all {
      pipeline.receive(.statistics(TrackID(of: ParticipantID("alice"), kind: .audio), counts), now: Script.beginning)
    }
    pipeline.receive(
      .frame(
        EncodedFrame(
          owner: ParticipantID("anna"), codec: .opus, time: MediaTime(ticks: 0, rate: 48_000),
          payload: ByteBuffer(bytes: [0xF8, 1, 2]), isKeyframe: true, arrival: Script.beginning)),
      now: Script.beginning)
    _ = pipeline.release(now: Script.beginning, everything: true)
    return try #require(
      pipeline.tracks(clock: WallClock(moment: Script.beginning, secondsSince1970: 0)).first)
  }

  @Test("received, recovered and lost packets add up to the sent ones, without padding")
  func sums() throws {
    let track = try entry([counts(expected: 1_000, received: 930, padding: 50, lost: 20, recovered: 70, late: 3)])
    #expect(track.sent == 950 && track.received == 860 && track.recovered == 70 && track.lost == 20)
    #expect(track.received + track.recovered + track.lost == track.sent)
    #expect(track.padding == 50 && track.late == 3 && track.packets == 930)
  }

  @Test("they add up over tracks that are removed and added again", arguments: 1...20)
  func restarts(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var all: [TrackStatistics] = []
    var sent: UInt64 = 0
    for _ in 0..<4 {
      var now = TrackStatistics()
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        let came = UInt64.random(in: 50...200, using: &generator)
        let asked = UInt64.random(in: 0...20, using: &generator)
        let lost = UInt64.random(in: 0...9, using: &generator)
        let padding = UInt64.random(in: 0...9, using: &generator)
        now = counts(
          expected: now.packetsExpected + came + asked + lost + padding, received: now.packetsReceived + came + asked,
          padding: now.packetsPadding + padding, lost: now.packetsLost + lost,
          recovered: now.packetsRecovered + asked)
        all.append(now)
      }
      sent += now.packetsExpected - now.packetsPadding
      // The next track starts again, with all counts at zero.
      all.append(counts(expected: 1, received: 1, lost: 0))
      sent += 1
      if Bool.random(using: &generator) { all.append(all[all.count - 1]) }
      all.append(counts(expected: 0, received: 0, lost: 0))
    }
    let track = try entry(all)
    #expect(track.sent == sent)
    #expect(track.received + track.recovered + track.lost == track.sent)
    #expect(track.bytes == track.packets * 100)
  }

  @Test("a manifest from before these fields can be read, and its sums are filled in")
  func oldManifest() throws {
    let text = """
      {"alignment":{"correction":0,"error":0,"reports":12,"source":"senderReports"},"duration":5.2,"files":[],
      "finished":true,"left":"stopped","problems":[],"room":"100","start":"2026-11-21T11:14:25.636Z","tracks":[
      {"bytes":9000,"channels":1,"codec":"opus","decodeErrors":0,"dropped":0,"duplicated":0,"duration":4.94,"frames":247,
      "keyframeRequests":0,"kind":"audio","lost":3,"packets":247,"recovered":7,"refused":0,"start":0.273,
      "timestampBreaks":0}],"user":"anna","version":1,"writer":"chatbot"}
      """
    let track = try #require(try RecordingManifest(parsing: Array(text.utf8)).tracks.first)
    #expect(track.sent == 250 && track.received == 240 && track.recovered == 7 && track.lost == 3)
    #expect(track.gaps.isEmpty && track.gapTotals.isEmpty && track.concealed == nil)
  }

  @Test("a manifest with gaps survives a round trip")
  func roundTrip() throws {
    var manifest = RecordingManifest(room: "1", user: "2", name: nil, start: "")
    var track = try entry([counts(expected: 10, received: 8, padding: 1, lost: 1, recovered: 2, late: 1)])
    track.gaps = [.init(reason: "lost", start: 1, duration: 0.04, packets: 2, frames: 0, repaired: 0.04)]
    track.gapTotals = ["lost": .init(count: 1, duration: 0.04, packets: 2, frames: 0, repaired: 0.04)]
    track.repairedByFEC = 1
    track.concealed = 1
    manifest.tracks = [track]
    #expect(try RecordingManifest(parsing: Array(manifest.json.readableBytesView)) == manifest)
  }
}
