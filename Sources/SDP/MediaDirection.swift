/// Which way media flows in a section, seen from the side that wrote the description (RFC 8866, 6.7).
package enum MediaDirection: String, Sendable, Hashable, CaseIterable {
  case sendAndReceive = "sendrecv"
  case sendOnly = "sendonly"
  case receiveOnly = "recvonly"
  case inactive

  package init(sends: Bool, receives: Bool) {
    switch (sends, receives) {
    case (true, true): self = .sendAndReceive
    case (true, false): self = .sendOnly
    case (false, true): self = .receiveOnly
    case (false, false): self = .inactive
    }
  }

  package var sends: Bool { self == .sendAndReceive || self == .sendOnly }
  package var receives: Bool { self == .sendAndReceive || self == .receiveOnly }

  /// The same flow, seen from the other side.
  package var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
}
