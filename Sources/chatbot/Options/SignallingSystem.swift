/// The signalling systems that the program can join. The scheme of the server's address decides.
enum SignallingSystem: String, CaseIterable, Sendable {
  case skyRTC
  case socketIO
  case firestore
  case whip
  case whep
  case janus

  /// What a program can do in a call of a system.
  enum Use: String, CaseIterable, Sendable {
    case record, play, loopback, check, load
  }

  /// The system of an address, or nil if no system has its scheme.
  init?(address: String) {
    guard let scheme = address.firstRange(of: "://").map({ address[..<$0.lowerBound].lowercased() }),
      let system = Self.allCases.first(where: { $0.schemes.contains(scheme) })
    else { return nil }
    self = system
  }

  /// The URL schemes, in lower case; the secure one is last.
  var schemes: [String] {
    switch self {
    case .skyRTC: ["ws", "wss"]
    case .socketIO: ["socketio+http", "socketio+https"]
    case .firestore: ["firestore"]
    case .whip: ["whip+http", "whip+https"]
    case .whep: ["whep+http", "whep+https"]
    case .janus: ["janus+ws", "janus+wss"]
    }
  }

  var name: String {
    switch self {
    case .skyRTC: "SkyRTC"
    case .socketIO: "socket.io calls"
    case .firestore: "Firestore"
    case .whip: "WHIP"
    case .whep: "WHEP"
    case .janus: "Janus VideoRoom"
    }
  }

  /// One sentence about the system.
  var summary: String {
    switch self {
    case .skyRTC: "A WebSocket server that puts users into rooms; everyone is connected to everyone."
    case .socketIO: "A socket.io server on which users call each other by name."
    case .firestore: "Documents of a Firestore database, by rooms with a host and a guest, or between two people."
    case .whip: "Publishes to a media server over HTTP (RFC 9725)."
    case .whep: "Plays from a media server over HTTP (draft-ietf-wish-whep)."
    case .janus: "The VideoRoom plugin of a Janus server: each publisher is a user."
    }
  }

  /// A command line.
  var example: String {
    switch self {
    case .skyRTC: "chatbot --server wss://calls.example:8443 --room 100 --record out/"
    case .socketIO: "chatbot --server socketio+https://calls.example:9012 --user bot --call 111111 --record out/"
    case .firestore: "chatbot --server 'firestore://my-project/rooms/ROOM?role=guest' --record out/"
    case .whip: "chatbot --server whip+https://media.example/whip/room --token-file token --play pattern"
    case .whep: "chatbot --server whep+https://media.example/whep/room --token-file token --record out/"
    case .janus: "chatbot --server janus+wss://janus.example:8989 --room 1234 --user bot --record out/"
    }
  }

  /// What is possible; a server that only receives cannot be recorded.
  var uses: Set<Use> {
    switch self {
    case .skyRTC, .socketIO, .firestore: Set(Use.allCases)
    case .whip: [.play, .load]
    case .whep: [.record, .check]
    case .janus: [.record, .play, .check, .load]
    }
  }

  /// Whether its servers may name STUN and TURN servers.
  var assignsICEServers: Bool {
    switch self {
    case .skyRTC, .socketIO, .whip, .whep: true
    case .firestore, .janus: false
    }
  }

  /// The list for `chatbot signallings`.
  static var list: String {
    allCases.map { system in
      let address = system.schemes.map { "\($0)://" }.joined(separator: ", ")
      let uses = Use.allCases.filter(system.uses.contains).map(\.rawValue).joined(separator: ", ")
      return "\(system.name): \(address)\n  \(system.summary)\n  Uses: \(uses).\n  \(system.example)"
    }.joined(separator: "\n\n")
  }
}
