internal import Media

/// Which calls will work, and what to change. The advice names settings like the options of `chatbot`.
public struct CallVerdict: Sendable, Hashable, Encodable {
  public enum Calls: String, Sendable, Hashable, Encodable {
    /// Directly at least with some users in other networks.
    case direct
    /// Only through a TURN server, as far as is known.
    case relayed
    /// Within this network; more is not known, because no STUN or TURN server was given.
    case local
    case none
  }

  public var calls: Calls
  /// One sentence.
  public var summary: String
  /// What to change, a sentence each.
  public var advice: [String] = []
  /// Whether no call is possible because the room cannot be entered.
  public private(set) var isServerMissing = false

  private enum CodingKeys: String, CodingKey {
    case calls, summary, advice
  }

  /// Judges what was measured.
  public init(_ diagnosis: NetworkDiagnosis) {
    let reached = diagnosis.stun.filter(\.isReachable)
    let granted = diagnosis.turn.filter(\.isAllocated)
    let relay = granted.first { $0.isUsedByCalls && $0.returnsData != false }
    let doubtful = granted.first { $0.isUsedByCalls && $0.returnsData == false }
    if !reached.isEmpty {
      (calls, summary) = (.direct, Self.direct(reached, hasRelay: relay != nil))
      if relay == nil, diagnosis.turn.isEmpty {
        advice.append("Add a TURN server for the others: --ice-server turn:HOST.")
      }
    } else if let relay {
      calls = .relayed
      summary =
        diagnosis.stun.isEmpty
        ? "Calls work through the relay \(relay.url); whether direct calls work is not known without a STUN server."
        : "Calls work only through the relay \(relay.url), because no STUN server answers over UDP."
      if diagnosis.stun.isEmpty { advice.append("Find out with --ice-server stun:HOST.") }
    } else if let doubtful {
      calls = .relayed
      summary = "Calls may work through the relay \(doubtful.url), but no data came back through it."
    } else if diagnosis.stun.isEmpty && diagnosis.turn.isEmpty {
      calls = .local
      summary =
        diagnosis.interfaces.contains { $0.isUsed && !$0.isLoopback }
        ? "Calls work within this network; what lies beyond it is not known without a STUN or TURN server."
        : "Only calls within this machine work, because it has no other address."
      advice.append("Find out with --ice-server stun:HOST and --ice-server turn:HOST.")
    } else {
      calls = .none
      summary = "No call beyond this network will work: \(Self.missing(diagnosis))."
    }
    if relay == nil { addAdvice(for: diagnosis) }
    if let network = diagnosis.ipv6Only, network.nat64Prefix == nil {
      advice.append("This network has no IPv4: users with only IPv4 need a TURN server that has both IPv4 and IPv6.")
    }
    if let failure = diagnosis.roomServer?.failure {
      (calls, summary, isServerMissing) = (
        .none, "No call will work, because the room cannot be entered. \(failure)", true
      )
    }
    if let offset = diagnosis.roomServer?.clockOffset, offset.isTooLarge {
      advice.append(
        "Set the clock of this machine, which is \(DisplayText.tenths(abs(offset.seconds))) s "
          + "\(offset.seconds < 0 ? "ahead of" : "behind") the server's: TURN credentials that are "
          + "valid for a limited time and signatures of tokens fail above \(Int(RoomServerDiagnosis.ClockOffset.limit)) s."
      )
    }
  }

  private static func direct(_ reached: [STUNServerDiagnosis], hasRelay: Bool) -> String {
    // A NAT is mostly before IPv4 only, and most users have only IPv4.
    let old = reached.filter { $0.mapped?.hasPrefix("[") == false }
    let judged = old.isEmpty ? reached : old
    let rest = hasRelay ? "all other calls go through the relay" : "other calls will not work without a TURN server"
    if judged.contains(where: { $0.isMappingIndependent == false }) {
      return "Direct calls work only with users who let in datagrams from any port of an address; \(rest)."
    }
    if judged.contains(where: { $0.isMappingIndependent == true }) {
      let isOpen = judged.contains { $0.filtering == "endpoint-independent" || $0.filtering == "address-dependent" }
      return isOpen
        ? "Direct calls work with everybody who has UDP; \(rest)."
        : "Direct calls work, except with users whose NAT has a port for each destination; \(rest)."
    }
    return "Direct calls may work, but the mapping behaviour of the NAT is not known; \(rest)."
  }

  private static func missing(_ diagnosis: NetworkDiagnosis) -> String {
    var clauses: [String] = []
    if !diagnosis.stun.isEmpty { clauses.append("no STUN server answers over UDP") }
    if !diagnosis.turn.isEmpty { clauses.append("no TURN server relays") }
    return clauses.joined(separator: ", and ")
  }

  private mutating func addAdvice(for diagnosis: NetworkDiagnosis) {
    if let other = diagnosis.turn.first(where: { !$0.isUsedByCalls && $0.isAllocated }) {
      advice.append("The TURN server relays over TCP, which calls use with --ice-server '\(other.url)'.")
    } else if calls == .none {
      // What a server has answered passes the firewall already.
      advice.append(
        diagnosis.turn.contains { $0.hasAnswered || $0.transport == "tls" && $0.url.hasSuffix(":443") }
          ? "Remove what the TURN server's failure names."
          : "Use a TURN server that is reached over TLS at port 443, which most firewalls let pass: "
            + "--ice-server turns:HOST:443.")
    }
  }
}

extension InterfaceDiagnosis {
  fileprivate var isLoopback: Bool { address == "::1" || address.hasPrefix("127.") }
}
