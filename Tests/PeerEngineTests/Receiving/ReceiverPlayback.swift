import Bitstream
import Media
import PeerEngine
import TestSupport

/// A packet of a picture, with its number in the stream.
struct PicturePacket {
  var sequence: Int
  var picture: Int
  var packet: ReceivedPacket
}

/// Passes packets to a receiver as a track does: in order, with the number of those that are missing.
struct ReceiverPlayback<Receiver: VideoReceiver> {
  var receiver = Receiver(parameterSets: [])
  private(set) var frames: [(frame: Receiver.Assembler.Frame, isDecodable: Bool)] = []
  private var next = 0

  mutating func add(_ packet: PicturePacket) {
    if packet.sequence > next { receiver.addLost(packet.sequence - next) }
    next = packet.sequence + 1
    receiver.add(packet.packet)
    pop()
  }

  /// Adds packets of which one in so many is lost, and others are late. All of the first picture arrive in order, so that there is
  /// something to decode.
  ///
  /// - Returns: the numbers of the pictures that lack a packet.
  mutating func addImpaired(
    _ packets: [PicturePacket], oneLostIn loss: Int, using generator: inout SeededGenerator
  ) -> Set<Int> {
    var arrivals: [(time: Int, packet: PicturePacket)] = []
    var damaged: Set<Int> = []
    for packet in packets {
      if packet.picture > 0, Int.random(in: 0..<loss, using: &generator) == 0 {
        damaged.insert(packet.picture)
      } else {
        let delay = packet.picture > 0 ? Int.random(in: 0...6, using: &generator) : 0
        arrivals.append((packet.sequence + delay, packet))
      }
    }
    arrivals.sort { ($0.time, $0.packet.sequence) < ($1.time, $1.packet.sequence) }
    var buffer = ReorderBuffer<PicturePacket>(first: 0, capacity: 32)
    for (_, packet) in arrivals {
      if buffer.insert(packet, at: Int64(packet.sequence)) != .stored { damaged.insert(packet.picture) }
      // A missing packet is given up when one arrives that is five further.
      if let waiting = buffer.firstWaiting, buffer.highest - buffer.next >= 5 { buffer.skip(to: waiting) }
      while let next = buffer.popNext() { add(next) }
    }
    while let waiting = buffer.firstWaiting {
      buffer.skip(to: waiting)
      while let next = buffer.popNext() { add(next) }
    }
    return damaged
  }

  mutating func pop() {
    while let frame = receiver.popFrame() { frames.append(frame) }
  }

  mutating func finish() {
    receiver.finish()
    pop()
  }

  var needsKeyframe: Bool {
    var receiver = receiver
    return receiver.needsKeyframe
  }

  var emitted: [Receiver.Assembler.Frame] { frames.filter(\.isDecodable).map(\.frame) }
  /// The numbers of the pictures that were emitted.
  var numbers: [Int] { emitted.map { Int($0.timestamp / 3_000) } }
}
