import Media
import NIOCore
import RoomServer
import Testing

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

  private func participants(_ count: Int) -> [ParticipantID] { (0..<count).map { ParticipantID("viewer \($0)") } }

  /// A buffer of a participant that joined a room with some others in it.
  private func joined(_ others: [ParticipantID]) -> StartBuffer {
    var buffer = StartBuffer()
    buffer.joined(others: others)
    return buffer
  }

  @Test("those who were in the room get all frames from the first one on, once, also those from before the join")
  func kept() {
    let viewers = participants(3)
    var buffer = StartBuffer()
    for number in 0..<5 { buffer.add(frame(number * 33)) }
    buffer.joined(others: viewers)
    for number in 5..<10 { buffer.add(frame(number * 33)) }
    let first = buffer.takeFrames(for: viewers[0], now: now(330))
    #expect(first == (0..<10).map { frame($0 * 33) })
    buffer.add(frame(330))
    let again = buffer.takeFrames(for: viewers[0], now: now(340))
    #expect(again.isEmpty)
    let second = buffer.takeFrames(for: viewers[1], now: now(1_000))
    #expect(second.count == 11)
  }

  @Test("those who join later begin with the present frame, however soon, and a reconnection changes nothing")
  func laterViewer() {
    let viewers = participants(2)
    var buffer = joined([viewers[0]])
    buffer.add(frame(0))
    let late = buffer.takeFrames(for: viewers[1], now: now(100))
    #expect(late.isEmpty)
    buffer.joined(others: viewers)
    let reconnected = buffer.takeFrames(for: viewers[1], now: now(150))
    #expect(reconnected.isEmpty)
    let first = buffer.takeFrames(for: viewers[0], now: now(200))
    #expect(first.count == 1)
  }

  @Test("those who connect after more than 1 s get none, whether or not frames arrive")
  func late() {
    let viewers = participants(2)
    var buffer = joined(viewers)
    buffer.add(frame(0))
    let none = buffer.takeFrames(for: viewers[0], now: now(1_001))
    #expect(none.isEmpty)
    let ended = buffer.takeFrames(for: viewers[1], now: now(100))
    #expect(ended.isEmpty)
    var other = joined(viewers)
    other.add(frame(0))
    other.add(frame(1_001))
    let freed = other.takeFrames(for: viewers[0], now: now(100))
    #expect(freed.isEmpty)
  }

  @Test("more than 2 MiB are not kept")
  func size() {
    let viewers = participants(2)
    var buffer = joined(viewers)
    buffer.add(frame(0, bytes: 1 << 20))
    buffer.add(frame(33, bytes: 1 << 20))
    let both = buffer.takeFrames(for: viewers[0], now: now(40))
    #expect(both.count == 2)
    buffer.add(frame(66, bytes: 1))
    let none = buffer.takeFrames(for: viewers[1], now: now(70))
    #expect(none.isEmpty)
  }
}
