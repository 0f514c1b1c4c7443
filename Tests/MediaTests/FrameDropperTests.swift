import Media
import NIOCore
import Testing

@Suite("The frame dropper")
struct FrameDropperTests {
  private static let (anna, bert) = (ParticipantID("anna"), ParticipantID("bert"))
  private static let start = ContinuousClock.now

  private func frame(
    _ number: Int, of owner: ParticipantID = anna, _ codec: Codec = .vp8, isKeyframe: Bool = false, gap: MediaGap? = nil
  ) -> EncodedFrame {
    EncodedFrame(
      owner: owner, codec: codec, time: MediaTime(ticks: Int64(number), rate: codec.clockRate),
      payload: ByteBuffer(repeating: 0, count: 10), isKeyframe: isKeyframe || codec == .opus,
      arrival: Self.start + .milliseconds(number), gap: gap)
  }

  /// Returns how many frames were dropped before a frame; nil if it is dropped itself.
  private func droppedBefore(
    _ frame: EncodedFrame, _ dropper: inout FrameDropper, _ capacity: FrameDropper.Capacity
  ) -> Int? {
    switch dropper.admit(frame, of: frame.track, capacity: { capacity }) {
    case .admitted(let dropped): dropped?.count ?? 0
    case .dropped: nil
    }
  }

  @Test("a dropped video track resumes with a keyframe that finds ample room")
  func resumption() {
    var dropper = FrameDropper()
    #expect(droppedBefore(frame(0, isKeyframe: true), &dropper, .low) == 0)
    #expect(droppedBefore(frame(1), &dropper, .full) == nil)
    #expect(droppedBefore(frame(2), &dropper, .ample) == nil)
    #expect(droppedBefore(frame(3, isKeyframe: true), &dropper, .low) == nil)
    #expect(dropper.isDropping(.init(of: Self.anna, kind: .video)))
    #expect(droppedBefore(frame(4, isKeyframe: true), &dropper, .ample) == 3)
    #expect(droppedBefore(frame(5), &dropper, .low) == 0)
    #expect(dropper.tracks.isEmpty)
  }

  @Test("audio is dropped frame by frame, and each track separately")
  func tracks() {
    var dropper = FrameDropper()
    #expect(droppedBefore(frame(0, .opus), &dropper, .full) == nil)
    #expect(droppedBefore(frame(1, .opus), &dropper, .low) == 1)
    #expect(droppedBefore(frame(2), &dropper, .full) == nil)
    #expect(droppedBefore(frame(3, .opus), &dropper, .low) == 0)
    #expect(droppedBefore(frame(4, of: Self.bert), &dropper, .low) == 0)
    #expect(dropper.takeDropped(of: .init(of: Self.anna, kind: .video))?.count == 1)
    #expect(droppedBefore(frame(5), &dropper, .low) == 0)
  }

  @Test("capacity is not checked for a frame that is dropped in any case, and once for any other")
  func askedOnce() {
    var dropper = FrameDropper()
    var asked = 0
    func admit(_ frame: EncodedFrame, _ capacity: FrameDropper.Capacity) {
      _ = dropper.admit(frame, of: frame.track) {
        asked += 1
        return capacity
      }
    }
    admit(frame(0), .ample)
    #expect(asked == 1)
    admit(frame(1), .full)
    #expect(asked == 2)
    admit(frame(2), .ample)
    #expect(asked == 2)
    admit(frame(3, isKeyframe: true), .ample)
    #expect(asked == 3)
  }

  @Test("the gap after dropped frames adds up the losses before each of them")
  func gap() throws {
    var dropper = FrameDropper()
    let lost = MediaGap(.lost, packetsLost: 2, framesDropped: 1, delay: .milliseconds(300))
    let track = TrackID(of: Self.anna, kind: .video)
    dropper.drop(frame(0, gap: lost), of: track) { .diskStalled }
    dropper.drop(frame(1, isKeyframe: true), of: track)
    let dropped = try #require(dropper.takeAll()[track])
    #expect(dropped.reason == .diskStalled && dropped.count == 2 && dropped.keyframes == 1 && dropped.bytes == 20)
    #expect(dropped.firstArrival == MonotonicInstant(Self.start))
    #expect(dropped.lastArrival == MonotonicInstant(Self.start) + .milliseconds(1))
    let next = MediaGap(.lost, packetsLost: 1, delay: .milliseconds(10))
    #expect(
      dropped.gap(before: next)
        == MediaGap(.diskStalled, packetsLost: 3, framesDropped: 3, delay: .milliseconds(10)))
    #expect(dropper.tracks.isEmpty)
  }

  @Test("a queue returns its elements in order and counts their bytes")
  func queue() {
    var queue = BoundedFrameQueue<Int>()
    for number in 0..<5 { queue.append(number, bytes: number * 10) }
    #expect(queue.bytes == 100 && queue.count == 5 && queue.first == 0 && queue.last == 4)
    let first = queue.popFirst()
    let second = queue.popFirst()
    #expect(first?.element == 0 && second?.element == 1 && second?.bytes == 10)
    #expect(queue.bytes == 90)
    let rest = queue.takeAll().map(\.element)
    #expect(rest == [2, 3, 4])
    let isEmpty = queue.isEmpty && queue.bytes == 0 && queue.popFirst() == nil
    #expect(isEmpty)
  }
}
