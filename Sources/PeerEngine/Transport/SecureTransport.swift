package import Media
internal import NIOCore

/// DTLS and the SRTP that it keys: turns datagrams of a validated path into packets and data, and back.
///
/// ```
/// waiting ──descriptions exchanged──► handshaking ──Finished, fingerprint matches──► secured
///                                          └────────────────┬──────────────────────────┘
///                                                         ended
/// ```
///
/// Datagrams that arrive too early are buffered, within bounds: the ClientHello that overtakes the answer, and the first
/// media that overtakes the Finished. Otherwise the first flight would wait for a retransmission, and the first keyframe
/// would be lost.
package struct SecureTransport {
  enum Change {
    case secured(SRTPProfile)
    case failed(String)
    case closedByPeer
  }

  /// What has become of a packet of media.
  enum Reception {
    case decrypted
    /// It is buffered until the keys are known.
    case kept
    /// It is forged, repeated or too early.
    case refused
  }

  private enum State {
    case waiting
    case handshaking(DTLSConnection)
    case secured(DTLSConnection, SRTPSession)
    case ended
  }

  /// Handshake datagrams buffered until the role is known; a ClientHello takes two.
  static let earlyHandshakeLimit = 8
  /// Media datagrams buffered until the keys are known: a keyframe at 640x480 takes about 40.
  static let earlyMediaLimit = 128

  private let identity: DTLSIdentity
  private let profiles: [SRTPProfile]
  private var state = State.waiting {
    didSet { session = if case .secured(_, let session) = state { session } else { nil } }
  }
  /// The SRTP session; nil before the handshake is complete. Stored, because every packet needs it.
  private(set) var session: SRTPSession?
  private var settings: (role: DTLSRole, fingerprints: [CertificateFingerprint])?
  private var hasStarted = false
  private var earlyHandshake: [ByteBuffer] = []
  private var earlyMedia: [(packet: ByteBuffer, isControl: Bool)] = []
  /// When ``advance(now:)`` must be called next if there is a path.
  package private(set) var deadline: MonotonicInstant?

  /// - Parameter profiles: the SRTP protection profiles that we accept, the best first.
  init(identity: DTLSIdentity, profiles: [SRTPProfile] = SRTPProfile.preferred) {
    self.identity = identity
    self.profiles = profiles
  }

  var isSecured: Bool { session != nil }

  var profile: SRTPProfile? { session?.profile }

  private var connection: DTLSConnection? {
    switch state {
    case .handshaking(let connection), .secured(let connection, _): connection
    case .waiting, .ended: nil
    }
  }

  /// Applies what offer and answer negotiated. Another certificate requires another association, and so does another role
  /// before the handshake is complete (after a clash of offers); nothing else has an effect.
  mutating func configure(
    role: DTLSRole, fingerprints: [CertificateFingerprint], now: MonotonicInstant
  ) throws(DTLSError) -> Change? {
    if let settings, Set(settings.fingerprints) == Set(fingerprints), settings.role == role || isSecured { return nil }
    let connection = try DTLSConnection(
      role: role, identity: identity, expecting: fingerprints, profiles: profiles)
    settings = (role, fingerprints)
    hasStarted = false
    state = .handshaking(connection)
    let early = earlyHandshake
    earlyHandshake.removeAll()
    var change: Change?
    for datagram in early { change = receiveDTLS(datagram, now: now) ?? change }
    return change
  }

  /// Sends the ClientHello, if we are the client, once there is a path for it.
  private mutating func pathIsUsable(now: MonotonicInstant) {
    guard !hasStarted, case .handshaking(let connection) = state else { return }
    hasStarted = true
    connection.start()
    scheduleRetransmission(now: now)
  }

  /// Begins the handshake, or retransmits, if it is time; there is a path.
  mutating func advance(now: MonotonicInstant) -> Change? {
    pathIsUsable(now: now)
    return handleTimeout(now: now)
  }

  /// Handles a DTLS datagram from a validated path: a part of the handshake, an alert or data.
  mutating func receiveDTLS(_ datagram: ByteBuffer, now: MonotonicInstant) -> Change? {
    guard let connection else {
      if case .waiting = state, earlyHandshake.count < Self.earlyHandshakeLimit { earlyHandshake.append(datagram) }
      return nil
    }
    connection.receive(datagram)
    scheduleRetransmission(now: now)
    return connectionChanged()
  }

  /// Retransmits the last flight when its timer has expired.
  private mutating func handleTimeout(now: MonotonicInstant) -> Change? {
    guard let deadline, deadline <= now, let connection else { return nil }
    connection.handleTimeout()
    scheduleRetransmission(now: now)
    return connectionChanged()
  }

  /// Removes and returns the received data, one record each.
  mutating func takeData() -> [ByteBuffer] {
    if case .secured(let connection, _) = state { connection.takeData() } else { [] }
  }

  /// Encrypts data, one record each, for ``takeDatagrams()``.
  mutating func send(_ data: [ByteBuffer]) {
    guard case .secured(let connection, _) = state else { return }
    for record in data { connection.send(record) }
  }

  mutating func takeDatagrams() -> [ByteBuffer] {
    connection?.takeDatagrams() ?? []
  }

  // MARK: Media

  /// Decrypts a packet in place, or keeps it until the keys are known.
  mutating func receiveMedia(_ packet: inout ByteBuffer, isControl: Bool) -> Reception {
    if let session { return session.unprotect(&packet, isControl: isControl) ? .decrypted : .refused }
    if case .ended = state { return .refused }
    guard earlyMedia.count < Self.earlyMediaLimit else { return .refused }
    earlyMedia.append((packet, isControl))
    return .kept
  }

  /// Removes and returns the packets that arrived before the keys were known.
  mutating func takeEarlyMedia() -> [(packet: ByteBuffer, isControl: Bool)] {
    defer { earlyMedia.removeAll() }
    return earlyMedia
  }

  /// Ends the association and returns its last datagrams, among them the `close_notify`.
  mutating func close() -> [ByteBuffer] {
    connection?.close()
    let last = takeDatagrams()
    state = .ended
    deadline = nil
    return last
  }

  private mutating func scheduleRetransmission(now: MonotonicInstant) {
    deadline = connection?.retransmissionDelay.map { now + max($0, .milliseconds(1)) }
  }

  private mutating func connectionChanged() -> Change? {
    guard let connection else { return nil }
    switch (state, connection.state) {
    case (.handshaking, .established(let keys)):
      do {
        let session = try SRTPSession(keys: keys)
        state = .secured(connection, session)
        return .secured(session.profile)
      } catch {
        state = .ended
        return .failed(error.description)
      }
    case (_, .failed(let error)):
      return .failed(error.description)
    case (_, .closed):
      return .closedByPeer
    case (.waiting, _), (.handshaking, .handshaking), (.secured, _), (.ended, _):
      return nil
    }
  }
}
