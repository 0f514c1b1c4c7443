public import Media
public import NIOCore
package import RTP

/// Sees each RTP packet that is sent to a participant before SRTP protects it, and may change it, as the interceptors of
/// Pion do. RTCP does not pass it.
///
/// ```swift
/// /// Sends all packets of a track with its first timestamp.
/// struct FrozenTimestamps: RTPInterceptor {
///   private var first: [UInt32: UInt32] = [:]
///
///   mutating func send(_ packet: inout OutgoingRTPPacket) {
///     packet.timestamp = first[packet.ssrc, default: packet.timestamp]
///     first[packet.ssrc] = packet.timestamp
///   }
/// }
/// ```
///
/// A value: each connection has its own copy, whose method is called on the event loop that serves the participant, where
/// it must not block.
public protocol RTPInterceptor: Sendable {
  /// Handles the next packet, in the order in which packets are sent. A retransmission is that of the packet as it was
  /// before interception, and passes as well.
  mutating func send(_ packet: inout OutgoingRTPPacket)
}

/// An RTP packet (RFC 3550, 5.1) on its way to a participant. What identifies it to the receiver's feedback and to SRTP
/// cannot be changed.
public struct OutgoingRTPPacket: Sendable {
  package var packet: RTPPacket
  /// The kind of media of its track.
  public let kind: MediaKind
  /// The ticks a second of ``timestamp``.
  public let clockRate: Int32

  package init(_ packet: RTPPacket, kind: MediaKind, clockRate: Int32) {
    self.packet = packet
    self.kind = kind
    self.clockRate = clockRate
  }

  /// 0...127. That of a retransmission differs from the original's (RFC 4588).
  public var payloadType: UInt8 { packet.payloadType }
  public var sequenceNumber: UInt16 { packet.sequenceNumber }
  public var ssrc: UInt32 { packet.ssrc }

  /// The marker bit, as the payload format defines it.
  public var marker: Bool {
    get { packet.marker }
    set { packet.marker = newValue }
  }

  /// The timestamp in ticks of ``clockRate``.
  public var timestamp: UInt32 {
    get { packet.timestamp }
    set { packet.timestamp = newValue }
  }

  /// The payload without padding; that of a retransmission begins with the original's sequence number (RFC 4588, 4). It
  /// should not become longer, because the datagram might then exceed what the network path carries.
  public var payload: ByteBuffer {
    get { packet.payload }
    set { packet.payload = newValue }
  }

  /// Bytes of padding after the payload, the count byte included; 0 for none.
  public var paddingLength: UInt8 {
    get { packet.paddingLength }
    set { packet.paddingLength = newValue }
  }
}

/// The interceptors of one connection's RTP packets, in order; at least one.
package struct RTPInterceptorChain: Sendable {
  private var interceptors: [any RTPInterceptor]

  /// Nil without interceptors: then a sent packet costs one check.
  package init?(_ interceptors: [any RTPInterceptor]) {
    if interceptors.isEmpty { return nil }
    self.interceptors = interceptors
  }

  package mutating func send(_ packet: inout RTPPacket, kind: MediaKind, clockRate: Int32) {
    var outgoing = OutgoingRTPPacket(packet, kind: kind, clockRate: clockRate)
    for position in interceptors.indices { interceptors[position].send(&outgoing) }
    packet = outgoing.packet
  }
}
