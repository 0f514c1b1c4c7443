import COpenSSL
import NIOCore

@testable import PeerEngine

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

  /// Delivers datagrams in both directions until neither side has one left.
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

  /// Begins another handshake within the association, which our connections never do themselves.
  func requestRenegotiation(showing identity: DTLSIdentity) {
    SSL_clear_options(ssl, UInt64(1) << 30)
    SSL_use_certificate(ssl, identity.certificate)
    SSL_use_PrivateKey(ssl, identity.privateKey)
    SSL_renegotiate(ssl)
    SSL_do_handshake(ssl)
  }

  /// The number of received bytes that OpenSSL has not read.
  var unreadBytes: Int { BIO_ctrl_pending(incoming) }

  /// The digest of the peer's latest certificate.
  var peerDigest: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    return certificateDigest(of: certificate, algorithm: "sha-256")
  }
}
