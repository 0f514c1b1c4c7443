import Foundation
import NIOCore

/// What a sender has sent, counted from the outside by the headers of its packets, which SRTP leaves in the clear
/// (RFC 3711, 3.1).
struct RTPCensus: Sendable {
  /// One SSRC.
  struct Source: Sendable {
    let payloadType: UInt8
    /// Packets, each time that one was sent.
    var packets = 0
    /// The packets' numbers, each once, unwrapped: the first is between 65,536 and 131,071.
    fileprivate(set) var numbers: Set<Int> = []
    /// Numbers of packets with padding. What browsers pad is nothing but padding.
    fileprivate(set) var padded: Set<Int> = []
    /// The newest frames, oldest first.
    fileprivate(set) var frames: [Frame] = []
    fileprivate var newest: Int

    /// Numbers that carried media, from the first to the last. One that the machine lost before the relay counts too.
    var mediaNumbers: Int {
      guard let first = numbers.min(), let last = numbers.max() else { return 0 }
      return last - first + 1 - padded.count
    }
  }

  /// The packets of one RTP timestamp.
  struct Frame: Sendable {
    let timestamp: UInt32
    /// When its first packet passed, seconds since 1970.
    let passedAt: Double
    var packets: Int
  }

  private(set) var sources: [UInt32: Source] = [:]

  /// The source with the most packets of media: of a bot that plays the sample, the video.
  var mostlySent: Source? { sources.values.max { $0.mediaNumbers < $1.mediaNumbers } }

  /// The source with the most packets of a payload type.
  func source(ofPayloadType type: UInt8) -> Source? {
    sources.values.filter { $0.payloadType == type }.max { $0.mediaNumbers < $1.mediaNumbers }
  }

  /// Whether this is RTP, by its first two bytes (RFC 7983, 7 and RFC 5761, 4).
  static func isRTP(_ datagram: ByteBuffer) -> Bool {
    guard datagram.readableBytes >= 12,
      let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self),
      let second = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self)
    else { return false }
    return (128...191).contains(first) && !(192...223).contains(second)
  }

  /// When the relay lost datagrams on their way to the program, seconds since 1970, in order; the newest of them.
  private(set) var losses: [Double] = []

  mutating func lost(at time: Double) {
    losses.append(time)
    if losses.count > 10_000 { losses.removeFirst(5_000) }
  }

  /// Counts a datagram that passes; only RTP is counted.
  mutating func pass(_ datagram: ByteBuffer, at time: Double) {
    let start = datagram.readerIndex
    guard Self.isRTP(datagram), let first = datagram.getInteger(at: start, as: UInt8.self),
      let second = datagram.getInteger(at: start + 1, as: UInt8.self),
      let sequenceNumber = datagram.getInteger(at: start + 2, as: UInt16.self),
      let timestamp = datagram.getInteger(at: start + 4, as: UInt32.self),
      let ssrc = datagram.getInteger(at: start + 8, as: UInt32.self)
    else { return }
    var source = sources[ssrc] ?? Source(payloadType: second & 0x7F, newest: 65_536 + Int(sequenceNumber))
    let distance = Int16(truncatingIfNeeded: Int(sequenceNumber) - source.newest)
    let number = source.newest + Int(distance)
    source.newest = max(source.newest, number)
    source.packets += 1
    let isNew = source.numbers.insert(number).inserted
    if first & 0x20 != 0 {
      source.padded.insert(number)
    } else if isNew {
      if source.frames.last?.timestamp == timestamp {
        source.frames[source.frames.count - 1].packets += 1
      } else {
        source.frames.append(Frame(timestamp: timestamp, passedAt: time, packets: 1))
        if source.frames.count > 4000 { source.frames.removeFirst(1000) }
      }
    }
    sources[ssrc] = source
  }
}
