import NIOCore

@testable import BotPeer

/// Two DTLS connections joined in memory.
struct Handshake {
  let client: DTLSConnection
  let server: DTLSConnection

  init(
    client clientIdentity: DTLSIdentity, server serverIdentity: DTLSIdentity,
    clientExpects: [CertificateFingerprint]? = nil, serverExpects: [CertificateFingerprint]? = nil,
    clientProfiles: [SRTPProfile] = SRTPProfile.preferred
  ) throws {
    client = try DTLSConnection(
      role: .client, identity: clientIdentity, expecting: clientExpects ?? [serverIdentity.fingerprint],
      profiles: clientProfiles)
    server = try DTLSConnection(
      role: .server, identity: serverIdentity, expecting: serverExpects ?? [clientIdentity.fingerprint])
  }

  /// Carries datagrams both ways until neither side has one left.
  func run(_ carry: ([ByteBuffer]) -> [ByteBuffer] = { $0 }) {
    for _ in 0..<20 {
      let toServer = carry(client.takeDatagrams())
      for datagram in toServer { server.receive(datagram) }
      let toClient = carry(server.takeDatagrams())
      for datagram in toClient { client.receive(datagram) }
      if toServer.isEmpty && toClient.isEmpty { return }
    }
  }
}

extension DTLSConnection {
  var keys: SRTPKeys? {
    if case .established(let keys) = state { keys } else { nil }
  }
}
