import NIOCore

/// Frames that wait for their time, first in, first out, with their bytes counted.
struct FrameQueue: Sendable {
  private var frames: [FileFrame?] = []
  private var head = 0
  private(set) var bytes = 0

  var first: FileFrame? { head < frames.count ? frames[head] : nil }
  var last: FileFrame? { head < frames.count ? frames[frames.count - 1] : nil }

  mutating func append(_ frame: FileFrame) {
    frames.append(frame)
    bytes += frame.payload.readableBytes
  }

  mutating func removeFirst() -> FileFrame? {
    guard head < frames.count, let frame = frames[head] else { return nil }
    frames[head] = nil
    head += 1
    bytes -= frame.payload.readableBytes
    // Moves the rest to the front now and then, so that taking one costs the same on average however many wait.
    if head > 32, head * 2 > frames.count {
      frames.removeFirst(head)
      head = 0
    }
    return frame
  }
}
