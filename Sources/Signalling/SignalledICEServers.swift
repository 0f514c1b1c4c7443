internal import Media

/// The ICE servers in a message of a signalling system: a list of objects with `urls`, `username` and `credential` (W3C
/// webrtc, 4.2.3, `RTCIceServer`). Pure.
///
/// It is read leniently: `urls` is a text or a list of texts, and what cannot be used is left out. Limits: 16 URLs, 512
/// bytes for each text.
package struct SignalledICEServers: Sendable, Hashable {
  /// One for each URL.
  package let servers: [ICEServer]
  /// The number of entries and URLs that are left out.
  package let ignoredCount: Int

  package static let maximumServers = 16
  package static let maximumTextBytes = 512

  package init(_ servers: [ICEServer]) {
    self.servers = servers
    ignoredCount = 0
  }

  /// What is left out and why, in one sentence; nil if nothing is.
  package var problem: String? {
    guard ignoredCount > 0 else { return nil }
    return
      "The server assigned \(servers.count + ignoredCount) ICE servers, but \(ignoredCount) cannot be used: each needs "
      + "URLs, a user name and a credential of at most \(Self.maximumTextBytes) bytes, and at most \(Self.maximumServers) "
      + "are used."
  }
}

extension SignalledICEServers: Codable {
  /// An entry of the list. Decoding never fails.
  private struct Entry: Codable {
    var urls: [String] = []
    var username: String?
    var credential: String?
    /// The number of URLs that cannot be used; 1 for an unusable entry.
    var ignoredCount = 0

    enum CodingKeys: CodingKey {
      case urls, username, credential
    }

    init(_ server: ICEServer) {
      urls = [server.url]
      username = server.username
      credential = server.credential
    }

    init(from decoder: any Decoder) {
      guard let fields = try? decoder.container(keyedBy: CodingKeys.self),
        let listed = (try? fields.decode(UntrustedText.self, forKey: .urls)).map({ [$0] })
          ?? (try? fields.decode([UntrustedText].self, forKey: .urls)), !listed.isEmpty,
        let username = try? fields.decodeIfPresent(UntrustedText.self, forKey: .username) ?? "",
        let credential = try? fields.decodeIfPresent(UntrustedText.self, forKey: .credential) ?? "",
        username.utf8.count <= maximumTextBytes, credential.utf8.count <= maximumTextBytes
      else {
        ignoredCount = 1
        return
      }
      // A URL is ASCII; a user name need not be.
      urls = listed.compactMap(\.ascii).filter { (1...maximumTextBytes).contains($0.utf8.count) }
      ignoredCount = listed.count - urls.count
      // Lists for browsers have empty texts beside the URLs of STUN servers.
      self.username = username.isEmpty ? nil : username.string
      self.credential = username.isEmpty ? nil : credential.string
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(urls.first ?? "", forKey: .urls)
      try fields.encodeIfPresent(username, forKey: .username)
      try fields.encodeIfPresent(credential, forKey: .credential)
    }
  }

  package init(from decoder: any Decoder) throws {
    var list = try decoder.unkeyedContainer()
    var found: [ICEServer] = []
    var ignored = 0
    while !list.isAtEnd {
      if try list.decodeNil() {
        ignored += 1
        continue
      }
      let entry = try list.decode(Entry.self)
      ignored += entry.ignoredCount
      for url in entry.urls {
        guard found.count < Self.maximumServers else {
          ignored += 1
          continue
        }
        found.append(ICEServer(url: url, username: entry.username, credential: entry.credential))
      }
    }
    servers = found
    ignoredCount = ignored
  }

  package func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    for server in servers { try list.encode(Entry(server)) }
  }
}
