internal import Media
internal import Signalling

extension WireMessage {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    eventName = try fields.decode(ASCIIText.self, forKey: .eventName).string
    data = try? fields.decodeIfPresent(Payload.self, forKey: .data)
  }

  /// A room's name: a string, or a number, which is converted to a string.
  enum Room: Codable {
    case name(String)
    case unusable

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let text = try? value.decode(UntrustedText.self) {
        self = .name(text.string)
      } else if let number = try? value.decode(Int64.self) {
        self = .name("\(number)")
      } else if let number = try? value.decode(Double.self) {
        self = .name("\(number)")
      } else {
        self = .unusable
      }
    }

    func encode(to encoder: any Encoder) throws {
      guard case .name(let name) = self else { return }
      var value = encoder.singleValueContainer()
      try value.encode(name)
    }
  }

  /// A session description as an object or as a string with the SDP.
  struct Description: Codable {
    var type: String?
    var sdp: String

    private enum CodingKeys: CodingKey {
      case type, sdp
    }

    init(_ description: SignalledDescription) {
      type = description.type
      sdp = description.sdp
    }

    init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(UntrustedText.self) {
        sdp = text.string
        return
      }
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      type = try? fields.decodeIfPresent(UntrustedText.self, forKey: .type)?.string
      sdp = try fields.decode(UntrustedText.self, forKey: .sdp).string
    }
  }
}

extension WireMessage.Participant {
  /// A value of an unexpected type counts as nothing, so that it does not make the whole list unusable.
  init(from decoder: any Decoder) throws {
    guard let fields = try? decoder.container(keyedBy: CodingKeys.self) else { return }
    socketId = try? fields.decodeIfPresent(UntrustedText.self, forKey: .socketId)?.string
    name = try? fields.decodeIfPresent(UntrustedText.self, forKey: .name)?.string
    records = try? fields.decodeIfPresent(Bool.self, forKey: .records)
  }
}

extension WireMessage.Payload {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    /// Reads a text in ASCII, as mids and candidates are; one that is not counts as missing.
    func text(_ key: CodingKeys) -> String? { try? fields.decodeIfPresent(ASCIIText.self, forKey: key)?.string }
    /// Reads an id, a secret or a name, which is checked later.
    func id(_ key: CodingKeys) -> String? { try? fields.decodeIfPresent(UntrustedText.self, forKey: key)?.string }
    /// Reads an m-line index, as a number or as a string; values outside 0 to 65535 count as missing.
    func index(_ key: CodingKeys) -> Int? {
      let number = (try? fields.decodeIfPresent(Int.self, forKey: key)) ?? text(key).flatMap { Int($0) }
      return number.flatMap { (0...65535).contains($0) ? $0 : nil }
    }
    room = try? fields.decodeIfPresent(WireMessage.Room.self, forKey: .room)
    connections = try? fields.decodeIfPresent([UntrustedText].self, forKey: .connections)?.map(\.string)
    you = id(.you)
    secret = id(.secret)
    name = id(.name)
    records = try? fields.decodeIfPresent(Bool.self, forKey: .records)
    participants = try? fields.decodeIfPresent([WireMessage.Participant].self, forKey: .participants)
    iceServers = try? fields.decodeIfPresent(SignalledICEServers.self, forKey: .iceServers)
    socketId = id(.socketId)
    sdp = try? fields.decodeIfPresent(WireMessage.Description.self, forKey: .sdp)
    candidate = text(.candidate)
    self.id = text(.id) ?? (try? fields.decodeIfPresent(Int64.self, forKey: .id)).map { "\($0)" }
    label = index(.label)
    sdpMid = text(.sdpMid)
    sdpMLineIndex = index(.sdpMLineIndex)
  }
}

/// What participants say of themselves.
extension WireMessage.Payload {
  var profile: ParticipantProfile {
    get { ParticipantProfile(name: name, records: records ?? false) }
    set {
      name = newValue.name
      records = newValue.records ? true : nil
    }
  }

  /// The profiles of those of these participants who have one that is not empty.
  func profiles(of ids: [String]) -> [String: ParticipantProfile] {
    guard let participants, !participants.isEmpty else { return [:] }
    let known = Set(ids)
    var profiles: [String: ParticipantProfile] = [:]
    for participant in participants {
      guard let id = participant.socketId, known.contains(id), profiles[id] == nil else { continue }
      let profile = ParticipantProfile(name: participant.name, records: participant.records ?? false)
      if !profile.isEmpty { profiles[id] = profile }
    }
    return profiles
  }

  /// Sets the profiles of these participants. Empty ones are not written.
  mutating func set(_ profiles: [String: ParticipantProfile], of ids: [String]) {
    var rest = profiles
    let list = ids.compactMap { id in
      rest.removeValue(forKey: id).flatMap { profile in
        profile.isEmpty
          ? nil
          : WireMessage.Participant(socketId: id, name: profile.name, records: profile.records ? true : nil)
      }
    }
    participants = list.isEmpty ? nil : list
  }
}
