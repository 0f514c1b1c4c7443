import Media
import NIOCore
import Recorder
import Synchronization
import Testing

/// Verification on its own threads.
@Suite("Verification pool", .timeLimit(.minutes(2)))
struct VerificationPoolTests {
  private let start = MonotonicInstant.now

  private func frames(_ pieces: [TestMedia.Piece], of name: String, codec: Codec = .vp8) -> [EncodedFrame] {
    pieces.map { piece in
      EncodedFrame(
        owner: ParticipantID(name), codec: codec, time: MediaTime(ticks: piece.ticks, rate: codec.clockRate),
        payload: piece.payload, isKeyframe: piece.isKeyframe, size: piece.size,
        arrival: start + .seconds(Double(piece.ticks) / Double(codec.clockRate)))
    }
  }

  private func waitUntil(_ condition: () -> Bool) async throws {
    let deadline = MonotonicInstant.now + .seconds(60)
    while !condition(), MonotonicInstant.now < deadline { await Task.yield() }
  }

  @Test("all frames of many participants are decoded, each participant's in order")
  func everything() async throws {
    let pool = VerificationPool(threads: 2)
    let videoFrames = try TestMedia.videoFrames(4, size: VideoSize(width: 64, height: 48), keyframeEvery: 30)
    let audio = try TestMedia.tone(4)
    let checks = (0..<10).map { _ in FrameVerifier(pool) }
    for index in 0..<200 {
      for (number, check) in checks.enumerated() {
        if index < videoFrames.count { check.examine(frames([videoFrames[index]], of: "\(number)")[0], now: start) }
        check.examine(frames([audio[index]], of: "\(number)", codec: .opus)[0], now: start)
      }
    }
    try await waitUntil { checks.allSatisfy(\.isIdle) }
    for check in checks {
      // Decoding a frame before the one that it depends on is an error.
      #expect(check.counts.errors.isEmpty)
      #expect(check.counts.unverified.isEmpty)
      #expect(check.counts.lastSize == VideoSize(width: 64, height: 48))
    }
    #expect(pool.waitingBytes == 0)
  }

  @Test("a participant who sends too much has a limited share of the queue, and the others lose nothing")
  func share() async throws {
    let pool = VerificationPool(threads: 1, bounds: .init(all: 1 << 20, minimumShare: 64 << 10))
    let (greedy, modest) = (FrameVerifier(pool), FrameVerifier(pool))
    let videoFrames = try TestMedia.videoFrames(2, size: VideoSize(width: 64, height: 48), keyframeEvery: 30)
    // Keyframes with a long payload that takes no time to decode: only their waiting counts.
    var large = frames([videoFrames[0]], of: "greedy")[0]
    large.payload.writeRepeatingByte(0, count: 100_000)
    for index in 0..<60 {
      for _ in 0..<20 { greedy.examine(large, now: start) }
      modest.examine(frames([videoFrames[index]], of: "modest")[0], now: start)
      #expect(pool.waitingBytes <= 1 << 20)
    }
    try await waitUntil { greedy.isIdle && modest.isIdle }
    let left = greedy.counts.unverified[.video] ?? 0
    print("measured: of 1,200 large frames \(left) are not verified")
    #expect(modest.counts.unverified.isEmpty && modest.counts.errors.isEmpty)
  }

  @Test("frames that are given up are counted, and verification continues at the next keyframe")
  func givenUp() async throws {
    let pool = VerificationPool(threads: 1)
    let check = FrameVerifier(pool)
    let videoFrames = try frames(
      TestMedia.videoFrames(2, size: VideoSize(width: 640, height: 480), keyframeEvery: 30), of: "a")
    for frame in videoFrames.prefix(10) { check.examine(frame, now: start) }
    check.giveUp()
    for frame in videoFrames.dropFirst(10) { check.examine(frame, now: start) }
    try await waitUntil { check.isIdle }
    // The thread may have been fast enough to decode all ten; otherwise nothing is decoded before the next keyframe.
    let unverified = check.counts.unverified[.video] ?? 0
    #expect(unverified <= 1 || (21...30).contains(unverified))
    #expect(check.counts.errors.isEmpty)
    #expect(pool.waitingBytes == 0)
  }
}
