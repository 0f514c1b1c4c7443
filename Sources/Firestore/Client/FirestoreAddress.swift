internal import FoundationEssentials
internal import Media
package import Signalling

/// What a program joins: a room, or a call between two persons.
///
/// ```
/// firestore://PROJECT/rooms/ROOM?role=host|guest&create=yes
/// firestore://PROJECT/people/ME?peer=OTHER&role=caller|callee
/// ```
/// `ROOM` is the id or the name of a room. Without `role`, a program is the guest of a room whose host has written an
/// offer, and the host otherwise (of two that start at once, the first to write its offer); a person waits to be called. `create=yes` creates a missing room. `database=ID`
/// selects a database other than `(default)`. Names are percent-encoded (RFC 3986).
public struct FirestoreAddress: Sendable, Hashable, CustomStringConvertible {
  /// What an address names.
  package enum Place: Sendable, Hashable {
    /// A room by its id or name. Without a role, the room's documents decide it; `isCreated`: a missing room is created.
    case room(FirestoreID, role: RoomSignalling.Role?, isCreated: Bool)
    /// A call between us, the first one, and a peer.
    case person(FirestoreID, peer: FirestoreID, role: PersonSignalling.Role)
  }

  /// Why a text is not an address. Each description is one sentence.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAnAddress(String)
    case invalidPart(String)
    case missingPeer
    case unknownParameter(String)
    case invalidValue(parameter: String, value: String, expected: String)

    public var description: String {
      switch self {
      case .notAnAddress(let text):
        "\"\(text.printable())\" is not an address such as firestore://project/rooms/100 or "
          + "firestore://project/people/tom?peer=jerry."
      case .invalidPart(let sentence): sentence
      case .missingPeer: "The address of a person needs the name of the other one, as in ?peer=jerry."
      case .unknownParameter(let name):
        "An address of Firestore has no parameter \"\(name.printable(utf8Bytes: 40))\" there."
      case .invalidValue(let parameter, let value, let expected):
        "The parameter \(parameter) is \"\(value.printable(utf8Bytes: 40))\" instead of \(expected)."
      }
    }
  }

  /// The project and its database.
  package let database: FirestoreDatabase
  package let place: Place
  /// The text that was parsed.
  public let description: String

  /// The name of the room, or nil in a call between persons.
  public var room: String? {
    if case .room(let id, _, _) = place { id.text } else { nil }
  }

  /// What can be done in a call at this address.
  package var capabilities: SignallingCapabilities { Self.capabilities(isRoom: room != nil) }

  /// What can be done in a room, or in a call between two persons.
  static func capabilities(isRoom: Bool) -> SignallingCapabilities {
    var capabilities = SignallingCapabilities()
    // Clients start again if a description has no candidates.
    capabilities.tricklesCandidates = false
    // The clients of rooms expect no offer during a call.
    capabilities.restartsICE = false
    capabilities.assignsICEServers = false
    capabilities.namesUsers = true
    // Apps that call each other by name receive on their own channel and send on the other's.
    if !isRoom { capabilities.dataChannels = .init(labels: ["WebRTCData"], opensWhenAnswering: true) }
    return capabilities
  }

  public init(_ text: String) throws(ParseError) {
    let scheme = "firestore://"
    guard text.utf8.count <= 8_192, text.prefix(scheme.count).lowercased() == scheme else {
      throw .notAnAddress(text)
    }
    let parts = text.dropFirst(scheme.count).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
    guard path.count == 3, let name = PercentEncoding.decode(path[2]) else { throw .notAnAddress(text) }
    var parameters = try Self.parameters(parts.count > 1 ? parts[1] : "", of: text)
    let id = try Self.id(name)
    do throws(FirestoreDatabase.ParseError) {
      database = try FirestoreDatabase(
        project: String(path[0]), database: parameters.removeValue(forKey: "database") ?? "(default)")
    } catch {
      throw .invalidPart(error.description)
    }
    let role = parameters.removeValue(forKey: "role")
    switch path[1] {
    case "rooms":
      let create = parameters.removeValue(forKey: "create")
      if let create, create != "yes", create != "no" {
        throw .invalidValue(parameter: "create", value: create, expected: "yes or no")
      }
      let known = role.map { RoomSignalling.Role(rawValue: $0) }
      if let role, known == .some(nil) {
        throw .invalidValue(parameter: "role", value: role, expected: "host or guest")
      }
      place = .room(id, role: known ?? nil, isCreated: create == "yes")
    case "people":
      guard let peer = parameters.removeValue(forKey: "peer") else { throw .missingPeer }
      guard peer != name else { throw .invalidPart("A person cannot call themselves.") }
      guard let known = PersonSignalling.Role(rawValue: role ?? "callee") else {
        throw .invalidValue(parameter: "role", value: role ?? "", expected: "caller or callee")
      }
      place = .person(id, peer: try Self.id(peer), role: known)
    default: throw .notAnAddress(text)
    }
    if let unknown = parameters.keys.sorted().first { throw .unknownParameter(unknown) }
    description = text
  }

  private init(_ database: FirestoreDatabase, _ place: Place, _ description: String) {
    self.database = database
    self.place = place
    self.description = description
  }

  /// Returns the address with a suffix at the name of the room, or at the names of both persons. A room and a pair of
  /// persons hold one call, so each publisher of a load needs its own.
  package func appending(_ suffix: String) throws(ParseError) -> FirestoreAddress {
    guard !suffix.isEmpty else { return self }
    let place: Place =
      switch place {
      case .room(let id, let role, let isCreated):
        .room(try Self.id(id.text + suffix), role: role, isCreated: isCreated)
      case .person(let id, let peer, let role):
        .person(try Self.id(id.text + suffix), peer: try Self.id(peer.text + suffix), role: role)
      }
    return FirestoreAddress(database, place, description)
  }

  private static func parameters(
    _ query: Substring, of text: String
  ) throws(ParseError) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, let name = PercentEncoding.decode(sides[0]), let value = PercentEncoding.decode(sides[1]),
        parameters.updateValue(value, forKey: name) == nil
      else { throw .notAnAddress(text) }
    }
    return parameters
  }

  private static func id(_ text: String) throws(ParseError) -> FirestoreID {
    do throws(FirestoreID.ParseError) {
      return try FirestoreID(text)
    } catch {
      throw .invalidPart(error.description)
    }
  }
}
