package import HTTPTransport
package import Media

/// What a program wants of a signalling client, whatever the system. An adapter takes what its system understands.
package struct SignallingSettings: Sendable, CustomStringConvertible, CustomReflectable {
  package var address: SignallingAddress
  /// The room's name or id as the user wrote it, of 1 to 128 Unicode scalars, also such as `/` and `..`; nil for the system's default,
  /// or where the address names it.
  package var room: String?
  /// The name with which we log in and by which others call us, for systems whose users are known by it. It is an id: there
  /// may be no other user of this name.
  package var user: String?
  /// Our name for people, which need not be the only one. See ``displayName``.
  package var name: String?
  /// Whether we record the others, for systems that tell them.
  package var records = false
  /// The users to call, for systems in which users call each other.
  package var callees: [String] = []
  /// Appended to our names, and where a room holds one call to that of the room, so that each client of one program has its
  /// own.
  package var suffix = ""

  /// The server's token, the room's PIN, the API secret of the server and our token for the room. They are never logged.
  package var token: String?
  package var pin: String?
  package var apiSecret: String?
  package var roomToken: String?
  /// The path of a file with the key of a service account, for systems that sign requests with it.
  package var serviceAccountFile: String?

  /// The certificates to trust with TLS.
  package var trust = TLSTrust.system
  /// The maximum number of other participants of the room.
  package var maximumUsers = Self.defaultMaximumUsers
  /// Whether we send media, and whether we receive it, for systems that must know it when we join.
  package var sends = true
  package var receives = true
  /// The codecs that we may send, the best first; nil for all. For systems that must know them when we join.
  package var audioCodecs: [Codec]?
  package var videoCodecs: [Codec]?
  /// Whether to wait for a stream that the server does not have yet.
  package var waitsForStream = false
  /// Whether redirects, and addresses that the server names, may lead to other origins.
  package var followsOtherOrigins = false
  /// The environment variables that the system's own clients read.
  package var environment: [String: String] = [:]

  /// The default of ``maximumUsers``.
  package static let defaultMaximumUsers = 256

  package init(address: SignallingAddress) {
    self.address = address
  }

  /// Our name for people, with the suffix: ``name``, else ``user``, else `chatbot`.
  package var displayName: String {
    let name = (name ?? user).flatMap { DisplayName($0)?.description } ?? Self.defaultName
    let length = max(0, DisplayName.maximumLength - suffix.unicodeScalars.count)
    return String(String.UnicodeScalarView(name.unicodeScalars.prefix(length))) + suffix
  }

  /// The default of ``name``.
  package static let defaultName = "chatbot"

  /// Without secrets, which an address may contain too.
  package var description: String { "settings of a client of \(address.scheme ?? "no system")" }

  /// Without secrets, for `dump`.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why no client can be made: a setting is missing or invalid. The description is one sentence, which names settings like
/// the options of `chatbot`.
package struct SignallingSettingsError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ sentence: String) {
    description = sentence
  }
}
