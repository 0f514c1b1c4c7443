/// Our side of one kind of media towards one remote peer.
package struct LocalTrack: Sendable, Hashable {
  /// Whether there is something to send. If not, our SDP says `recvonly` and announces no source.
  package var isSent: Bool
  /// Whether what the remote side sends is wanted. If not, our SDP says `sendonly` or `inactive`.
  package var isReceived: Bool
  /// The track's id in `a=msid` (RFC 8830).
  package var trackID: String
  /// The source of our RTP, and of our RTCP even when nothing is sent.
  package var ssrc: UInt32
  /// The source of our retransmissions (RFC 4588); nil if we never send any.
  package var retransmissionSSRC: UInt32?

  package init(
    isSent: Bool, isReceived: Bool = true, trackID: String, ssrc: UInt32, retransmissionSSRC: UInt32? = nil
  ) {
    self.isSent = isSent
    self.isReceived = isReceived
    self.trackID = trackID
    self.ssrc = ssrc
    self.retransmissionSSRC = retransmissionSSRC
  }
}
