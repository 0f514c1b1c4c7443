import Bitstream
import BotPeer
import Media
import NIOCore
import PeerEngine

/// The times of frames that are sent in another order than they are shown.
enum PictureOrderTarget {
  private static let large = ByteBuffer(repeating: 0, count: 1 << 20)

  /// Passes frames to a track: a byte with the number of frames that the stream reorders (17: it is not told), and then for each frame a
  /// byte of flags, how far its picture order and its timestamp are from those of the frame before, and how much later it arrives.
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    var (cursor, timestamper) = (InputCursor(input), PresentationTimestamper())
    let declared = Int(cursor.byte() % 18)
    let reordering = declared == 17 ? nil : declared
    var (now, ticks, count, added, taken) = (MonotonicInstant.now, Int64(0), Int64(0), 0, 0)
    var (newest, held): (MediaTime?, Int) = (nil, 0)

    func take() throws(InvariantViolation) {
      while let frame = timestamper.popFrame() {
        try require(frame.stream == taken, "Frames do not stay in the order of decoding.")
        taken += 1
        held -= frame.payload.readableBytes
        if frame.isReordered {
          guard let newest else { throw InvariantViolation("The first frame is shown before an earlier one.") }
          let back = newest.duration(since: frame.time)
          try require(
            back > .zero && back <= PresentationTimestamper.maximumStepBack,
            "A frame is shown \(back) before an earlier one.")
        } else {
          newest = frame.time
        }
      }
    }

    while !cursor.isAtEnd {
      let flags = cursor.byte()
      let step = Int64(Int8(bitPattern: cursor.byte()))
      count = flags & 1 != 0 ? step : count &+ (flags & 0x40 != 0 ? step &* 1_000_000 : step)
      // Up to 1.4 s, or a clock that jumps.
      let later = Int64(Int8(bitPattern: cursor.byte()))
      ticks = ticks &+ (flags & 0x20 != 0 ? later &* 1_000_000 : later &* 1_000)
      now += .milliseconds(Int(cursor.byte()))
      let payload = flags & 0x80 != 0 ? large : ByteBuffer()
      held += payload.readableBytes
      // Its number is that of its stream.
      let frame = EncodedFrame(
        owner: ParticipantID("fuzz"), stream: added, codec: flags & 0x10 != 0 ? .h265 : .h264,
        time: MediaTime(ticks: ticks, rate: 90_000), payload: payload, header: .unreadable, isKeyframe: flags & 1 != 0,
        arrived: now, gap: later & 3 == 3 ? MediaGap(.lost, packetsLost: 1) : nil)
      let order = PictureOrder(count: count, beginsSequence: flags & 1 != 0, reorderedFrames: reordering)
      timestamper.add(frame, flags & 2 != 0 ? nil : order, now: now)
      added += 1
      try take()
      try require(added - taken <= PresentationTimestamper.maximumFrames, "\(added - taken) frames are held.")
      try require(held <= PresentationTimestamper.maximumBytes, "\(held) bytes are held.")
      if flags & 4 != 0 { timestamper.finish() }
      if flags & 8 != 0, let deadline = timestamper.deadline {
        try require(deadline <= now + PresentationTimestamper.maximumWait, "A frame is held for too long.")
        now = max(now, deadline)
        timestamper.expire(now: now)
        try require(timestamper.deadline == nil, "A frame is held after its time.")
      }
      try take()
      if flags & 4 != 0 {
        try require(taken == added, "A frame is held after the end.")
        newest = nil
      }
    }
    timestamper.finish()
    try take()
    try require(taken == added, "A frame is lost.")
  }
}
