import Foundation
import TestSupport
import Testing

/// Checks that apply to every good recording of a browser's call.
struct Judgement {
  let userRecording: RecordingFolder.UserRecording
  let scenario: Scenario
  /// The name of the recording in printed lines.
  let name: String
  var videoCodec = "vp8"

  /// Compares a recording with the browser's report of its call.
  ///
  /// - Parameters:
  ///   - call: the browser's last report.
  ///   - lengths: how long the browser sent, in seconds: the bounds of what the test knows; nil for a page that left after
  ///     the report.
  ///   - framesSent: the number of frames that were seen to leave the browser. On a bad network the browser also counts
  ///     frames that it discarded before their first packet was sent.
  func expectGood(of call: CallReport, lengths: ClosedRange<Double>? = nil, framesSent: Int? = nil) async throws {
    _ = try #require(call.connectedAt)
    let lengths = lengths ?? call.lengths
    let framesSent = framesSent ?? call.framesSent
    let video = try #require(userRecording.webm.video)
    await scenario.note(
      """
      \(name): \(seconds(userRecording.webm.duration)) recorded of \(seconds(lengths)); \(video.times.count) frames of \
      \(framesSent) sent, \(Int(video.bitsPerSecond / 1000)) kb/s, \(video.width ?? 0)x\(video.height ?? 0); \
      \(userRecording.ogg.audio?.times.count ?? 0) audio packets of \(call.audioPacketsSent) sent
      """)
    try expectValidFiles()
    let stall = await scenario.stall / 1000
    // The file assumes that the last frame is shown as long as the one before it was.
    let lastFrame = zip(video.times, video.times.dropFirst()).map { $1 - $0 }.last ?? 0
    #expect(
      Self.near(userRecording.webm.duration, lengths.lowerBound...lengths.upperBound + lastFrame, stall: stall),
      .onQuietMachine("the WebM is as long as the call"))
    // The Ogg is as long as the browser's audio. A microphone that is not scheduled on a busy machine sends less audio
    // than real time.
    let shortest = min(lengths.lowerBound, 0.020 * Double(call.audioPacketsSent))
    let longest = max(lengths.upperBound, call.length)
    #expect(
      userRecording.ogg.duration >= 0.97 * shortest - stall && userRecording.ogg.duration <= 1.03 * longest + stall,
      .onQuietMachine("the Ogg is as long as the call, \(shortest) to \(longest) s"))
    #expect(Double(video.times.count) >= 0.98 * Double(framesSent), "98 % of the frames sent are recorded")
    let framesUntilEnd = Double(framesSent) * max(1, lengths.upperBound / lengths.lowerBound)
    #expect(Double(video.times.count) <= 1.02 * framesUntilEnd + 10, "no frame is recorded twice")
    let audioPackets = Double(userRecording.ogg.audio?.times.count ?? 0)
    #expect(audioPackets >= 0.98 * Double(call.audioPacketsSent), "98 % of the audio packets sent are recorded")
  }

  /// Checks the files on their own: other programs read and decode them without errors.
  func expectValidFiles() throws {
    let video = try #require(userRecording.webm.video)
    let audio = try #require(userRecording.webm.audio)
    let oggAudio = try #require(userRecording.ogg.audio)
    #expect([video.codec, audio.codec, oggAudio.codec] == [videoCodec, "opus", "opus"])
    #expect(video.keyframes.first == true, "the first frame is a keyframe")
    #expect(min(video.first, audio.first) < 0.05, "the file begins at zero")
    #expect(try userRecording.webm.decodingErrors() == "")
    #expect(try userRecording.ogg.decodingErrors() == "")

    let matroska = try userRecording.webm.matroska()
    #expect(matroska.isValid, "mkvinfo: \(matroska.output.suffix(300))")
    #expect(matroska.hasCues && matroska.hasDuration && matroska.hasSeekHead)
    #expect(matroska.clusterLengths.max() ?? .infinity <= 1, "a cluster lasts 1 s at most")
    let ogg = try userRecording.ogg.ogg()
    #expect(ogg.isValid, "opusinfo: \(ogg.output)")

    expectHonestManifest(video: video, audio: audio)
  }

  /// Checks that audio and video are in sync: each beep starts with its flash.
  ///
  /// The camera of the tests has 15 frames a second. A page that paints fewer shows a flash up to one of its frames later.
  func expectInStep(within limit: Double = 0.060) async throws {
    let signs = try FlashesAndBeeps(in: userRecording.webm)
    await scenario.note("\(name): \(signs)")
    #expect(signs.offsets.count >= 3, .onQuietMachine("flashes and beeps are found"))
    let stall = await scenario.stall / 1000
    let offset = signs.offset ?? .infinity
    let framesPerSecond = userRecording.webm.video?.framesPerSecond ?? .nan
    let late = max(0, 1 / framesPerSecond - 1 / 15)
    #expect(
      -limit - stall - late < offset && offset < limit + stall,
      .onQuietMachine("audio and video start within \(limit) s of each other"))
  }

  private func expectHonestManifest(video: Recording.Stream, audio: Recording.Stream) {
    let manifest = userRecording.manifest
    let tracks = manifest["tracks"].list
    let videoTrack = tracks.first { $0["kind"] == "video" } ?? .null
    let audioTrack = tracks.first { $0["kind"] == "audio" } ?? .null
    #expect(manifest["version"] == 2)
    #expect(manifest["finished"] == true)
    #expect(manifest["endReason"] != .null)
    #expect(videoTrack["frames"].int == video.times.count)
    #expect(videoTrack["keyframes"].int == video.keyframes.count { $0 })
    #expect(audioTrack["frames"].int == audio.times.count)
    #expect(videoTrack["decodeErrors"] == 0)
    #expect(audioTrack["decodeErrors"] == 0)
  }

  /// Whether two durations differ by at most 3 %.
  ///
  /// - Parameter stall: how long the machine did not schedule a program; all durations in seconds.
  static func near(_ one: Double, _ other: Double, stall: Double = 0) -> Bool {
    near(one, other...other, stall: stall)
  }

  /// Whether a duration is within the bounds, or differs from one of them by at most 3 %.
  static func near(_ one: Double, _ bounds: ClosedRange<Double>, stall: Double = 0) -> Bool {
    one >= 0.97 * bounds.lowerBound - stall && one <= 1.03 * bounds.upperBound + stall
  }

  private func seconds(_ value: Double) -> String { String(format: "%.2f s", value) }

  private func seconds(_ bounds: ClosedRange<Double>) -> String {
    bounds.lowerBound == bounds.upperBound
      ? seconds(bounds.lowerBound) : String(format: "%.2f to %.2f s", bounds.lowerBound, bounds.upperBound)
  }
}
