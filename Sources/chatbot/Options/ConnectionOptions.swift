import ArgumentParser
import BotPeer
import Media
import Signalling
import SignallingAdapters

/// The options for the room, the server, the network and the configuration; the same for every command that joins a call.
struct ConnectionOptions: ParsableArguments {
  @OptionGroup(title: "Room and server")
  var joining: RoomOptions

  @OptionGroup(title: "Network")
  var network: NetworkOptions

  @OptionGroup(title: "Codecs and threads")
  var media: MediaOptions

  @OptionGroup(title: "Configuration")
  var configFile: ConfigurationOptions

  var room: String? { joining.room }
  var server: String? { joining.server }
  var tokenFile: String? { joining.tokenFile }
  var pinFile: String? { joining.pinFile }
  var ice: ICEServerOptions { network.ice }
  var udpPort: UInt16 { network.udpPort }
  var tcpPort: UInt16 { network.tcpPort }
  var bindAddress: String? { network.bindAddress }
  var mediaThreads: Int? { media.mediaThreads }

  /// Reads the secrets, and returns the settings that the options describe.
  ///
  /// - Parameters:
  ///   - sends: Whether we send media, and `receives`, whether we receive it: for systems that must know it when we join.
  ///   - codec: The codec of the video that we send, which the signalling system must know unless the codecs were chosen.
  func settings(sends: Bool, receives: Bool, sending codec: Codec? = nil) throws(CallFailure) -> ConnectionSettings {
    var settings = ConnectionSettings(server: try joining.address())
    try joining.describe(&settings.server)
    settings.server.signalling.sends = sends
    settings.server.signalling.receives = receives
    settings.server.signalling.audioCodecs = media.audioCodecs
    settings.server.signalling.videoCodecs = media.videoCodecs
    try network.describe(&settings.peer, server: settings.server)
    settings.peer.use(try ice.servers(), for: joining.user ?? "chatbot")
    settings.peer.videoCodecs = media.videoCodecs
    settings.peer.audioCodecs = media.audioCodecs
    settings.peer.acceptsRedundantAudio = media.audioRedundancy == .on
    settings.peer.caCertificate = joining.caCertificate
    settings.peer.maximumDeparted = max(settings.peer.maximumDeparted, joining.maxUsers)
    if let codec, media.videoCodecs == nil {
      settings.server.signalling.videoCodecs = [codec] + Codec.all(of: codec.kind).filter { $0 != codec }
    }
    return settings
  }

  /// Checks that the signalling system allows what the command does.
  ///
  /// - Parameter names: The command's own words for uses, if it has any.
  func validate(uses: [SignallingUse]..., called names: [SignallingUse: String] = [:]) throws {
    guard let server, let system = SignallingSystems.supported.adapter(of: server) else { return }
    for use in uses.joined() where !system.uses.contains(use) {
      let possible = SignallingUse.allCases.filter { system.uses.contains($0) && (names.isEmpty || names[$0] != nil) }
      let hint =
        system.alternative(to: SignallingSystems.supported.address(of: server).address, for: use).map { " \($0)" } ?? ""
      throw ValidationError(
        "\(system.name) does not allow \(names[use] ?? use.rawValue); it allows "
          + possible.map { names[$0] ?? $0.rawValue }.joined(separator: ", ") + ".\(hint)")
    }
  }

  /// Checks that there is a port for each thread.
  func validatePorts() throws {
    let mediaThreads = mediaThreads ?? 1
    for (port, name) in [(udpPort, "UDP"), (tcpPort, "TCP")]
    where port > 0 && Int(port) + mediaThreads - 1 > 65_535 {
      throw ValidationError(
        "--media-threads \(mediaThreads) needs \(mediaThreads) consecutive \(name) ports from \(port), but the highest port is "
          + "65535.")
    }
  }

  func validate() throws {
    let server = try joining.address()
    try joining.validateOptions(of: server.adapter, namesUs: !ice.iceServer.isEmpty)
    try network.validate(for: server, threads: mediaThreads ?? 1)
  }
}

/// What joins a room: the server for its adapter, and the network for its peer. Each part travels whole to what it is for.
struct ConnectionSettings: Sendable {
  var server: ServerSettings
  var peer = Peer.Configuration()
}
