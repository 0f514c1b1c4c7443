import Media
import PeerEngine
import RTP
import TestSupport

/// The packets of a track and the times at which they arrive, which a test can reorder, duplicate and drop.
struct RecordedPackets {
  struct Entry {
    var time: Duration
    var packet: RTPPacket
  }

  /// The packets in order of time.
  private(set) var entries: [Entry]

  init(_ entries: [Entry]) {
    self.entries = entries
  }

  /// Returns the packets of a video of 30 frames a second.
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

  /// Returns audio packets of 20 ms.
  static func audio(_ count: Int, maker: PacketMaker = .audio()) -> RecordedPackets {
    var maker = maker
    return RecordedPackets((0..<count).map { Entry(time: .milliseconds($0 * 20), packet: maker.audio($0)) })
  }

  /// Returns the packets with each one moved by up to `depth` positions; the arrival times stay in place.
  func reordered(depth: Int, using generator: inout SeededGenerator) -> RecordedPackets {
    let keys = entries.indices.map { ($0, $0 + Int.random(in: 0...depth, using: &generator)) }
    let order = keys.sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 < $1.1 }
    return RecordedPackets(zip(entries, order).map { Entry(time: $0.time, packet: entries[$1.0].packet) })
  }

  /// Returns the packets with a share of them duplicated, the copy at most `depth` positions later.
  func doubled(_ share: Double, depth: Int, using generator: inout SeededGenerator) -> RecordedPackets {
    var doubled = entries
    for position in entries.indices where Double.random(in: 0..<1, using: &generator) < share {
      let later = min(entries.count - 1, position + Int.random(in: 0...depth, using: &generator))
      doubled.append(Entry(time: entries[later].time + .microseconds(1), packet: entries[position].packet))
    }
    return RecordedPackets(doubled.sorted { $0.time < $1.time })
  }

  /// Returns the packets without those for which `isLost` returns true.
  func losing(_ isLost: (RTPPacket) -> Bool) -> RecordedPackets {
    RecordedPackets(entries.filter { !isLost($0.packet) })
  }

  /// Delivers the packets to a session that has no sender, and waits 5 s for everything still buffered.
  func play(to listener: inout Listener) {
    let start = listener.now
    for entry in entries {
      listener.run(until: start + entry.time)
      listener.receive(entry.packet)
    }
    listener.run(for: .seconds(5))
  }
}
