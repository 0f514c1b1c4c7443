/// The master keys of both directions, as the DTLS handshake exported them (RFC 5764, 4.2).
package struct SRTPKeys: Sendable, Hashable {
  package let profile: SRTPProfile
  /// Master key, then master salt: what libsrtp takes.
  package let sending: [UInt8]
  package let receiving: [UInt8]

  /// - Parameters:
  ///   - material: client key, server key, client salt, server salt, one after the other; of the profile's lengths.
  ///   - role: which of the two is ours.
  init(profile: SRTPProfile, material: [UInt8], role: DTLSRole) {
    self.profile = profile
    let key = profile.keyLength
    let salt = profile.saltLength
    let client = Array(material.prefix(key)) + Array(material.dropFirst(2 * key).prefix(salt))
    let server = Array(material.dropFirst(key).prefix(key)) + Array(material.dropFirst(2 * key + salt).prefix(salt))
    switch role {
    case .client: (sending, receiving) = (client, server)
    case .server: (sending, receiving) = (server, client)
    }
  }
}
