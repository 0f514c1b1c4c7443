import Foundation
import TestSupport
import Testing

/// Checks that apply to every good recording of a browser's call.
struct Judgement {
  let take: RecordingFolder.Take
  let scenario: Scenario
  /// The name of the recording in printed lines.
  let name: String

  /// Compares a recording with the browser's report of its call.
  ///
  /// - Parameters:
  ///   - call: the browser's last report.
  ///   - length: how long the browser sent, in seconds; nil for the time from the connection to the last report.
  ///   - framesSent: the number of frames that were seen to leave the browser. On a bad network the browser also counts
  ///     frames that it discarded before their first packet was sent.
  func expectGood(of call: CallReport, length: Double? = nil, framesSent: Int? = nil) async throws {
    let length = length ?? call.length
    let framesSent = framesSent ?? call.framesSent
    let video = try #require(take.webm.video)
    await scenario.note(
      """
      \(name): \(seconds(take.webm.duration)) recorded of \(seconds(length)); \(video.times.count) frames of \
      \(framesSent) sent, \(Int(video.bitsPerSecond / 1000)) kb/s, \(video.width ?? 0)x\(video.height ?? 0); \
      \(take.ogg.audio?.times.count ?? 0) audio packets of \(call.audioPacketsSent) sent
      """)
    try expectAudio()
    let stall = await scenario.stall / 1000
    #expect(Self.near(take.webm.duration, length, stall: stall), .onQuietMachine("the WebM is as long as the call"))
    // The Ogg is as long as the browser's audio. A microphone that is not scheduled on a busy machine sends less audio
    // than real time.
    let shortest = min(length, 0.020 * Double(call.audioPacketsSent))
    let longest = max(length, call.length)
    #expect(
      take.ogg.duration >= 0.97 * shortest - stall && take.ogg.duration <= 1.03 * longest + stall,
      .onQuietMachine("the Ogg is as long as the call, \(shortest) to \(longest) s"))
    #expect(Double(video.times.count) >= 0.98 * Double(framesSent), "98 % of the frames sent are recorded")
    #expect(Double(video.times.count) <= 1.02 * Double(framesSent) + 10, "no frame is recorded twice")
    let audioChunks = Double(take.ogg.audio?.times.count ?? 0)
    #expect(audioChunks >= 0.98 * Double(call.audioPacketsSent), "98 % of the audio packets sent are recorded")
  }

  /// Checks the files on their own: other programs read and decode them without errors.
  func expectAudio() throws {
    let video = try #require(take.webm.video)
    let audio = try #require(take.webm.audio)
    let oggAudio = try #require(take.ogg.audio)
    #expect([video.codec, audio.codec, oggAudio.codec] == ["vp8", "opus", "opus"])
    #expect(video.keyframes.first == true, "the first frame is a keyframe")
    #expect(min(video.first, audio.first) < 0.05, "the file begins at zero")
    #expect(try take.webm.decodingErrors() == "")
    #expect(try take.ogg.decodingErrors() == "")

    let matroska = try take.webm.matroska()
    #expect(matroska.isAudio, "mkvinfo: \(matroska.output.suffix(300))")
    #expect(matroska.hasCues && matroska.hasDuration && matroska.hasSeekHead)
    #expect(matroska.clusterLengths.max() ?? .infinity <= 1, "a cluster lasts 1 s at most")
    let ogg = try take.ogg.ogg()
    #expect(ogg.isAudio, "opusinfo: \(ogg.output)")

    expectHonestManifest(video: video, audio: audio)
  }

  /// Checks that audio and video are in sync: each beep starts with its flash.
  func expectInStep(within limit: Double = 0.060) async throws {
    let signs = try FlashesAndBeeps(in: take.webm)
    await scenario.note("\(name): \(signs)")
    #expect(signs.offsets.count >= 3, .onQuietMachine("flashes and beeps are found"))
    let stall = await scenario.stall / 1000
    #expect(
      abs(signs.offset ?? .infinity) < limit + stall,
      .onQuietMachine("audio and video start within \(limit) s of each other"))
  }

  private func expectHonestManifest(video: Recording.Stream, audio: Recording.Stream) {
    let manifest = take.manifest
    let tracks = manifest["tracks"].list
    let videoFrames = tracks.first { $0["kind"] == "video" } ?? .null
    let audioChunks = tracks.first { $0["kind"] == "audio" } ?? .null
    #expect(manifest["version"] == 1)
    #expect(manifest["finished"] == true)
    #expect(manifest["left"] != .null)
    #expect(videoFrames["frames"].int == video.times.count)
    #expect(videoFrames["keyframes"].int == video.keyframes.count { $0 })
    #expect(audioChunks["frames"].int == audio.times.count)
    #expect(videoFrames["decodeErrors"] == 0)
    #expect(audioChunks["decodeErrors"] == 0)
  }

  /// Whether two durations differ by at most 3 %.
  ///
  /// - Parameter stall: how long the machine did not schedule a program; all durations in seconds.
  static func near(_ one: Double, _ other: Double, stall: Double = 0) -> Bool {
    abs(one - other) <= 0.03 * other + stall
  }

  private func seconds(_ value: Double) -> String { String(format: "%.2f s", value) }
}
