import Foundation

/// A call of two bots in the laboratory: one plays, the other one joins later and records.
struct NATCall: Sendable {
  /// The ICE servers that both bots use.
  enum Servers: Sendable, Hashable, CustomStringConvertible {
    case stun
    /// Only relayed candidates, over this transport to the TURN server.
    case relay(TURNServer.Transport)
    /// A STUN server, and TCP connections between the bots at port 443.
    case iceTCP
    /// Only relayed candidates, of servers that other options or the signalling name.
    case named

    var description: String {
      switch self {
      case .stun: "STUN"
      case .relay(let transport): "TURN over \(transport.rawValue.uppercased())"
      case .iceTCP: "ICE over TCP"
      case .named: "TURN"
      }
    }

    /// The options of a bot.
    func options(with server: TURNServer) -> [String] {
      switch self {
      case .stun: ["--ice-server", server.stunURL]
      case .relay(let transport): ["--ice-server", server.turnURL(transport), "--ice-transport-policy", "relay"]
      case .iceTCP: ["--ice-server", server.stunURL, "--tcp", "--tcp-port", "443"]
      case .named: ["--ice-transport-policy", "relay"]
      }
    }
  }

  /// Where a bot is.
  struct Place: Sendable, Hashable, CustomStringConvertible {
    var kind: NATKind
    var firewall = Firewall.open
    /// Whether the local network has only IPv6, and the NAT is one from IPv6 to IPv4.
    var isNAT64 = false

    var description: String {
      if isNAT64 { return "NAT64" }
      return firewall == .open ? "\(kind)" : "\(kind) \(firewall)"
    }

    /// Whether two bots reach each other with these servers.
    func connects(to other: Place, with servers: Servers) -> Bool {
      let firewalls = [firewall, other.firewall]
      return switch servers {
      case .stun: firewalls.allSatisfy { $0.passes(.udp, port: 3478) } && kind.connectsDirectly(to: other.kind)
      case .named: true
      case .relay(let transport):
        firewalls.allSatisfy { $0.passes(transport, port: TURNServer.port(of: transport)) }
      case .iceTCP: connects(to: other, with: .stun) || isPublic || other.isPublic
      }
    }

    /// Whether everybody can connect to the bot.
    private var isPublic: Bool { kind == .none && firewall == .open }
  }

  struct Outcome: Sendable {
    /// From the first to the second line of the recording bot's log: "user connecting" and "user connected", in seconds.
    /// Nil if they did not connect.
    let connectedAfter: Double?
    /// The video of the manifest: recorded frames, packets that never arrived, and gaps before its end. At the end a
    /// frame may be on its way.
    let frames: Int
    let lost: Int
    let gaps: Int
    /// The length of the recorded video in seconds.
    let length: Double
    /// The manifest's entry of the video; `.null` if nothing was recorded.
    let video: JSON
    let player: Bot
    let recorder: Bot

    /// The types of the candidates between which media flowed at last, such as `srflx, host`: the player's and the
    /// recorder's, as the recorder knows them, and the transport protocol if it is not UDP. Nil if they did not connect.
    var candidateTypes: String? {
      guard let line = recorder.output.split(separator: "\n").last(where: { $0.contains(" localCandidate=") }) else {
        return nil
      }
      func value(of field: String) -> Substring? {
        line.split(separator: " ").first { $0.hasPrefix("\(field)=") }?.dropFirst(field.count + 1)
      }
      guard let own = value(of: "localCandidate"), let other = value(of: "remoteCandidate") else { return nil }
      return "\(other), \(own)" + (value(of: "transport") == "tcp" ? " over TCP" : "")
    }

    /// The frames that the sample has in that time.
    var expectedFrames: Int { Int((length * NATCall.framesPerSecond).rounded()) }
  }

  /// The frame rate of `samples/test.webm`.
  static let framesPerSecond = 30.0
  /// How long a call that must not come about is watched.
  static let watch = Duration.seconds(6)
  let name: String
  let server: TURNServer
  let rooms: LabRooms
  let servers: Servers

  /// How long the bots may try. That a call is impossible shows only by waiting.
  var patience = Duration.seconds(15)
  /// Options of both bots besides those of the room and the ICE servers.
  var options: [String] = []
  /// Options of the playing bot.
  var senderOptions: [String] = []

  /// Runs the call.
  ///
  /// - Parameter connected: What happens between the connection and the end; by default the bots record for 2 s.
  func run(
    from sender: LabHost, to receiver: LabHost, in lab: NetworkLab,
    connected: @Sendable () async throws -> Void = { try await sleepOnEventLoop(for: .seconds(2)) }
  ) async throws -> Outcome {
    let options = ["--room", name] + servers.options(with: server) + options
    let player = try await lab.bot(
      "\(name)-player", on: sender,
      rooms.options(on: sender) + options + senderOptions + ["--play", BuiltProgram.sample.path])
    try await eventually("joined player of \(name)", within: .seconds(15)) { () -> Bool? in
      guard player.isRunning else { throw NotStarted(name: "The player of \(name)", output: player.output) }
      return player.output.contains(" joined ") ? true : nil
    }
    let folder = RecordingFolder(url: lab.folder.appendingPathComponent(name))
    let recorder = try await lab.bot(
      "\(name)-recorder", on: receiver,
      rooms.options(on: receiver) + options + ["--record", folder.path, "--log-level", "debug"])
    try await eventually("joined recorder of \(name)", within: .seconds(15)) { () -> Bool? in
      guard recorder.isRunning else { throw NotStarted(name: "The recorder of \(name)", output: recorder.output) }
      return recorder.output.contains(" user connecting ") ? true : nil
    }
    let deadline = ContinuousClock.now + patience
    while !recorder.output.contains(" user connected "), ContinuousClock.now < deadline {
      try await sleepOnEventLoop(for: .milliseconds(50))
    }
    if recorder.output.contains(" user connected ") { try await connected() }
    _ = try await recorder.terminate()
    _ = try await player.terminate()
    let manifest = try folder.files("json").first.map { try JSON(parsing: String(contentsOf: $0, encoding: .utf8)) }
    let video = (manifest ?? .null)["tracks"].list.first { $0["kind"] == "video" } ?? .null
    let length = video["duration"].double ?? 0
    return Outcome(
      connectedAfter: Self.connectionTime(in: recorder.output), frames: video["frames"].int ?? 0,
      lost: video["lost"].int ?? 0, gaps: video["gaps"].list.count { ($0["start"].double ?? 0) < length },
      length: length,
      video: video, player: player, recorder: recorder)
  }

  private static func connectionTime(in log: String) -> Double? {
    func time(of event: String) -> Double? {
      guard let line = log.split(separator: "\n").first(where: { $0.contains(" \(event) ") }) else { return nil }
      // Such as 2026-11-28T09:30:00.250Z.
      let clock = line.prefix { $0 != " " && $0 != "Z" }.split(separator: "T").last ?? ""
      let parts = clock.split(separator: ":").compactMap { Double($0) }
      return parts.count == 3 ? parts.reduce(0) { 60 * $0 + $1 } : nil
    }
    guard let start = time(of: "user connecting"), let end = time(of: "user connected") else { return nil }
    // Midnight may lie between them.
    return end >= start ? end - start : end - start + 86_400
  }
}
