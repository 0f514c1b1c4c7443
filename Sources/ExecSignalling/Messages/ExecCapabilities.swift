internal import Signalling

/// What the program says in its `hello` of the system that it connects: a part of `SignallingCapabilities`. What it does not
/// say has the default there. Pure.
struct ExecCapabilities: Sendable, Hashable, Decodable {
  private var trickles: Bool?
  private var restarts: Bool?
  private var announcesLost: Bool?
  private var reportsEnded: Bool?
  private var needsHangUp: Bool?
  private var names: Bool?

  private enum CodingKeys: String, CodingKey {
    case trickles = "tricklesCandidates"
    case restarts = "restartsICE"
    case announcesLost = "announcesLostParticipants"
    case reportsEnded = "reportsEndedConnections"
    case needsHangUp = "requiresHangUpWhenClosedByParticipant"
    case names = "namesUsers"
  }

  /// A field of an unexpected type counts as missing.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value(_ key: CodingKeys) -> Bool? { try? fields.decodeIfPresent(Bool.self, forKey: key) }
    trickles = value(.trickles)
    restarts = value(.restarts)
    announcesLost = value(.announcesLost)
    reportsEnded = value(.reportsEnded)
    needsHangUp = value(.needsHangUp)
    names = value(.names)
  }

  /// What can be done if the program says nothing about it.
  static let defaults: SignallingCapabilities = {
    var capabilities = SignallingCapabilities()
    capabilities.namesUsers = true
    return capabilities
  }()

  /// The defaults, with what the program has said.
  var all: SignallingCapabilities {
    var capabilities = Self.defaults
    if let trickles { capabilities.tricklesCandidates = trickles }
    if let restarts { capabilities.restartsICE = restarts }
    if let announcesLost { capabilities.announcesLostParticipants = announcesLost }
    if let reportsEnded { capabilities.reportsEndedConnections = reportsEnded }
    if let needsHangUp { capabilities.requiresHangUpWhenClosedByParticipant = needsHangUp }
    if let names { capabilities.namesUsers = names }
    return capabilities
  }
}
