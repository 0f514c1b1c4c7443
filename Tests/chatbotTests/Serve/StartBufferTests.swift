import Media
import NIOCore
import Testing

@testable import chatbot

@Suite("The frames with which a publisher begins")
struct StartBufferTests {
  private static let begin = ContinuousClock.now

  private func frame(_ milliseconds: Int, bytes: Int = 100) -> EncodedFrame {
    EncodedFrame(
      owner: ParticipantID("publisher"), codec: .vp8, time: MediaTime(ticks: Int64(milliseconds) * 90, rate: 90_000),
      payload: ByteBuffer(repeating: 0, count: bytes), isKeyframe: milliseconds == 0,
      arrival: Self.begin + .milliseconds(milliseconds))
  }

  private func now(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(Self.begin + .milliseconds(milliseconds))
  }

  @Test("who connects within 2 s gets all frames from the first one on, however many connect")
  func kept() {
    var buffer = StartBuffer()
    #expect(buffer.frames(now: now(0)).isEmpty)
    for number in 0..<10 { buffer.add(frame(number * 33)) }
    #expect(buffer.frames(now: now(330)) == (0..<10).map { frame($0 * 33) })
    buffer.add(frame(330))
    #expect(buffer.frames(now: now(2_000)).count == 11)
  }

  @Test("who connects later gets none, whether or not frames arrive")
  func late() {
    var buffer = StartBuffer()
    buffer.add(frame(0))
    #expect(buffer.frames(now: now(2_001)).isEmpty)
    #expect(buffer.frames(now: now(100)).isEmpty)
    var other = StartBuffer()
    other.add(frame(0))
    other.add(frame(2_001))
    #expect(other.frames(now: now(100)).isEmpty)
  }

  @Test("more than 2 MiB are not kept")
  func size() {
    var buffer = StartBuffer()
    buffer.add(frame(0, bytes: 1 << 20))
    buffer.add(frame(33, bytes: 1 << 20))
    #expect(buffer.frames(now: now(40)).count == 2)
    buffer.add(frame(66, bytes: 1))
    #expect(buffer.frames(now: now(70)).isEmpty)
  }
}
