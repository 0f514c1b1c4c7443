import Foundation
import Media
import MediaWorker
import NIOCore
import Recorder
import TestSupport
import Testing

/// The processes of the recorder under test are found as the children of the program that it has started.
@Suite("Faults of decoding processes while eight users are recorded", .serialized)
struct RecordingFaultTests {
  private static let users = 8

  /// Records eight users of H.264 in real time and sends a signal to the process of one of them.
  private func record(
    seconds: Double, signal: Int32
  ) async throws -> (manifests: [RecordingManifest], problems: [RoomRecorder.Problem], frames: Int, requests: Int) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stream = try H264Stream.make(
      size: "64x48", seconds: seconds, ["-c:v", "libx264", "-profile:v", "baseline", "-g", "15"])
    let recorder = try RoomRecorder(RoomRecorder.Configuration(folder: folder, room: "1"))
    let owners = (0..<Self.users).map { ParticipantID("user\($0)") }
    for owner in owners { recorder.begin(owner) }
    let start = ContinuousClock.Instant.now
    let before = Set(Self.workers)
    for (index, payload) in stream.frames.enumerated() {
      let time = start + .milliseconds(index * 1_000 / 30)
      try await Task.sleep(until: time, clock: .continuous)
      if index == 30 {
        let started = Self.workers.filter { !before.contains($0) }
        #expect(started.count == Self.users)
        kill(try #require(started.first), signal)
      }
      for owner in owners {
        let frame = EncodedFrame(
          owner: owner, codec: .h264, time: MediaTime(ticks: Int64(index) * 3_000, rate: 90_000), payload: payload,
          isKeyframe: index % 15 == 0, arrival: time)
        recorder.receive(.frame(frame), of: owner, now: time)
      }
    }
    let summaries = await recorder.finish()
    var problems: [RoomRecorder.Problem] = []
    for await problem in recorder.problems { problems.append(problem) }
    var requests = 0
    for await _ in recorder.keyframeRequests { requests += 1 }
    #expect(summaries.count == Self.users)
    return (summaries.map(\.manifest), problems, stream.frames.count, requests)
  }

  private static var workers: [Int32] {
    guard let launcher = MediaLauncher.background.id,
      let text = try? String(contentsOfFile: "/proc/\(launcher)/task/\(launcher)/children", encoding: .utf8)
    else { return [] }
    return text.split(separator: " ").compactMap { Int32($0) }
  }

  private func video(_ manifest: RecordingManifest) throws -> RecordingManifest.Track {
    try #require(manifest.tracks.first { $0.kind == "video" })
  }

  @Test("one that is killed costs its user the frames up to the next keyframe, and nobody anything of the recording")
  func killed() async throws {
    let (manifests, problems, frames, requests) = try await record(seconds: 2.5, signal: SIGSEGV)
    let tracks = try manifests.map(video)
    #expect(tracks.allSatisfy { $0.frames == UInt64(frames) && $0.unverified == 0 })
    let errors = tracks.compactMap(\.decodeErrors).filter { $0 > 0 }
    #expect(errors.count == 1 && errors.allSatisfy { $0 <= 15 })
    #expect(requests >= 1, "a keyframe ends that")
    #expect(problems.map(\.kind) == [.notVerified])
    #expect(problems.first?.sentence.contains("was ended by signal 11 (SIGSEGV)") == true, "\(problems)")
  }

  @Test("one that is stopped leaves frames of its user unverified, and costs nobody anything else")
  func stopped() async throws {
    let (manifests, problems, frames, _) = try await record(seconds: 8, signal: SIGSTOP)
    let tracks = try manifests.map(video)
    #expect(tracks.allSatisfy { $0.frames == UInt64(frames) && $0.decodeErrors == 0 })
    let unverified = tracks.compactMap(\.unverified).filter { $0 > 0 }
    #expect(unverified.count == 1 && unverified.allSatisfy { $0 <= 15 })
    #expect(problems.map(\.kind) == [.notVerified])
    #expect(problems.first?.sentence.contains("did not answer") == true, "\(problems)")
  }

  @Test("a participant who sends every broken form of a keyframe costs eight others nothing")
  func brokenStream() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stream = try H264Stream.make(
      size: "64x48", seconds: 3, ["-c:v", "libx264", "-profile:v", "main", "-bf", "0", "-g", "15"])
    let recorder = try RoomRecorder(RoomRecorder.Configuration(folder: folder, room: "1"))
    let honest = (0..<Self.users).map { ParticipantID("user\($0)") }
    let attacker = ParticipantID("attacker")
    for owner in honest + [attacker] { recorder.begin(owner) }
    let keyframe = stream.frames[0]
    let share = keyframe.readableBytes / stream.frames.count + 1
    let start = ContinuousClock.Instant.now
    var sent: Int64 = 0
    func send(_ payload: ByteBuffer, of owner: ParticipantID, number: Int64, isKeyframe: Bool) {
      let frame = EncodedFrame(
        owner: owner, codec: .h264, time: MediaTime(ticks: number * 3_000, rate: 90_000), payload: payload,
        isKeyframe: isKeyframe, arrival: .now)
      recorder.receive(.frame(frame), of: owner, now: .now)
    }
    for (index, payload) in stream.frames.enumerated() {
      try await Task.sleep(until: start + .milliseconds(index * 1_000 / 30), clock: .continuous)
      for owner in honest { send(payload, of: owner, number: Int64(index), isKeyframe: index % 15 == 0) }
      for position in (0..<keyframe.readableBytes).dropFirst(index * share).prefix(share) {
        var broken = keyframe
        broken.setInteger((broken.getInteger(at: position, as: UInt8.self) ?? 0) ^ 0xFF, at: position)
        for (payload, isKeyframe) in [(broken, true), (stream.frames[1], false)] {
          send(payload, of: attacker, number: sent, isKeyframe: isKeyframe)
          sent += 1
        }
      }
    }
    let summaries = await recorder.finish()
    #expect(sent == 2 * keyframe.readableBytes)
    for summary in summaries where summary.participant != attacker {
      let track = try video(summary.manifest)
      #expect(track.frames == UInt64(stream.frames.count) && track.decodeErrors == 0 && track.unverified == 0)
    }
    let track = try video(try #require(summaries.first { $0.participant == attacker }).manifest)
    #expect(try #require(track.decodeErrors) > 0)
    #expect(summaries.count == Self.users + 1)
  }
}
