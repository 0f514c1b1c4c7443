import Media
import RTP
import TestSupport

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

/// The packets of a track and the times at which they reach a listener, to be put out of order, doubled and thinned.
struct RecordedPackets {
  struct Entry {
    var time: Duration
    var packet: RTPPacket
  }

  /// In order of time.
  private(set) var entries: [Entry]

  init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// Video of 30 frames a second.
  static func video(
    _ count: Int, packets: Int, keyframeEvery: Int = 50, maker: PacketMaker = .video()
  ) -> RecordedPackets {
    var maker = maker
    var entries: [Entry] = []
    for number in 0..<count {
      let start = Duration.nanoseconds(number * 33_333_333)
      for (part, packet) in maker.videoFrame(number, isKeyframe: number % keyframeEvery == 0, packets: packets)
        .enumerated()
      {
        entries.append(Entry(time: start + .nanoseconds(part * 33_333_333 / (packets + 1)), packet: packet))
      }
    }
    return RecordedPackets(entries)
  }

  /// Audio in packets of 20 ms.
  static func audio(_ count: Int, maker: PacketMaker = .audio()) -> RecordedPackets {
    var maker = maker
    return RecordedPackets((0..<count).map { Entry(time: .milliseconds($0 * 20), packet: maker.audio($0)) })
  }

  /// Moves each packet by up to `depth` places; the times stay.
  func reordered(depth: Int, using generator: inout SeededGenerator) -> RecordedPackets {
    let keys = entries.indices.map { ($0, $0 + Int.random(in: 0...depth, using: &generator)) }
    let order = keys.sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 < $1.1 }
    return RecordedPackets(zip(entries, order).map { Entry(time: $0.time, packet: entries[$1.0].packet) })
  }

  /// Lets a share of the packets come a second time, at most `depth` places later.
  func doubled(_ share: Double, depth: Int, using generator: inout SeededGenerator) -> RecordedPackets {
    var doubled = entries
    for position in entries.indices where Double.random(in: 0..<1, using: &generator) < share {
      let later = min(entries.count - 1, position + Int.random(in: 0...depth, using: &generator))
      doubled.append(Entry(time: entries[later].time + .microseconds(1), packet: entries[position].packet))
    }
    return RecordedPackets(doubled.sorted { $0.time < $1.time })
  }

  /// Loses the packets that the test says.
  func losing(_ isLost: (RTPPacket) -> Bool) -> RecordedPackets {
    RecordedPackets(entries.filter { !isLost($0.packet) })
  }

  /// Plays it to a listener that has no sender behind it, and lets everything run out.
  func play(to listener: inout Listener) {
    let start = listener.now
    for entry in entries {
      listener.run(until: start + entry.time)
      listener.receive(entry.packet)
    }
    listener.run(for: .seconds(5))
  }
}
