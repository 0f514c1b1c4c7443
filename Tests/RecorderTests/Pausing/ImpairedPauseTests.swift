import Codecs
import Foundation
import Media
import NIOCore
import Pattern
import Recorder
import TestSupport
import Testing

/// Whole calls in memory, with 5 % loss, reordering and in-band FEC.
@Suite("Pauses of a recording over a bad network")
struct ImpairedPauseTests {
  @Test("of 30 random pauses no frame and no tone is in any file, and nothing else is missing", arguments: [1, 2, 3])
  func random(seed: UInt64) async throws {
    let folder = TestFolder()
    let call = try PausedCall(seed: seed, pauses: 10)
    let recorder = try folder.recorder()
    let summary = try #require(try await call.run(to: recorder))
    let manifest = summary.manifest
    #expect(folder.names == ["anna.json", "anna.ogg", "anna.webm"] && manifest.finished)
    #expect(manifest.problems == [])
    let begin = try #require(call.begin)
    let offset = (begin - Script.beginning) / .seconds(1) - (manifest.session?.offset ?? 0)

    // Positions are those of the arrivals: 40 ms later than what was sent.
    let video = try #require(summary.track(.video))
    let audio = try #require(summary.track(.audio))
    for track in [video, audio] {
      #expect(track.decodeErrors == 0, "\(track.kind)")
      let gaps = track.gaps.filter { $0.reason == "paused" }
      #expect(gaps.count == call.pauses.count, "\(track.kind)")
      for (gap, pause) in zip(gaps, call.pauses) {
        let (start, end) = (pause.start + offset, pause.end + offset)
        #expect(
          abs(gap.start - start) < 0.15 && abs(gap.start + gap.duration - end) < 0.15,
          "\(track.kind) \(gap) \(start)–\(end)")
      }
    }
    #expect(video.gapTotals["paused"]?.count == UInt64(call.pauses.count))
    #expect(audio.gaps.reduce(0) { $0 + $1.packets } == Int(audio.lost + audio.late))

    try expectFrames(of: call, in: folder, gaps: video.gaps, offset: offset)
    try expectTones(of: call, in: folder)
    for name in ["anna.webm", "anna.ogg"] {
      #expect(try Reader(path: "\(folder.path)/\(name)").complaints("-enc_time_base", "-1") == "", "\(name)")
    }
  }

  private func expectFrames(
    of call: PausedCall, in folder: TestFolder, gaps: [RecordingManifest.Gap], offset: Double
  ) throws {
    let decoder = try VP8Decoder()
    let reader = PatternReader()
    var numbers: [Int] = []
    for payload in BlockReader(try folder.bytes("anna.webm")).payloads(.vp8) {
      let reading = try decoder.decode(ByteBuffer(bytes: payload)) { reader.read($0) }
      guard case .success(let reading)? = reading else { continue }
      numbers.append(Int(reading.frameNumber))
    }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    let margin = PausedCall.margin
    for number in numbers {
      let time = call.sentFrames[number]
      #expect(
        !call.pauses.contains { time > $0.start + margin && time < $0.end - margin }, "frame \(number) at \(time)")
    }
    // Each other frame is in the file, or in a gap.
    let present = Set(numbers)
    for (number, time) in call.sentFrames.enumerated() where !present.contains(number) && time > 0.5 {
      let position = time + offset + 0.05
      let isNamed = gaps.contains { position > $0.start - 0.1 && position < $0.start + $0.duration + 0.1 }
      #expect(isNamed || time > call.length - 0.2, "frame \(number) at \(time)")
    }
    let unpaused = call.sentFrames.count { time in
      !call.pauses.contains { time > $0.start - 0.2 && time < $0.end + 0.5 }
    }
    #expect(numbers.count >= unpaused * 8 / 10)
  }

  private func expectTones(of call: PausedCall, in folder: TestFolder) throws {
    var sent = try ToneSearch()
    for packet in call.sentPackets { try sent.add(packet) }
    #expect(sent.found.count > 100 && sent.foundInCopy.count > 100)
    let webm = BlockReader(try folder.bytes("anna.webm")).payloads(.opus).map { ByteBuffer(bytes: $0) }
    let ogg = OggPackets(try folder.bytes("anna.ogg")).payloads
    for packets in [webm, ogg] {
      var search = try ToneSearch()
      for packet in packets { try search.add(packet) }
      #expect(search.found == [] && search.foundInCopy == [])
      #expect(Double(search.allowed) > Double(sent.allowed) * 0.75)
    }
    for name in ["anna.webm", "anna.ogg"] {
      let samples = try Reader(path: "\(folder.path)/\(name)").samples()
      for start in stride(from: 0, to: samples.count - 960, by: 960) {
        let amplitude = ToneSearch.amplitude(PausedCall.forbidden, in: Array(samples[start..<(start + 960)]))
        if amplitude > ToneSearch.threshold {
          Issue.record("\(name): the tone of a pause at \(Double(start) / 48_000)")
        }
      }
    }
  }
}
