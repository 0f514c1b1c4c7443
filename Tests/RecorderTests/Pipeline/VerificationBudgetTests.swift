import Media
import NIOCore
import Recorder
import Testing

/// Frames that cost more to decode than a call has time for.
@Suite("Verification budget")
struct VerificationBudgetTests {
  private let start = MonotonicInstant.now

  @Test("1920x1080 at 30 frames a second is always verified, even with a change of size every second")
  func ordinary() {
    var budget = VerificationBudget()
    for index in 0..<30 * 60 {
      let size = VideoSize(width: index / 30 % 2 == 0 ? 1_920 : 1_280, height: index / 30 % 2 == 0 ? 1_080 : 720)
      let isAffordable = budget.spend(on: size, now: start + .milliseconds(index * 1_000 / 30))
      #expect(isAffordable)
    }
  }

  @Test("4096x4096 at 100 frames a second, each with another size, is verified a few times a second")
  func hostile() {
    var budget = VerificationBudget()
    let verified = (0..<1_000).count { index in
      let size = VideoSize(width: index % 2 == 0 ? 4_096 : 4_080, height: 4_096)
      return budget.spend(on: size, now: start + .milliseconds(index * 10))
    }
    print("measured: of 1,000 frames of 4096x4096 in 10 s, \(verified) are verified")
    #expect((20...50).contains(verified))
  }

  @Test("some thousand frames of 16x16 a second are verified, and no more even if ten thousand arrive")
  func small() {
    var budget = VerificationBudget()
    let verified = (0..<100_000).count { index in
      budget.spend(on: VideoSize(width: 16, height: 16), now: start + .microseconds(index * 100))
    }
    print("measured: of 100,000 frames of 16x16 in 10 s, \(verified) are verified")
    #expect((10_000...42_000).contains(verified))
  }

  @Test("a participant whose frames keep a decoding process busy has half of a processor's time")
  func busy() {
    var budget = VerificationBudget()
    var used = Duration.zero
    let size = VideoSize(width: 16, height: 16)
    for index in 0..<600 {
      // A frame every 100 ms, each of which takes 100 ms.
      guard budget.spend(on: size, processorTime: used, now: start + .milliseconds(index * 100)) else { continue }
      used += .milliseconds(100)
    }
    print("measured: of 60 s, frames are decoded for \(used)")
    #expect((.seconds(30) ... .seconds(36)).contains(used))
    // A usual call has used a tenth of it.
    var usual = VerificationBudget()
    for index in 0..<30 * 60 {
      let isAffordable = usual.spend(
        on: VideoSize(width: 1_280, height: 720), processorTime: .milliseconds(index * 5),
        now: start + .milliseconds(index * 1_000 / 30))
      #expect(isAffordable)
    }
  }

  @Test("a frame that depends on an unverified one is not verified, and the next affordable keyframe is")
  func chain() throws {
    let check = FrameVerifier(VerificationPool(threads: 0))
    func unverified() -> UInt64 { check.counts.unverified[.video] ?? 0 }
    let small = try TestMedia.videoFrames(1, size: VideoSize(width: 64, height: 48), keyframeEvery: 30)
    // A keyframe's header and little else: enough to make libvpx allocate 4096x4096.
    func large(_ width: Int, at seconds: Double) -> EncodedFrame {
      let bytes: [UInt8] = [0x10, 0x00, 0x00, 0x9D, 0x01, 0x2A, UInt8(width & 0xFF), UInt8(width >> 8), 0x00, 0x10]
      return EncodedFrame(
        owner: ParticipantID("a"), codec: .vp8, time: MediaTime(ticks: 0, rate: 90_000),
        payload: ByteBuffer(bytes: bytes),
        isKeyframe: true, size: VideoSize(width: width, height: 4_096), arrival: start + .seconds(seconds))
    }
    for index in 0..<200 { check.examine(large(index % 2 == 0 ? 4_096 : 4_080, at: Double(index) / 100), now: start) }
    #expect(unverified() > 150)
    let before = unverified()
    var frame = EncodedFrame(
      owner: ParticipantID("a"), codec: .vp8, time: MediaTime(ticks: 0, rate: 90_000), payload: small[1].payload,
      isKeyframe: false, size: nil, arrival: start + .seconds(2))
    check.examine(frame, now: start)
    #expect(unverified() == before + 1)
    frame.payload = small[0].payload
    frame.isKeyframe = true
    frame.size = VideoSize(width: 64, height: 48)
    frame.arrived = start + .seconds(3)
    check.examine(frame, now: start)
    #expect(unverified() == before + 1 && check.isIdle)
  }
}
