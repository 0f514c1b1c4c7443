import ICE
import Media
import NIOCore
import RTP

@testable import PeerEngine

/// What tests need of the parts of a connection: its keys, to forge what the participant sends, and what no program changes
/// during a call or asks for.
extension PeerConnection {
  // MARK: Keys

  /// Returns a packet of RTP or RTCP as the connection would encrypt it; nil before the handshake is complete.
  func protected(_ plain: ByteBuffer, isControl: Bool) -> ByteBuffer? {
    var datagram = plain
    return secure.session?.protect(&datagram, isControl: isControl) == true ? datagram : nil
  }

  /// Returns the datagrams with a record of data, which need not be SCTP.
  func encrypted(_ data: ByteBuffer) -> [ByteBuffer] {
    secure.send([data])
    return secure.takeDatagrams()
  }

  // MARK: Tracks

  /// Returns the SSRC and the payload type of the first track of a kind that is sent.
  func sentTrack(_ kind: MediaKind) -> (ssrc: UInt32, payloadType: UInt8)? {
    media.sending.first { $0.media.kind == kind }.map { ($0.media.localSSRC, $0.media.payloadType) }
  }

  /// The number of tracks that are, or were, received.
  var receivedTracks: Int { media.receiving.count }

  /// Advances the sequence numbers of all tracks that are sent until the next one is `number`.
  func advanceSequenceNumbers(to number: UInt16) {
    for track in media.sending.indices {
      while Self.nextNumber(&media.sending[track]) != number &- 1 {}
    }
  }

  /// The next sequence number of each track that is sent.
  var nextSequenceNumbers: [UInt16] {
    media.sending.map { track in
      var track = track
      return Self.nextNumber(&track)
    }
  }

  private static func nextNumber(_ track: inout SendTrack) -> UInt16 {
    var packet = track.stream.packet(ByteBuffer(), ticks: 0, marker: false)
    track.stream.number(&packet)
    return packet.sequenceNumber
  }

  // MARK: Negotiation

  /// What the last exchange of descriptions has negotiated.
  var session: NegotiatedSession? { negotiation.negotiator.session }

  /// Starts or stops sending a kind of media in one of our streams, from the next description on.
  func setSending(_ isSent: Bool, of kind: MediaKind, stream: Int) {
    negotiation.negotiator.setSending(isSent, of: kind, stream: stream)
  }

  /// Sends media in every section of the next description, as what sends media back does.
  func sendInEverySection() { negotiation.negotiator.local.sendsInEverySection = true }

  // MARK: ICE

  /// The counts of the ICE agent.
  var iceStatistics: ICEStatistics { transport.ice.agent.statistics }

  /// The addresses of the local candidates.
  var localCandidates: [TransportAddress?] { transport.ice.agent.localCandidates.map(\.address) }
}
