import Foundation
import NIOCore

/// Counts what a sender sent, by the headers of its packets, which SRTP does not encrypt (RFC 3711, 3.1).
struct RTPCensus: Sendable {
  /// The counters of one SSRC.
  struct Source: Sendable {
    let payloadType: UInt8
    /// The number of packets, including retransmissions on the same SSRC.
    var packets = 0
    /// The unwrapped sequence numbers of the packets; the first is between 65,536 and 131,071.
    fileprivate(set) var numbers: Set<Int> = []
    /// The sequence numbers of packets with padding. Padded packets of browsers contain only padding.
    fileprivate(set) var padded: Set<Int> = []
    /// The newest frames, oldest first.
    fileprivate(set) var frames: [Frame] = []
    private var oldest: Int
    private var newest: Int

    fileprivate init(payloadType: UInt8, first sequenceNumber: UInt16) {
      self.payloadType = payloadType
      oldest = 65_536 + Int(sequenceNumber)
      newest = oldest
    }

    /// The number of sequence numbers with media, from the first to the last, including packets lost on the machine
    /// before the relay.
    var mediaNumbers: Int { newest - oldest + 1 - padded.count }

    /// The number of packets, from the first to the last, that were lost before the relay.
    var missing: Int { newest - oldest + 1 - numbers.count }

    fileprivate mutating func pass(_ sequenceNumber: UInt16, timestamp: UInt32, isPadded: Bool, at time: Double) {
      let number = newest + Int(Int16(truncatingIfNeeded: Int(sequenceNumber) - newest))
      newest = max(newest, number)
      oldest = min(oldest, number)
      packets += 1
      let isNew = numbers.insert(number).inserted
      if isPadded {
        padded.insert(number)
      } else if isNew {
        if frames.last?.timestamp == timestamp {
          frames[frames.count - 1].packets += 1
        } else {
          frames.append(Frame(timestamp: timestamp, passedAt: time, packets: 1))
          if frames.count > 4000 { frames.removeFirst(1000) }
        }
      }
    }
  }

  /// The packets of one RTP timestamp.
  struct Frame: Sendable {
    let timestamp: UInt32
    /// The time when its first packet passed, in seconds since 1970.
    let passedAt: Double
    var packets: Int
  }

  private(set) var sources: [UInt32: Source] = [:]

  /// The source with the most media packets: for a bot that plays the sample, its video.
  var mostlySent: Source? { sources.values.max { $0.mediaNumbers < $1.mediaNumbers } }

  /// Returns the source with the most media packets of another payload type than this one.
  func mostlySent(otherThan type: UInt8) -> Source? {
    sources.values.filter { $0.payloadType != type }.max { $0.mediaNumbers < $1.mediaNumbers }
  }

  /// Returns the source with the most media packets of a payload type.
  func source(ofPayloadType type: UInt8) -> Source? {
    sources.values.filter { $0.payloadType == type }.max { $0.mediaNumbers < $1.mediaNumbers }
  }

  /// Whether a datagram is RTP, by its first two bytes (RFC 7983, 7 and RFC 5761, 4).
  static func isRTP(_ datagram: ByteBuffer) -> Bool {
    guard datagram.readableBytes >= 12,
      let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self),
      let second = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self)
    else { return false }
    return (128...191).contains(first) && !(192...223).contains(second)
  }

  /// The times of the newest datagrams that the relay dropped, in seconds since 1970.
  private(set) var losses: [Double] = []

  mutating func lost(at time: Double) {
    losses.append(time)
    if losses.count > 10_000 { losses.removeFirst(5_000) }
  }

  /// Counts a datagram that passes, if it is RTP.
  mutating func pass(_ datagram: ByteBuffer, at time: Double) {
    let start = datagram.readerIndex
    guard Self.isRTP(datagram), let first = datagram.getInteger(at: start, as: UInt8.self),
      let second = datagram.getInteger(at: start + 1, as: UInt8.self),
      let sequenceNumber = datagram.getInteger(at: start + 2, as: UInt16.self),
      let timestamp = datagram.getInteger(at: start + 4, as: UInt32.self),
      let ssrc = datagram.getInteger(at: start + 8, as: UInt32.self)
    else { return }
    // In place, because a copy would copy all numbers.
    sources[ssrc, default: Source(payloadType: second & 0x7F, first: sequenceNumber)].pass(
      sequenceNumber, timestamp: timestamp, isPadded: first & 0x20 != 0, at: time)
  }
}
